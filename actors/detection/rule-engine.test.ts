// What the engine does when a rule is too much, when too many events wait, and over the fleet. decision: D131
import { describe, expect, it } from 'vitest';
import type { RuleSpec } from '../../machines/detection/rule-spec.ts';
import {
  RETRY_AFTER_STORE_MS,
  RULE_MATCHES_PER_MINUTE_MAX,
  RULES_QUEUE_EVENTS_MAX,
} from '../../machines/limits.ts';
import type { RuntimeEvent } from '../../machines/wire/event.ts';
import { createMemoryRelational } from '../../storage/memory/memory-relational.ts';
import { createMemoryEvents } from '../../storage/memory/telemetry/memory-events.ts';
import { createAlerts } from './alerts.ts';
import { createCoverageWatch } from './coverage-watch.ts';
import { createRuleEngine } from './rule-engine.ts';

const BEGIN_MS = Date.parse('2026-11-25T00:00:00Z');
const LABELS = { tags: [], groupIds: [], role: null };
const MATCH: RuleSpec = {
  ...{ rule_name: 'all', severity: 'low' },
  detect: { kind: 'match', condition: 'event_kind:process_exec' },
};

function eventOf(id: number, nowMs: number): RuntimeEvent {
  return {
    ...{ event_id: id.toString(16).padStart(32, '0'), schema_version: 1, severity: 'info' },
    ...{ observed_at: new Date(nowMs).toISOString(), event_kind: 'process_exec', message: 'm' },
    process: { exec_id: String(id), pid: id, binary: '/bin/a' },
  };
}

async function createWorld(specs: Readonly<Record<string, RuleSpec>>) {
  const { alerts: first, alertRules, designation, sinkFloors } = createMemoryRelational();
  let current = first;
  const alerts = new Proxy(first, { get: (_, name) => Reflect.get(current, name) as unknown });
  const events = createMemoryEvents(RETRY_AFTER_STORE_MS, 1_000_000);
  const paused: (readonly [string, string])[] = [];
  let [nowMs, monotonicMs, ids, sequence] = [BEGIN_MS, 0, 0, 0];
  let made = 0;
  const newId = () => {
    made += 1;
    return `0199-${made.toString().padStart(8, '0')}`;
  };
  const nextEvent = () => {
    ids += 1;
    return eventOf(ids, nowMs);
  };
  for (const [ruleId, spec] of Object.entries(specs)) {
    await alertRules.put({ actor: 'a', from: '', nowMs, ruleId, version: null, spec });
  }
  const start = () =>
    createRuleEngine(
      {
        ...{ rules: alertRules, events: events.events, inbox: alerts, chance: { newId } },
        alerts: createAlerts({ store: alerts, now: () => nowMs }),
        ...{ labelsOf: () => LABELS, now: () => nowMs, horizon: sinkFloors.horizon },
        monotonicNow() {
          monotonicMs += 1;
          return monotonicMs;
        },
        async pause(row, why) {
          paused.push([row.ruleId, why.reason]);
          const { ruleId, version } = row;
          await alertRules.pause({ ruleId, version, pause: { ...why, atMs: nowMs } });
        },
      },
      () => undefined,
    );
  const engine = start();
  await engine.look();
  return {
    start,
    ...{ alerts, alertRules, designation, sinkFloors, engine, paused, newId },
    now: () => nowMs,
    pass(ms: number) {
      nowMs += ms;
    },
    /** The database forgets every alert. */
    forgetAlerts() {
      current = createMemoryRelational().alerts;
    },
    async take(count: number, sensorId = 'sensor', taker = engine, receivedAtMs = nowMs + 1) {
      nowMs += 1;
      sequence += 1;
      const batch = {
        ...{ sensorId, nodeName: 'node', streamId: 's', channel: 'batch' as const, sequence },
        ...{ digest: '', receivedAtMs },
        events: Array.from({ length: count }, nextEvent),
      };
      await events.sink.append(batch);
      taker.take(batch);
    },
    async settle() {
      while (await engine.work());
    },
    total: async () =>
      (await alerts.list({ limit: 1_000, before: null })).reduce((sum, one) => sum + one.count, 0),
  };
}

describe('rule engine', () => {
  it('should pause what matches too much, and say so', async () => {
    const world = await createWorld({ all: MATCH });
    await world.take(RULE_MATCHES_PER_MINUTE_MAX + 1);
    await world.settle();
    await world.engine.look();
    expect(world.paused).toEqual([['all', 'too_many_matches']]);
    await world.take(5);
    await world.settle();
    expect(await world.total()).toBe(RULE_MATCHES_PER_MINUTE_MAX + 1);
    expect((await world.alertRules.get('all'))?.row.pause?.reason).toBe('too_many_matches');
  });

  it('should read from the store what did not fit, without the costliest rule, and lose no match', async () => {
    const never = { ...MATCH, detect: { ...MATCH.detect, condition: 'binary:/none' } } as RuleSpec;
    const some = { ...MATCH, detect: { ...MATCH.detect, condition: 'pid:1..400' } } as RuleSpec;
    const world = await createWorld({ never, some });
    const part = RULES_QUEUE_EVENTS_MAX / 2;
    for (const count of [100, part, part, 100]) await world.take(count);
    await world.settle();
    expect(world.paused).toEqual([['never', 'too_costly']]);
    expect(await world.total()).toBe(400);
    expect(world.engine.queued()).toBe(0);
  });

  it('should judge what a Console stored that died, once', async () => {
    const world = await createWorld({ all: MATCH });
    await world.engine.save();
    const other = world.start();
    await other.look();
    await world.take(7, 'sensor', other);
    await other.save();
    // It dies before it judged them; the one that lives goes on.
    for (let minute = 0; minute < 6; minute += 1) {
      world.pass(60_000);
      await world.take(1);
      await world.settle();
      await world.engine.look();
      await world.engine.save();
    }
    expect(await world.total()).toBe(13);
    expect([...(await world.alertRules.cursors()).keys()]).toHaveLength(1);
    await world.start().look();
    expect(await world.total()).toBe(13);
  });

  it('should judge again what a database forgot that had taken it', async () => {
    const world = await createWorld({ all: MATCH });
    await world.engine.save();
    await world.take(7);
    await world.settle();
    expect(await world.total()).toBe(7);
    world.forgetAlerts();
    await world.take(2);
    world.engine.doubt();
    await world.engine.save();
    await world.settle();
    await world.engine.look();
    expect(await world.total()).toBe(9);
    world.engine.doubt();
    await world.engine.look();
    expect(await world.total()).toBe(9);
  });

  it('should give the gateway its turn, however many rules there are', async () => {
    const many = Array.from({ length: 100 }, (_, at) => [`rule-${at}`, MATCH] as const);
    const world = await createWorld(Object.fromEntries(many));
    await world.take(1);
    // The clock of this world moves a millisecond whenever it is read: a moment is no time for a hundred rules.
    expect(await world.engine.work()).toBe(true);
    await world.settle();
    expect(await world.total()).toBe(100);
  });
});

describe('rules over the fleet', () => {
  const LIFE = 'console';
  const ACROSS: RuleSpec = {
    ...{ rule_name: 'across', severity: 'high', across: 'fleet' },
    detect: { kind: 'count', condition: 'binary:/bin/a', threshold: 3, window_secs: 60 },
  };

  /** A world whose one Console promises a floor. */
  async function createFleet() {
    const world = await createWorld({ across: ACROSS });
    const { designation, sinkFloors, engine, now } = world;
    const onLost = () => undefined;
    const tenure = await designation.stand({ holder: 'test', nowMs: BEGIN_MS, onLost });
    const join = (sinceMs: number | null) => sinkFloors.join({ life: LIFE, nowMs: now(), sinceMs });
    await join(null);
    return {
      ...world,
      join,
      /** Nothing that was received until now is still to be stored. */
      settleAll: () => sinkFloors.tell({ life: LIFE, nowMs: now(), floorMs: now() + 1 }),
      judge: () => engine.workFleet(tenure?.epoch ?? 0),
    };
  }

  it('should count over the fleet what no sensor alone has enough of', async () => {
    const world = await createFleet();
    await world.judge();
    for (const sensor of ['a', 'b', 'c', 'd']) await world.take(1, sensor);
    await world.settleAll();
    await world.judge();
    await world.judge();
    const [alert] = await world.alerts.list({ limit: 10, before: null });
    expect(alert).toMatchObject({ count: 3, alert: { sensorId: 'fleet', nodeName: 'fleet' } });
  });

  it('should wait for what was received and is not stored yet, however long that takes', async () => {
    const world = await createFleet();
    await world.judge();
    await world.take(1, 'a');
    const receivedMs = world.now();
    world.pass(30_000);
    await world.judge();
    await world.take(1, 'b', world.engine, receivedMs);
    await world.take(1, 'c', world.engine, receivedMs + 1);
    await world.settleAll();
    await world.judge();
    expect(await world.total()).toBe(3);
  });

  it('should judge again from where the horizon went back to', async () => {
    const world = await createFleet();
    await world.take(2, 'a');
    const receivedMs = world.now();
    world.pass(10_000);
    await world.settleAll();
    await world.judge();
    // It was left out, and stored something that it had received before.
    await world.sinkFloors.leave({ life: LIFE });
    await world.join(receivedMs);
    await world.take(1, 'b', world.engine, receivedMs);
    await world.settleAll();
    await world.judge();
    await world.judge();
    expect(await world.total()).toBe(3);
  });
});

describe('coverage watch', () => {
  it('should tell of each hour with lost events once', async () => {
    const { alerts, newId } = await createWorld({});
    const watch = createCoverageWatch({
      alerts: createAlerts({ store: alerts, now: () => BEGIN_MS }),
      ...{ labelsOf: () => LABELS, chance: { newId } },
    });
    const hour = '2026-11-25T00:00:00Z';
    const report = (lost: number) => ({
      ...{ run: '0123456789abcdef', report: 1, total: {} },
      hours: [{ hour, seen: 5, ...(lost === 0 ? {} : { kernel_lost: lost }) }],
    });
    const run = () => watch.loop.run({ signal: new AbortController().signal });
    for (const lost of [0, 2, 3]) {
      watch.note({ sensorId: 'a', nodeName: 'node' }, report(lost), BEGIN_MS);
      await run();
    }
    const rows = await alerts.list({ limit: 10, before: null });
    expect(rows.map(({ count, alert }) => [count, alert.kind, alert.source])).toEqual([
      [1, 'coverage_loss', 'coverage'],
    ]);
    expect(rows[0]?.alert.detail).toContain('kernel_lost 2');
  });
});
