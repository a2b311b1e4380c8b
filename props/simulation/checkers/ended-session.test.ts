// The checker of what lets people in hears good stories and broken ones, told by hand.
import { expect, it } from 'vitest';
import { DEFAULT_INTERVALS } from '../../../machines/intervals.ts';
import type { Observation } from '../world/observation.ts';
import type { FleetView } from './checker.ts';
import { endedSession } from './ended-session.ts';

type Told = readonly [atMs: number, observation: Observation];

function tell(story: readonly Told[]): readonly string[] {
  const found: string[] = [];
  const fleet = { intervals: DEFAULT_INTERVALS } as unknown as FleetView;
  const checker = endedSession.make(fleet, (detail) => found.push(detail));
  for (const [atMs, observation] of story) checker.observe?.(observation, atMs);
  return found;
}

const account = (role: 'admin' | 'viewer', isActive = true): Told => [
  0,
  { kind: 'account.changed', user: 'u', role, isActive },
];
const session = (name: string, expiresAtMs = 1e12): Told => [
  0,
  {
    kind: 'session.begun',
    session: name,
    user: 'u',
    stage: 'full',
    createdAtMs: 0,
    expiresAtMs,
  },
];
const asked = (consoleNowMs = 1): Told => [
  consoleNowMs,
  { kind: 'operator.asked', ask: 1, console: 'c', consoleNowMs },
];
const admitted = (
  credential: string,
  consoleNowMs = 1,
  role: 'admin' | 'viewer' = 'viewer',
): Told => [
  consoleNowMs,
  {
    ...({ kind: 'operator.admitted', ask: 1, console: 'c', credential, user: 'u' } as const),
    ...{ role, scopes: ['sensors:read'], stage: 'full', consoleNowMs },
  },
];
const key: Told = [
  0,
  { kind: 'key.made', key: 'k', user: 'u', scopes: ['sensors:read'], expiresAtMs: null },
];
const shut: Told = [0, { kind: 'session.ended', session: 'x' }];
const forgot: Told = [0, { kind: 'relational.forgot', sinceMs: 0 }];
const IDLE_MS = DEFAULT_INTERVALS.SESSION_IDLE_MS;

const STORIES: readonly (readonly [
  name: string,
  good: readonly Told[],
  broken: readonly Told[],
])[] = [
  [
    'a session that ended before it was shown',
    [account('viewer'), session('x'), asked(), shut, admitted('x')],
    [account('viewer'), session('x'), shut, asked(), admitted('x')],
  ],
  [
    'a session that is over',
    [account('viewer'), session('x', 10), asked(9), admitted('x', 10)],
    [account('viewer'), session('x', 10), asked(10), admitted('x', 11)],
  ],
  [
    'a session that nobody used',
    [account('viewer'), session('x'), asked(IDLE_MS - 1), admitted('x', IDLE_MS)],
    [account('viewer'), session('x'), asked(IDLE_MS), admitted('x', IDLE_MS)],
  ],
  [
    'a session that goes on as another',
    [account('viewer'), session('x'), session('y'), asked(), admitted('y')],
    [
      ...[account('viewer'), session('x'), session('y')],
      [0, { kind: 'session.turned', from: 'x', to: 'y' }],
      ...[asked(), admitted('x')],
    ],
  ],
  [
    'a session left behind',
    [
      ...[account('viewer'), session('x'), session('y')],
      [0, { kind: 'sessions.left', user: 'u', kept: 'y', before: 3 }],
      ...[asked(), admitted('y')],
    ],
    [
      ...[account('viewer'), session('x'), session('y')],
      [0, { kind: 'sessions.left', user: 'u', kept: 'y', before: 3 }],
      ...[asked(), admitted('x')],
    ],
  ],
  [
    'a role that was taken away',
    [account('admin'), session('x'), asked(), account('viewer'), admitted('x', 1, 'admin')],
    [account('admin'), account('viewer'), session('x'), asked(), admitted('x', 1, 'admin')],
  ],
  [
    'somebody closed out',
    [account('viewer', false), account('viewer'), session('x'), asked(), admitted('x')],
    [account('viewer'), account('viewer', false), session('x'), asked(), admitted('x')],
  ],
  [
    'a session that PostgreSQL forgot while it was shown',
    [account('viewer'), asked(), forgot, admitted('x')],
    [account('viewer'), forgot, asked(), admitted('x')],
  ],
  [
    'a key that was revoked',
    [account('viewer'), key, asked(), admitted('k')],
    [account('viewer'), key, [0, { kind: 'key.ended', key: 'k' }], asked(), admitted('k')],
  ],
];

it.each(STORIES)('should find %s and nothing else', (_name, good, broken) => {
  expect(tell(good)).toEqual([]);
  expect(tell(broken)).not.toEqual([]);
});
