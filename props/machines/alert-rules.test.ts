// Rules find what a simple reading of all events finds, in whatever order and however often they come; and what is counted
// live, over crashes, is what a backtest of the stored events tells. decision: D130, D131
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAlerts } from '../../actors/detection/alerts.ts';
import { backtest } from '../../actors/detection/backtest.ts';
import { createRuleEngine } from '../../actors/detection/rule-engine.ts';
import { joined } from '../../actors/detection/rule-findings.ts';
import { findingOfRule } from '../../machines/console/detection/rule-alert.ts';
import { type CompiledRule, compileRule } from '../../machines/detection/rule-compile.ts';
import { createRuleRun } from '../../machines/detection/rule-run.ts';
import type { RuleSpec } from '../../machines/detection/rule-spec.ts';
import { RETRY_AFTER_STORE_MS } from '../../machines/limits.ts';
import type { RuntimeEvent, StoredEvent } from '../../machines/wire/event.ts';
import { createMemoryRelational } from '../../storage/memory/memory-relational.ts';
import { createMemoryEvents } from '../../storage/memory/telemetry/memory-events.ts';
import type { AlertStore } from '../../storage/ports/detection/alert-store.ts';
import type { EventBatch } from '../../storage/ports/telemetry/event-store.ts';

const BEGIN_MS = Date.parse('2026-11-25T00:00:00Z');
const LABELS = { tags: [], groupIds: [], role: null };
const WINDOW_SECS = 60;
const SLOT_MS = 1_800_000;
type Drawn = { readonly id: number; readonly atSecs: number; readonly binary: string };
type DrawnBatch = { readonly sensor: number; readonly gapSecs: number; readonly events: Drawn[] };

function specOf(detect: RuleSpec['detect'], more: Partial<RuleSpec> = {}): RuleSpec {
  return { rule_name: 'rule', severity: 'high', detect, ...more };
}
function compiled(spec: RuleSpec): CompiledRule {
  const made = compileRule('rule', spec);
  if (!made.ok) throw new Error(JSON.stringify(made.faults));
  return made.rule;
}
function eventOf({ id, atSecs, binary }: Drawn): RuntimeEvent {
  return {
    event_id: id.toString(16).padStart(32, '0'),
    schema_version: 1,
    observed_at: new Date(BEGIN_MS + atSecs * 1_000).toISOString(),
    event_kind: 'process_exec',
    severity: 'info',
    message: binary,
    process: { exec_id: `exec-${id}`, pid: 100 + id, binary },
    parent: { exec_id: 'shell', pid: 50, binary: '/bin/sh' },
  };
}
const storedOf = (drawn: Drawn): StoredEvent => ({
  ...eventOf(drawn),
  ...{ sensor_id: 'a', node_name: 'node', received_at: new Date(BEGIN_MS).toISOString() },
});

// Of one id everything is the same, so that a repeat is one.
const drawn = fc
  .tuple(fc.nat(60), fc.constantFrom(0, 1))
  .map(([id]): Drawn => ({ id, atSecs: (id * 37) % 300, binary: `/bin/${'abc'[id % 3]}` }));
const A = 'binary:/bin/a';
const SEQUENCE: RuleSpec['detect'] = {
  ...{ kind: 'sequence', steps: [A, 'binary:/bin/b'], window_secs: WINDOW_SECS },
  by: 'process_tree',
};
const count = (threshold: number): RuleSpec['detect'] => ({
  ...{ kind: 'count', condition: A, threshold, window_secs: WINDOW_SECS },
});

describe('a rule', () => {
  it('always counts as a simple reading does: each event once, the first that complete a window', () => {
    fc.assert(
      fc.property(
        fc.array(drawn, { maxLength: 80 }),
        fc.integer({ min: 2, max: 4 }),
        (all, threshold) => {
          const run = createRuleRun(compiled(specOf(count(threshold))));
          let free: Drawn[] = [];
          const known = new Set<number>();
          let newest = Number.NEGATIVE_INFINITY;
          for (const one of all) {
            const found = run.take(storedOf(one), LABELS);
            const told = found?.events.map(({ id }) => Number.parseInt(id, 16)) ?? [];
            const isNew = one.binary === '/bin/a' && !known.has(one.id);
            if (one.binary === '/bin/a') newest = Math.max(newest, one.atSecs);
            if (!isNew || one.atSecs < newest - 2 * WINDOW_SECS) {
              expect(told).toEqual([]);
              continue;
            }
            known.add(one.id);
            free = [...free, one]
              .filter(({ atSecs }) => atSecs >= newest - 2 * WINDOW_SECS)
              .sort((x, y) => x.atSecs - y.atSecs || x.id - y.id);
            const windows = free
              .map((_, at) => free.slice(at, at + threshold))
              .filter((part) => part.length === threshold && part.includes(one))
              .filter(([first, ...rest]) => {
                return (rest.at(-1)?.atSecs ?? 0) - (first?.atSecs ?? 0) <= WINDOW_SECS;
              });
            const expected = windows[0] ?? [];
            expect(told).toEqual(expected.map(({ id }) => id));
            free = free.filter((other) => !expected.includes(other));
          }
        },
      ),
    );
  });

  it('never tells a sequence that is out of order, too long, or of an event told before', () => {
    fc.assert(
      fc.property(fc.array(drawn, { maxLength: 80 }), (all) => {
        const run = createRuleRun(compiled(specOf(SEQUENCE)));
        const byId = new Map(all.map((one) => [one.id, one]));
        const used = new Set<number>();
        for (const one of all) {
          const found = run.take(storedOf(one), LABELS);
          if (found === null) continue;
          const steps = found.events.map(({ id }) => byId.get(Number.parseInt(id, 16)));
          expect(steps.map((step) => step?.binary)).toEqual(['/bin/a', '/bin/b']);
          const [first, last] = [steps[0]?.atSecs ?? 0, steps[1]?.atSecs ?? 0];
          expect(last >= first && last - first <= WINDOW_SECS).toBe(true);
          expect(steps).toContainEqual(one);
          for (const step of steps) {
            expect(used.has(step?.id ?? -1)).toBe(false);
            used.add(step?.id ?? -1);
          }
        }
      }),
    );
  });

  it('always tells the first step before the second when both are there within the window', () => {
    fc.assert(
      fc.property(fc.nat(WINDOW_SECS), fc.boolean(), (gap, isLate) => {
        const run = createRuleRun(compiled(specOf(SEQUENCE)));
        const first: Drawn = { id: 1, atSecs: 10, binary: '/bin/a' };
        const second: Drawn = { id: 2, atSecs: 10 + gap, binary: '/bin/b' };
        const order = isLate ? [second, first] : [first, second];
        const found = order.map((one) => run.take(storedOf(one), LABELS));
        expect(found[0]).toBeNull();
        expect(found[1]?.events).toHaveLength(2);
      }),
    );
  });

  it('should miss what is absent only when the sensor itself has gone past window and watermark', () => {
    const rule = compiled(specOf({ kind: 'absence', condition: A, window_secs: WINDOW_SECS }));
    const run = createRuleRun(rule);
    const at = (id: number, atSecs: number, binary: string) =>
      run.take(storedOf({ id, atSecs, binary }), LABELS);
    expect(at(1, 0, '/bin/a')).toBeNull();
    expect(at(2, 119, '/bin/b')).toBeNull();
    expect(at(3, 120, '/bin/b')).toMatchObject({ sinceMs: BEGIN_MS, events: [] });
    expect(at(4, 500, '/bin/b')).toBeNull();
    expect(at(5, 501, '/bin/a')).toBeNull();
    expect(at(6, 700, '/bin/b')).toMatchObject({ sinceMs: BEGIN_MS + 501_000 });
  });

  it('should hold to scope, mutes, maintenance and expiry', () => {
    const found = (more: Partial<RuleSpec>, labels = LABELS) =>
      createRuleRun(compiled(specOf({ kind: 'match', condition: A }, more))).take(
        storedOf({ id: 1, atSecs: 10, binary: '/bin/a' }),
        labels,
      ) !== null;
    const time = (secs: number) => new Date(BEGIN_MS + secs * 1_000).toISOString();
    expect(found({})).toBe(true);
    expect(found({ scope: { tags: ['web'] } })).toBe(false);
    expect(found({ scope: { tags: ['web'] } }, { ...LABELS, tags: ['web'] as never })).toBe(true);
    expect(found({ scope: { roles: ['amf'] } }, { ...LABELS, role: 'amf' as never })).toBe(true);
    expect(found({ mutes: [{ sensor_id: 'a' }] })).toBe(false);
    expect(found({ mutes: [{ sensor_id: 'a', until: time(10) }] })).toBe(true);
    expect(found({ maintenance: [{ from: time(5), until: time(11) }] })).toBe(false);
    expect(found({ maintenance: [{ from: time(11), until: time(12) }] })).toBe(true);
    expect(found({ expires_at: time(0) })).toBe(false);
  });
});

const batches = fc.array(
  fc.record({
    sensor: fc.nat(1),
    gapSecs: fc.constantFrom<number>(0, 1, 30, 600, 3_000),
    events: fc.array(drawn, { minLength: 1, maxLength: 6 }),
  }),
  { maxLength: 30 },
);
const specs = fc.constantFrom(
  specOf({ kind: 'match', condition: A }, { group_by: ['process.binary'] }),
  specOf(count(2)),
  specOf(count(3), { group_by: ['process.binary'] }),
  specOf(SEQUENCE),
);

const once = (gapSecs: number, id: number, atSecs: number): DrawnBatch => ({
  ...{ sensor: 0, gapSecs, events: [{ id, atSecs, binary: '/bin/a' }] },
});
/** A process that took over from one long dead, and died before it noted how far it came. */
const DIES_SOON_AFTER_START: [RuleSpec, DrawnBatch[], ('crash' | 'hold')[]] = [
  specOf({ kind: 'match', condition: A }, { group_by: ['process.binary'] }),
  [once(3_000, 0, 0), once(0, 30, 210), once(0, 0, 0)],
  ['crash', 'hold', 'crash'],
];

describe('a rule that runs', () => {
  it('always counts live, over crashes and repeats, what a backtest of the stored events tells', () =>
    fc.assert(
      fc.asyncProperty(
        specs,
        batches,
        fc.array(fc.constantFrom('work', 'save', 'crash', 'hold'), { maxLength: 40 }),
        async (spec, all, moves) => {
          const world = await createWorld(spec);
          for (const [at, batch] of all.entries()) {
            await world.take(batch);
            await world.move(moves[at] ?? 'work');
          }
          await world.move('crash');
          await world.move('work');
          expect(await countedIn(world.alerts)).toEqual(await world.backtested());
        },
      ),
      { numRuns: 60, examples: [DIES_SOON_AFTER_START] },
    ));
});

async function createWorld(spec: RuleSpec) {
  const events = createMemoryEvents(RETRY_AFTER_STORE_MS);
  const { alerts, alertRules } = createMemoryRelational();
  let nowMs = BEGIN_MS + 3_600_000;
  let [ids, sequence] = [0, 0];
  const newId = () => {
    ids += 1;
    return `0199-${ids.toString().padStart(8, '0')}`;
  };
  const doing = { actor: 'user:ada', from: '', nowMs };
  await alertRules.put({ ...doing, ruleId: 'rule', version: null, spec });
  const started = () =>
    createRuleEngine(
      {
        ...{ rules: alertRules, events: events.events, inbox: alerts, chance: { newId } },
        alerts: createAlerts({ store: alerts, now: () => nowMs }),
        ...{ labelsOf: () => LABELS, now: () => nowMs, monotonicNow: () => 0 },
        horizon: async () => nowMs,
        pause: () => Promise.reject(new Error('paused')),
      },
      () => undefined,
    );
  let engine = started();
  await engine.look();
  await alertRules.advance({ name: 'sensor-rules', receivedMs: nowMs });
  const range = { fromMs: nowMs, toMs: Number.MAX_SAFE_INTEGER, bars: 1 };
  return {
    alerts,
    async take({ sensor, gapSecs, events: drawnEvents }: DrawnBatch) {
      nowMs += gapSecs * 1_000 + 1;
      sequence += 1;
      const unique = [...new Map(drawnEvents.map((one) => [one.id, one])).values()];
      const batch: EventBatch = {
        ...{ sensorId: `sensor-${sensor}`, nodeName: 'node', streamId: 's', channel: 'batch' },
        ...{ sequence, digest: '', receivedAtMs: nowMs },
        events: unique.map((one) => lateOf(one, sensor, nowMs)),
      };
      await events.sink.append(batch);
      engine.take(batch);
    },
    async move(what: string) {
      if (what === 'hold') return;
      if (what === 'crash') {
        engine = started();
        await engine.look();
      }
      while (await engine.work());
      if (what === 'save') await engine.save();
    },
    async backtested() {
      const rule = compiled(spec);
      const fresh = createMemoryRelational();
      const found: Parameters<NonNullable<Parameters<typeof backtest>[2]['onFound']>>[0][] = [];
      const time = { monotonicNow: () => 0, setTimeout };
      const deps = { events: events.events, labelsOf: () => LABELS, time };
      await backtest(deps, rule, { ...range, onFound: (one) => found.push(one) });
      // Of events it knows what the rule reads; an alert also has their words.
      const findings = found.map((one) => {
        const last = { ...one.last, message: '' };
        return findingOfRule(rule, { ...one, last }, { alertId: newId(), labels: LABELS });
      });
      await fresh.alerts.raise({ nowMs, findings: joined(findings) });
      return countedIn(fresh.alerts);
    },
  };
}

// Events of a half hour have ids and times of their own: what comes again is the same, and none is later than events may be.
function lateOf(one: Drawn, sensor: number, nowMs: number): RuntimeEvent {
  const slot = Math.floor(nowMs / SLOT_MS);
  const event = eventOf({ ...one, id: one.id + (slot % 1_000) * 100 + sensor * 1_000_000 });
  return { ...event, observed_at: new Date(slot * SLOT_MS - one.atSecs * 1_000).toISOString() };
}

async function countedIn(alerts: AlertStore): Promise<readonly unknown[]> {
  const rows = await alerts.list({ limit: 1_000, before: null });
  const counted = await Promise.all(
    rows.map(async ({ alert, count: total }) => {
      const { alertId } = alert;
      const found = await alerts.events({ alertId, limit: 10_000, before: null });
      expect(found).toHaveLength(total);
      return [alert.dedupKey, found.map(({ matchId }) => matchId).sort()] as const;
    }),
  );
  return [...counted].sort(([a], [b]) => (a < b ? -1 : 1));
}
