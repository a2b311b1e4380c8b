// Each checker hears a good story and a broken one, told by hand. It must be silent at the first and speak at the second.
import { expect, it } from 'vitest';
import { hashOfRow } from '../../../actors/audit/audit-hash.ts';
import { DEFAULT_INTERVALS } from '../../../machines/intervals.ts';
import { auditCalls } from '../../../storage/memory/audit/audit-log.ts';
import { emptyRegistry } from '../../../storage/memory/fleet/registry-state.ts';
import type { Observation } from '../world/observation.ts';
import { accounting } from './accounting.ts';
import { acknowledgedIsDurable } from './acknowledged-is-durable.ts';
import { CHECKERS } from './all.ts';
import { auditChain } from './audit-chain.ts';
import { certificateWindow } from './certificate-window.ts';
import { channelOrder } from './channel-order.ts';
import type { CheckerKind, FleetView } from './checker.ts';
import { forgetful } from './forgetful.ts';
import { healthByTheBook, type RawFacts } from './health-rule.ts';
import { identityFromCertificate } from './identity-from-certificate.ts';
import { monotone } from './monotone.ts';
import { noRawEvents } from './no-raw-events.ts';
import { nodeKeys } from './node-keys.ts';
import { removableDuplicates } from './removable-duplicates.ts';
import { revoked } from './revoked.ts';
import { spoolBound } from './spool-bound.ts';
import { tokenOnce } from './token-once.ts';
import { trustDomains } from './trust-domains.ts';

const OVERLAP_MS = DEFAULT_INTERVALS.PREVIOUS_CERTIFICATE_OVERLAP_MS;
type Told = readonly [atMs: number, observation: Observation];
type Batch = { readonly sensorId: string; readonly nodeName: string; readonly events: object[] };

/** As much of a fleet as the stories need: one Console whose clock shows true time, one sensor, no rows. */
function emptyFleet() {
  const batches: Batch[] = [];
  const clock = { ms: 0 };
  const state = emptyRegistry(
    () => undefined,
    () => undefined,
  );
  state.sensors.set('s', { sensorId: 's', nodeName: 'n', revokedAtMs: null } as never);
  const row = { fingerprint: 'f', notAfterMs: 1e12 };
  state.certificates.set('f', { sensorId: 's', row, status: 'current' } as never);
  const nodes: object[] = [];
  const fleet = {
    consoles: [{ name: 'c', clock: { wallNow: () => clock.ms }, running: () => null }],
    nodes,
    copies: { all: () => [], ever: () => [] },
    world: { scheduler: { sleptMs: () => 0 } },
    stores: {
      relational: {
        ...{ state, auditEntries: () => [] },
        nodeOf: (sensor: string) => state.sensors.get(sensor)?.nodeName,
        sensorOf: (fingerprint: string) => state.certificates.get(fingerprint)?.sensorId,
      },
      analytics: { rows: { batches: () => batches } },
    },
    intervals: DEFAULT_INTERVALS,
    ...{ spoolEventsMax: 10, forgets: true },
  } as unknown as FleetView;
  return { fleet, batches, clock, state, nodes };
}

function tell(
  kind: CheckerKind,
  story: readonly Told[],
  around: (world: ReturnType<typeof emptyFleet>) => void = () => undefined,
): readonly string[] {
  const world = emptyFleet();
  const found: string[] = [];
  const checker = kind.make(world.fleet, (detail) => found.push(detail));
  checker.probe?.(0);
  for (const [atMs, observation] of story) {
    world.clock.ms = atMs;
    checker.observe?.(observation, atMs);
  }
  around(world);
  checker.probe?.(world.clock.ms);
  checker.finish?.(world.clock.ms);
  return found;
}

const batchOf = (sequence: number, events: readonly string[], stream = 'x') =>
  ({ sensor: 's', stream, channel: 'stream', sequence, events }) as const;
const stored = (sequence: number, ...events: string[]): Told => [
  sequence,
  {
    kind: 'events.stored',
    console: 'c',
    batches: [{ ...batchOf(sequence, events), receivedAtMs: 0 }],
  },
];
const acknowledged = (sequence: number, ...events: string[]): Told => [
  sequence,
  {
    kind: 'batch.acknowledged',
    console: 'c',
    askedAtMs: 0,
    fingerprint: 'f',
    batch: batchOf(sequence, events),
  },
];
const wrote = (...events: string[]): Told => [0, { kind: 'engine.wrote', node: 'n', events }];
const accepted = (askedAtMs: number, fingerprint: string, path = '/sensors/heartbeat'): Told => [
  askedAtMs,
  {
    kind: 'request.accepted',
    console: 'c',
    from: null,
    askedAtMs,
    consoleNowMs: askedAtMs,
    path,
    fingerprint,
  },
];
const enrolled = (nowMs: number, fingerprint: string, repeated = false): Told => [
  nowMs,
  {
    kind: 'sensor.enrolled',
    sensor: 's',
    token: 't',
    fingerprint,
    repeated,
    notAfterMs: 1e12,
    nowMs,
  },
];
const copied: Told = [0, { kind: 'node.copied', node: 'n', copy: 'n~1', sensor: 's' }];
const lost: Told = [5, { kind: 'events.forgotten', batches: 1, events: ['n:1'] }];
const forgot: Told = [10, { kind: 'relational.forgot', sinceMs: 0 }];
const token: Told = [
  0,
  { kind: 'token.created', token: 't', purpose: 'enroll', sensor: null, expiresAtMs: 100 },
];
const activated: Told = [
  10,
  {
    kind: 'certificate.activated',
    sensor: 's',
    fingerprint: 'g',
    previous: 'f',
    supersededAtMs: 10,
  },
];
const issued: Told = [
  5,
  { kind: 'certificate.issued', sensor: 's', fingerprint: 'g', notAfterMs: 1e12 },
];
const revocation: Told = [0, { kind: 'sensor.revoked', sensor: 's', nowMs: 0 }];
const keep = (key: string, eventId: string) => (world: ReturnType<typeof emptyFleet>) => {
  const events = [{ event_id: eventId, process: { exec_id: key } }];
  world.batches.push({ sensorId: 's', nodeName: 'n', events });
};

const tried = (code: string): Told => [
  0,
  { kind: 'sensor_plane.tried', console: 'c', path: '/sensors/renew', code },
];
type Case = readonly [
  name: string,
  kind: CheckerKind,
  good: readonly Told[],
  broken: readonly Told[],
];
const STORIES: readonly Case[] = [
  [
    'an acknowledgment before the write',
    acknowledgedIsDurable,
    [stored(1, 'n:1')],
    [stored(1, 'n:1'), acknowledged(2, 'n:2')],
  ],
  [
    'an acknowledgment of another content',
    acknowledgedIsDurable,
    [copied, stored(1, 'n:1', 'n:2')],
    [copied, stored(1, 'n:1', 'n:2'), acknowledged(1, 'n:1')],
  ],
  [
    'two contents of one number',
    channelOrder,
    [wrote('n:1', 'n:2'), stored(1, 'n:1'), stored(1, 'n:1')],
    [wrote('n:1', 'n:2'), stored(1, 'n:1'), stored(1, 'n:2')],
  ],
  [
    'a number that another node of the identity took, although the store forgot nothing',
    channelOrder,
    [copied, stored(1, 'n:1'), acknowledged(1, 'n:1'), lost, stored(1, 'n~1:1')],
    [copied, stored(1, 'n:1'), acknowledged(1, 'n:1'), stored(1, 'n~1:1')],
  ],
  [
    'a number with two contents, although it is of one node alone',
    channelOrder,
    [copied, stored(1, 'n:1'), stored(1, 'n~1:1')],
    [stored(1, 'n:1'), stored(1, 'n~1:1')],
  ],
  [
    'older events behind newer ones',
    channelOrder,
    [wrote('n:1', 'n:2'), stored(2, 'n:2'), stored(1, 'n:1')],
    [wrote('n:1', 'n:2'), stored(1, 'n:2'), stored(2, 'n:1')],
  ],
  [
    'a token used twice',
    tokenOnce,
    [token, enrolled(1, 'f'), enrolled(2, 'f', true)],
    [token, enrolled(1, 'f'), enrolled(2, 'g')],
  ],
  ['a token used too late', tokenOnce, [token, enrolled(99, 'f')], [token, enrolled(100, 'f')]],
  ['events of another node', identityFromCertificate, [stored(1, 'n:1')], [stored(1, 'other:1')]],
  [
    'a revoked sensor that is let in',
    revoked,
    [revocation, accepted(5_000, 'f')],
    [revocation, accepted(6_000, 'f')],
  ],
  [
    'a replaced certificate after its overlap',
    certificateWindow,
    [enrolled(1, 'f'), issued, activated, accepted(9 + OVERLAP_MS, 'f')],
    [enrolled(1, 'f'), issued, activated, accepted(10 + OVERLAP_MS, 'f')],
  ],
  [
    'a replaced certificate that renews',
    certificateWindow,
    [enrolled(1, 'f'), issued, activated, accepted(20, 'g', '/sensors/renew')],
    [enrolled(1, 'f'), issued, activated, accepted(20, 'f', '/sensors/renew')],
  ],
  [
    'a certificate that PostgreSQL forgot, accepted when every Console must have heard',
    forgetful(certificateWindow),
    [enrolled(1, 'f'), forgot, accepted(5_000, 'f')],
    [enrolled(1, 'f'), forgot, accepted(9_000, 'f')],
  ],
  [
    'a certificate that was never issued, after PostgreSQL forgot',
    forgetful(certificateWindow),
    [enrolled(1, 'f'), forgot, accepted(20, 'f')],
    [enrolled(1, 'f'), forgot, accepted(20, 'never')],
  ],
  [
    'a session that opens the sensor plane',
    trustDomains,
    [token, enrolled(1, 'f'), tried('client_certificate_required')],
    [token, enrolled(1, 'f'), tried('schema_violation')],
  ],
  ['an identity that moves without a cause', trustDomains, [token, enrolled(1, 'f')], [token]],
];

it.each(STORIES)('should find %s and nothing else', (_name, kind, good, broken) => {
  const move = ({ state }: ReturnType<typeof emptyFleet>) => {
    if (kind !== trustDomains) return;
    state.sensors.set('s', { sensorId: 's', nodeName: 'moved', revokedAtMs: null } as never);
  };
  expect(tell(kind, good, move)).toEqual([]);
  expect(tell(kind, broken, move)).not.toEqual([]);
});

it('should find an event that was acknowledged and is gone at the end', () => {
  const story = [stored(1, 'n:1'), acknowledged(1, 'n:1')];
  expect(tell(acknowledgedIsDurable, story, keep('n:1', 'id'))).toEqual([]);
  expect(tell(acknowledgedIsDurable, story)).not.toEqual([]);
});

it('should find one event under two ids, and one id of two events', () => {
  const twice = (ids: readonly (readonly [string, string])[]) =>
    tell(removableDuplicates, [], (world) => {
      for (const [key, id] of ids) keep(key, id)(world);
    });
  expect(
    twice([
      ['n:1', 'a'],
      ['n:1', 'a'],
      ['n:2', 'b'],
    ]),
  ).toEqual([]);
  expect(
    twice([
      ['n:1', 'a'],
      ['n:1', 'b'],
    ]),
  ).not.toEqual([]);
  expect(
    twice([
      ['n:1', 'a'],
      ['n:2', 'a'],
    ]),
  ).not.toEqual([]);
});

it('should find an event that is missing without a reason', () => {
  const running = JSON.stringify({
    state: 'running',
    pipeline: {},
    spool: { depth: 0, discarded: 0 },
  });
  const with_ = ({ nodes }: ReturnType<typeof emptyFleet>) => {
    const disk = {
      read: (path: string) => (path.endsWith('status.json') ? Buffer.from(running) : null),
      calls: { stat: () => null, list: () => [] },
    };
    nodes.push({ name: 'n', isUp: () => true, disk });
  };
  const lost: Told = [1, { kind: 'export.lost', node: 'n', events: ['n:2'] }];
  expect(tell(accounting, [wrote('n:1', 'n:2'), stored(1, 'n:1'), lost], with_)).toEqual([]);
  expect(tell(accounting, [wrote('n:1', 'n:2'), stored(1, 'n:1')], with_)).not.toEqual([]);
});

it('should find an event in the database and a key that others may read', () => {
  const facts = { system: { exec_id: 'n:1' } };
  expect(tell(noRawEvents, [])).toEqual([]);
  expect(
    tell(noRawEvents, [], ({ state }) => void state.sensors.set('s', facts as never)),
  ).not.toEqual([]);
  const withMode = (mode: number) => (world: ReturnType<typeof emptyFleet>) =>
    void world.nodes.push({ name: 'n', disk: { calls: { stat: () => ({ mode }) } } });
  expect(tell(nodeKeys, [], withMode(0o600))).toEqual([]);
  expect(tell(nodeKeys, [], withMode(0o640))).not.toEqual([]);
});

it('should find a spool above its cap, numbers that disagree, and counters that fall', () => {
  const statusOf = (depth: number, told: number, read: number) =>
    Buffer.from(
      JSON.stringify({
        state: 'running',
        pipeline: { read, spool_depth: told, discarded: 0 },
        spool: { depth, discarded: 0 },
      }),
    );
  const looks = (kind: CheckerKind, ...texts: readonly Buffer[]) => {
    let text: Buffer | null = null;
    const world = emptyFleet();
    const read = (path: string) => (path.endsWith('status.json') ? text : null);
    world.nodes.push({ name: 'n', isUp: () => true, disk: { read } });
    const found: string[] = [];
    const checker = kind.make(world.fleet, (detail) => found.push(detail));
    for (text of texts) checker.probe?.(0);
    return found;
  };
  expect(looks(spoolBound, statusOf(10, 10, 1))).toEqual([]);
  expect(looks(spoolBound, statusOf(11, 11, 1))).not.toEqual([]);
  expect(looks(spoolBound, statusOf(10, 9, 1))).not.toEqual([]);
  expect(looks(monotone, statusOf(1, 1, 5), statusOf(0, 0, 6))).toEqual([]);
  expect(looks(monotone, statusOf(1, 1, 5), statusOf(0, 0, 4))).not.toEqual([]);
});

const FACTS: RawFacts = {
  isRevoked: false,
  notAfterMs: 1e12,
  lastSeenMs: 0,
  isStreamOpen: false,
  reported: 'trusted',
  trustErrorAtMs: null,
  connectionErrorAtMs: null,
};
it.each<[string, Partial<RawFacts>, number]>([
  ['healthy', {}, 89_999],
  ['degraded', {}, 90_000],
  ['healthy', { isStreamOpen: true }, 90_000],
  ['degraded', { reported: 'renewal_due' }, 1],
  ['degraded', { connectionErrorAtMs: 0 }, 1],
  ['renewal_due', { trustErrorAtMs: 0 }, 1],
  ['renewal_recommended', { notAfterMs: 259_200_000 }, 0],
  ['renewal_due', { notAfterMs: 86_400_000 }, 0],
  ['revoked', { isRevoked: true, trustErrorAtMs: 0 }, 0],
])('should read the rule as %s of %o at %i', (expected, facts, nowMs) => {
  expect(healthByTheBook({ ...FACTS, ...facts }, DEFAULT_INTERVALS, nowMs)).toBe(expected);
});

it('should find rows sealed twice, two sealers, a chain that does not verify, and a row left open', () => {
  const audit = auditCalls();
  for (const target of ['a', 'b']) {
    audit.record({ atMs: 0, actor: 'x', action: 'loop.run', target, result: 'ok', detail: {} });
  }
  audit.chain.seal({ limit: 1, hashOf: hashOfRow });
  const rows = audit.calls.recent(2);
  const relational = { auditRows: () => rows, auditCheckpoints: () => [] };
  const heard = (of: object, ...seen: readonly Observation[]): readonly string[] => {
    const found: string[] = [];
    const fleet = { stores: { relational: { ...relational, ...of } } } as unknown as FleetView;
    const checker = auditChain.make(fleet, (detail) => found.push(detail));
    for (const one of seen) checker.observe?.(one, 0);
    checker.finish?.(0);
    return found;
  };
  const sealed = { kind: 'audit.sealed', epoch: null, console: 'c', from: 1, to: 1 } as const;
  expect(heard({}, sealed)).toEqual([]);
  expect(heard({}, sealed, sealed)).not.toEqual([]);
  expect(heard({}, { kind: 'audit.sealers', consoles: ['c', 'd'] })).not.toEqual([]);
  expect(heard({}, { kind: 'healed' })).not.toEqual([]);
  const forged = rows.map((row) => ({ ...row, actor: 'z' }));
  expect(heard({ auditRows: () => forged })).not.toEqual([]);
});

it('should list every checker once, each with its promise', () => {
  expect(new Set(CHECKERS.map(({ name }) => name)).size).toBe(CHECKERS.length);
  expect(CHECKERS.every(({ promise }) => promise.endsWith('.'))).toBe(true);
});
