// Checkers of webhooks by stories: what people allowed, and what PostgreSQL forgot, is no fault; everything else stays one.
import { expect, it } from 'vitest';
import type { Observation } from '../world/observation.ts';
import type { WebhookSeen } from '../world/webhook-observation.ts';
import { createWorld } from '../world/world.ts';
import { alertsArrive } from './alerts-arrive.ts';
import type { CheckerKind, FleetView } from './checker.ts';
import { outboundGuard } from './outbound-guard.ts';
import { ownSecret } from './own-secret.ts';

type Told = readonly [atMs: number, seen: Observation];
const route = { kinds: [], minSeverity: 'info', groupIds: [] } as const;
const toldOf = (name: string): Observation => ({
  ...{ kind: 'webhook.told', webhook: name, receiver: name, host: `${name}.world` },
  ...{ type: 'opsgenie', secret: `the secret of ${name}`, route },
});
const received = (more: Partial<WebhookSeen>): Observation => ({
  kind: 'webhook.received',
  seen: {
    ...{ console: 'c', host: 'a.world', address: '10.0.0.5', receiver: null, delivery: 'd' },
    ...{ signature: null, headers: '', body: 'the secret of a', status: 204, ...more },
  },
});
const allowed = (value: string): Told => [
  1,
  { kind: 'setting.tried', name: 'webhook_allow_list', value },
];
const raised: Observation = {
  ...{ kind: 'alert.raised', alert: 'alert', key: 'k', what: 'anomaly', severity: 'high' },
  groupIds: [],
};
const forgot = (sinceMs: number): Observation => ({ kind: 'relational.forgot', sinceMs });

/** A delivery that died, and people who were told of such a thing so much later by the Console's clock. */
type Dead = { readonly toldLaterMs: number };

async function judge(
  kind: CheckerKind,
  story: readonly Told[],
  dead?: Dead,
): Promise<readonly string[]> {
  const world = createWorld('webhooks');
  const row = { deliveryId: 'd', alert: { alertId: 'alert' }, state: 'dead', endedAtMs: 0 };
  const told = { alert: { occurredAtMs: dead?.toldLaterMs ?? 0 } };
  const relational = {
    deliveries: { list: () => (dead === undefined ? [] : [row]) },
    inbox: { untold: () => [], list: () => [told] },
  };
  const fleet = { world, receivers: 2, stores: { relational } } as unknown as FleetView;
  const found: string[] = [];
  const checker = kind.make(fleet, (detail) => found.push(detail));
  world.subscribe((seen, atMs) => checker.observe?.(seen, atMs));
  for (const [atMs, seen] of story) {
    await world.scheduler.runUntil(atMs);
    world.observe(seen);
  }
  checker.finish?.(world.scheduler.now());
  return found;
}

it.each<[string, CheckerKind, readonly Told[], readonly Told[]]>([
  [
    'a place inside that somebody allowed',
    outboundGuard,
    [allowed('["10.0.0.0/8"]'), [2, received({})]],
    [allowed('["hooks.world"]'), [2, received({})]],
  ],
  [
    'a place inside of another range',
    outboundGuard,
    [allowed('["10.0.0.0/8"]'), [2, received({ address: '203.0.113.1' })]],
    [allowed('["10.0.0.0/8"]'), [2, received({ address: '169.254.169.254' })]],
  ],
  [
    'a secret where its own name leads',
    ownSecret,
    [
      [1, toldOf('a')],
      [2, received({})],
    ],
    [
      [1, toldOf('a')],
      [2, received({ host: 'b.world' })],
    ],
  ],
  [
    'an alert that PostgreSQL forgot',
    alertsArrive,
    [
      [1, toldOf('a')],
      [5, raised],
      [9, forgot(3)],
    ],
    [
      [1, toldOf('a')],
      [5, raised],
      [9, forgot(7)],
    ],
  ],
  [
    'an alert while a forgotten webhook is not back',
    alertsArrive,
    [
      [5, toldOf('a')],
      [9, forgot(3)],
      [20_000, raised],
      [20_001, toldOf('a')],
    ],
    [
      [5, toldOf('a')],
      [9, forgot(3)],
      [10, toldOf('a')],
      [20_000, raised],
    ],
  ],
  [
    'an alert whose word was under way when PostgreSQL went back',
    alertsArrive,
    [
      [1, toldOf('a')],
      [9_000, forgot(3_000)],
      [9_500, raised],
    ],
    [
      [1, toldOf('a')],
      [9_000, forgot(3_000)],
      [9_500, toldOf('a')],
      [30_000, raised],
    ],
  ],
])('should excuse %s, and nothing beside it', async (_what, kind, good, bad) => {
  expect(await judge(kind, good)).toEqual([]);
  expect(await judge(kind, bad)).toHaveLength(1);
});

it('should excuse that people were told of a dead delivery later, where the clock was set back since', async () => {
  const story: readonly Told[] = [
    [1, toldOf('a')],
    [5, raised],
  ];
  const set: Observation = { kind: 'fault', fault: 'console.clock_jump', target: '1', detail: '' };
  const late = { toldLaterMs: 200_000 };
  expect(await judge(alertsArrive, story, { toldLaterMs: 0 })).toEqual([]);
  expect(await judge(alertsArrive, story, late)).toHaveLength(1);
  expect(await judge(alertsArrive, [[0, set], ...story], late)).toEqual([]);
});
