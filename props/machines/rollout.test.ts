import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AssignmentRow, RolloutRow } from '../../machines/console/policy/book.rules.ts';
import {
  type RolloutEvent,
  type RolloutSnapshot,
  rolloutMachine,
} from '../../machines/console/policy/rollout.machine.ts';
import {
  cutOf,
  failingGate,
  hasReached,
  isOpen,
  isSplit,
  mistakesOfPlan,
  NOTHING_COUNTED,
  ROLLOUT_GATES,
  ROLLOUT_STATES,
  type RolloutPlan,
  type RolloutTally,
} from '../../machines/console/policy/rollout.rules.ts';
import {
  beginRollout,
  snapshotOf,
  stepRollout,
} from '../../machines/console/policy/rollout-step.rules.ts';
import { lookAt, type SensorSight } from '../../machines/console/policy/rollout-tally.rules.ts';
import { describeMachineLaws } from './laws.ts';
import { transition } from './moves.ts';

const HOUR_MS = 3_600_000;
const few = fc.integer({ min: 0, max: 3 });
const limit = fc.option(few);
const stage = fc.record({
  sensorIds: fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 2 }),
  percent: fc.integer({ min: 0, max: 100 }),
  waitMs: fc.constantFrom(0, HOUR_MS),
  needsWord: fc.boolean(),
});
const plan: fc.Arbitrary<RolloutPlan> = fc.record({
  stages: fc.array(stage, { minLength: 1, maxLength: 4 }),
  limits: fc.record({
    ...{ rejected: limit, failed: limit, silent: limit, stale: limit },
    ...{ engine_restarts: limit, storms: limit, lost: limit },
  }),
  answerWithinMs: fc.constant(60_000),
  stormPerMinute: fc.constant(100),
  onFailure: fc.constantFrom('return' as const, 'halt' as const),
});
const GOOD: RolloutTally = { ...NOTHING_COUNTED, touched: 3, reached: 3, inForce: 3 };
const counted: fc.Arbitrary<RolloutTally> = fc.record({
  ...{ rejected: few, failed: few, silent: few, stale: few, engine_restarts: few },
  ...{ storms: few, lost: few, touched: few, reached: few, inForce: few },
  ...{ unanswered: few, offline: few, holding: few },
});
const tally = fc.oneof(fc.constant(GOOD), counted);
const atMs = fc.oneof(fc.constant(20 * HOUR_MS), fc.integer({ min: 0, max: 10 * HOUR_MS }));
const nextCut = fc.integer({ min: 0, max: 2 ** 32 });
const event: fc.Arbitrary<RolloutEvent> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ type: fc.constant('rollout.looked'), atMs, tally, nextCut }),
  },
  fc.record({
    type: fc.constantFrom('rollout.pause', 'rollout.resume', 'rollout.abort'),
    atMs,
  }) as fc.Arbitrary<RolloutEvent>,
);
const startMs = fc.integer({ min: 0, max: HOUR_MS });
const input = fc.record({ plan, mayReturn: fc.boolean(), atMs: startMs, cut: nextCut });

describeMachineLaws({ name: 'rollout', machine: rolloutMachine, input, events: event });

const assignment = (assignmentId: string, version: number): AssignmentRow => ({
  ...{ assignmentId, target: { kind: 'fleet', id: 'fleet' }, packId: 'p', version },
  ...{ mode: 'enforce', namespaceScope: null, whenUnsupported: 'fail', priority: 0 },
  ...{ createdAtMs: 0, createdBy: 'op' },
});
const begin = (given: { plan: RolloutPlan; mayReturn: boolean; atMs: number; cut: number }) =>
  beginRollout(
    {
      ...{ rolloutId: 'r', target: { kind: 'fleet', id: 'fleet' }, startedAtMs: given.atMs },
      ...{ before: assignment('1', 1), next: assignment('2', 2), startedBy: 'op' },
    },
    given,
  );
const stepAll = (first: RolloutRow, events: readonly RolloutEvent[]): readonly RolloutRow[] => {
  const rows = [first];
  for (const one of events)
    rows.push(stepRollout(rows.at(-1) ?? first, one) ?? rows.at(-1) ?? first);
  return rows;
};
const runs = fc.tuple(input, fc.array(event, { maxLength: 40 }));
const ALL: RolloutPlan = {
  stages: [{ sensorIds: [], percent: 100, waitMs: 0, needsWord: false }],
  limits: {
    ...{ rejected: 0, failed: 0, silent: 0, stale: 0, engine_restarts: 0, storms: 0, lost: 0 },
  },
  ...{ answerWithinMs: 60_000, stormPerMinute: 100, onFailure: 'return' },
};
const ids = (count: number) => Array.from({ length: count }, (_, at) => `sensor-${at}`);
const looked = (at: number, more: Partial<RolloutTally> = {}): RolloutEvent => ({
  ...{ type: 'rollout.looked', atMs: at, nextCut: 5, tally: { ...GOOD, ...more } },
});

describe('rollout', () => {
  it('should never advance over a failing gate', () => {
    fc.assert(
      fc.property(runs, ([given, events]) => {
        let row = begin(given);
        for (const one of events) {
          const next = stepRollout(row, one) ?? row;
          const hasAdvanced = next.context.stage > row.context.stage || next.state === 'done';
          if (hasAdvanced && row.state !== 'done') {
            expect(one.type).toBe('rollout.looked');
            if (one.type !== 'rollout.looked') return;
            expect(failingGate(given.plan.limits, one.tally)).toBeNull();
            expect(row.state).toBe('running.watching');
          }
          row = next;
        }
      }),
    );
  });

  it('should not be done by having nobody left: a canary that refused and is gone proves nothing', () => {
    const gone = { touched: 0, reached: 0, inForce: 0 };
    for (const mayReturn of [true, false]) {
      const stages = [{ sensorIds: ['a'], percent: 0, waitMs: 0, needsWord: false }, ...ALL.stages];
      const limits = { ...ALL.limits, rejected: 0 };
      const given = { plan: { ...ALL, stages, limits, onFailure: 'halt' }, mayReturn } as const;
      const rows = stepAll(begin({ ...given, atMs: 0, cut: 0 }), [
        looked(1_000, { touched: 1, reached: 1, inForce: 0, rejected: 1 }),
        { type: 'rollout.resume', atMs: 2_000 },
        looked(3_000, gone),
        looked(4_000, gone),
      ]);
      const ended = mayReturn ? 'returned' : 'stopped';
      expect(rows.map(({ state }) => state)).toEqual([
        ...['running.reaching', 'halted', 'running.reaching', ended, ended],
      ]);
    }
  });

  it('should never return what no manifest allows, and never take back what was reached', () => {
    fc.assert(
      fc.property(runs, ([given, events]) => {
        const rows = stepAll(begin(given), events);
        for (const [at, row] of rows.entries()) {
          if (!given.mayReturn) expect(row.state).not.toMatch(/^return/);
          const before = rows[at - 1];
          if (before === undefined) continue;
          expect(row.context.begun.at(-1)?.cut).toBeGreaterThanOrEqual(
            before.context.begun.at(-1)?.cut ?? 0,
          );
        }
      }),
    );
  });

  it('should go on from its stored row as if nobody had restarted', () => {
    fc.assert(
      fc.property(runs, ([given, events]) => {
        let snapshot: RolloutSnapshot = snapshotOf(begin(given));
        let row = begin(given);
        for (const one of events) {
          [snapshot] = transition(rolloutMachine, snapshot, one);
          row = JSON.parse(JSON.stringify(stepRollout(row, one) ?? row)) as RolloutRow;
          const restored = snapshotOf(row);
          expect(restored.value).toEqual(snapshot.value);
          expect(restored.context).toEqual(snapshot.context);
        }
      }),
    );
  });

  it('should end once its sensors answer well and people say go on', () => {
    fc.assert(
      fc.property(input, (given) => {
        let row = begin(given);
        let at = given.atMs;
        for (let turn = 0; isOpen(row.state); turn += 1) {
          expect(turn).toBeLessThan(40);
          at += HOUR_MS;
          row = stepRollout(row, looked(at)) ?? row;
          if (row.state === 'running.asking') {
            row = stepRollout(row, { type: 'rollout.resume', atMs: at }) ?? row;
          }
        }
        expect(row.state).toBe('done');
        expect(row.context.stage).toBe(given.plan.stages.length - 1);
      }),
    );
  });

  it('should name its states as the tags of the machine do', () => {
    fc.assert(
      fc.property(runs, ([given, events]) => {
        for (const row of stepAll(begin(given), events)) {
          const snapshot = snapshotOf(row);
          expect(ROLLOUT_STATES).toContain(row.state);
          expect(snapshot.hasTag('open')).toBe(isOpen(row.state));
          expect(snapshot.hasTag('split')).toBe(isSplit(row.state));
        }
      }),
    );
  });

  it('should reach as many as the percentage says, at least one, and the same on every Console', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 500 }),
        fc.integer({ min: 1, max: 100 }),
        fc.uuid(),
        (count, percent, rolloutId) => {
          const cut = cutOf(rolloutId, ids(count), percent);
          const context = {
            plan: { stages: [{ sensorIds: [], percent, waitMs: 0, needsWord: false }] },
            begun: [{ atMs: 0, cut }],
          };
          const reached = ids(count).filter((id) => hasReached({ rolloutId, context }, id));
          expect(reached.length).toBe(Math.ceil((count * percent) / 100));
        },
      ),
    );
  });

  it('should refuse plans that do not grow to everybody', () => {
    const of = (...percents: readonly number[]) =>
      mistakesOfPlan({
        stages: percents.map((percent) => ({
          ...{ sensorIds: [], percent, waitMs: 0, needsWord: false },
        })),
      });
    expect(of(5, 50, 100)).toEqual([]);
    expect(of(100)).toEqual([]);
    for (const wrong of [[], [5], [5, 5, 100], [50, 5, 100], [0, 100], [100, 100]]) {
      expect(of(...wrong)).not.toEqual([]);
    }
  });
});

describe('a look at the sensors of a rollout', () => {
  const row = begin({ plan: ALL, mayReturn: true, atMs: 1_000_000, cut: 2 ** 32 });
  const sight = (more: Partial<SensorSight> = {}): SensorSight => ({
    ...{ sensorId: 'a', lastHeartbeatAtMs: 1_000_500, restarts: 3, lost: 7, read: 100 },
    report: { assignmentId: '2', state: 'enforcing', reason: null },
    ...more,
  });
  const at = (nowMs: number, watched: ReturnType<typeof lookAt>['watched'] = new Map()) => ({
    ...{ nowMs, stalenessMs: 90_000, baselines: { a: [3, 7] as const }, watched },
  });
  const nobody = { report: { assignmentId: '1', state: 'enforcing', reason: null } } as const;

  it('should count what each sensor says, and nothing that was so before', () => {
    const count = (more: Partial<SensorSight>, nowMs = 1_001_000) =>
      lookAt(row, [sight(more)], at(nowMs)).tally;
    expect(count({})).toEqual({
      ...NOTHING_COUNTED,
      touched: 1,
      reached: 1,
      inForce: 1,
      holding: 1,
    });
    const said = (state: 'rejected' | 'failed' | 'applying' | 'removed') =>
      count({ report: { assignmentId: '2', state, reason: null } });
    expect(said('rejected')).toMatchObject({ rejected: 1, inForce: 0 });
    expect(said('failed')).toMatchObject({ failed: 1, inForce: 0 });
    expect(said('applying')).toMatchObject({ unanswered: 1, inForce: 0 });
    expect(said('removed')).toMatchObject({ unanswered: 0, inForce: 0 });
    expect(count({ restarts: 5, lost: 17 })).toMatchObject({ engine_restarts: 2, lost: 10 });
    expect(count({ restarts: 0 })).toMatchObject({ engine_restarts: 0 });
    expect(count(nobody)).toMatchObject({ unanswered: 1, holding: 0 });
  });

  it('should tell a sensor that went silent from one that was not there', () => {
    const count = (lastHeartbeatAtMs: number | null) =>
      lookAt(row, [sight({ ...nobody, lastHeartbeatAtMs })], at(1_200_000)).tally;
    expect(count(1_000_500)).toMatchObject({ stale: 1, offline: 0, unanswered: 0 });
    expect(count(999_000)).toMatchObject({ stale: 0, offline: 1, unanswered: 0 });
    expect(count(null)).toMatchObject({ stale: 0, offline: 1 });
  });

  it('should count a sensor as silent when it is heard and says nothing for too long', () => {
    const first = lookAt(row, [sight(nobody)], at(1_001_000));
    expect(first.tally).toMatchObject({ unanswered: 1, silent: 0 });
    const heard = sight({ ...nobody, lastHeartbeatAtMs: 1_060_000 });
    const later = lookAt(row, [heard], at(1_061_000, first.watched));
    expect(later.tally).toMatchObject({ unanswered: 0, silent: 1 });
  });

  it('should see a storm between two heartbeats, and its end', () => {
    const first = lookAt(row, [sight()], at(1_001_000));
    const beat = (lastHeartbeatAtMs: number, read: number) => sight({ lastHeartbeatAtMs, read });
    const second = lookAt(row, [beat(1_060_500, 400)], at(1_061_000, first.watched));
    expect(second.tally.storms).toBe(1);
    const third = lookAt(row, [beat(1_060_500, 400)], at(1_062_000, second.watched));
    expect(third.tally.storms).toBe(1);
    const fourth = lookAt(row, [beat(1_120_500, 410)], at(1_121_000, third.watched));
    expect(fourth.tally.storms).toBe(0);
  });

  it('should fail each gate by its own count alone', () => {
    for (const gate of ROLLOUT_GATES) {
      const counted = { ...GOOD, [gate]: 1 };
      expect(failingGate(ALL.limits, counted)).toEqual({ gate, counted: 1, limit: 0 });
      expect(failingGate({ ...ALL.limits, [gate]: 1 }, counted)).toBeNull();
      expect(failingGate({ ...ALL.limits, [gate]: null }, counted)).toBeNull();
    }
  });
});
