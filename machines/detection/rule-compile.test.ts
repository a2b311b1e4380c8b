// What of a rule is refused where, whom it means, when it counts for nothing, and what it finds. decision: D131
import { describe, expect, it } from 'vitest';
import { RULE_WATERMARK_MS } from '../limits.ts';
import type { StoredEvent } from '../wire/event.ts';
import { eventOf, NOON_MS, proc } from './event.fixture.ts';
import { type CompiledRule, compileRule, type SensorLabels } from './rule-compile.ts';
import { createRuleRun } from './rule-run.ts';
import type { RuleSpec } from './rule-spec.ts';

const MATCH: RuleSpec['detect'] = { kind: 'match', condition: 'pid:1' };
const LABELS: SensorLabels = { tags: ['t'], groupIds: ['g'], role: 'r' };
const at = (secs: number) => new Date(NOON_MS + secs * 1_000).toISOString();
function compiled(detect: RuleSpec['detect'], more: Partial<RuleSpec> = {}): CompiledRule {
  const made = compileRule('one', { rule_name: 'one', severity: 'low', detect, ...more });
  if (!made.ok) throw new Error(JSON.stringify(made.faults));
  return made.rule;
}
function faults(detect: RuleSpec['detect'], more: Partial<RuleSpec> = {}) {
  const made = compileRule('one', { rule_name: 'one', severity: 'low', detect, ...more });
  return made.ok ? [] : made.faults.map(({ pointer, detail }) => `${pointer} ${detail}`);
}
let ids = 0;
function processAt(secs: number, pid: number, more: Partial<StoredEvent> = {}): StoredEvent {
  ids += 1;
  return eventOf({
    ...{ event_id: ids.toString(16).padStart(32, '0'), observed_at: at(secs) },
    ...{ process: proc('e', '/bin/a', { pid }), ...more },
  });
}

describe('a rule that cannot run', () => {
  it('should be refused by each of its fields', () => {
    const steps = ['pid:1', 'pid:x', 'pid:'];
    expect(faults({ kind: 'sequence', steps, window_secs: 9, by: 'sensor' })).toEqual([
      '/detect/steps/1 character 5: process.pid is a whole number, or a range like 1..9, or >1',
      '/detect/steps/2 character 5: a value is missing',
    ]);
    expect(faults({ kind: 'match', condition: '' })).toEqual([
      '/detect/condition character 1: something to look for is missing',
    ]);
    expect(faults(MATCH, { group_by: ['pid', 'colour'] })).toEqual([
      '/group_by/1 no event has a field colour',
    ]);
    const maintenance = [
      { from: at(0), until: at(1) },
      { from: at(1), until: at(1) },
    ];
    expect(faults(MATCH, { maintenance })).toEqual([
      '/maintenance/1/until it ends before it begins',
    ]);
  });

  it('should be one over the fleet that has to be judged for each sensor', () => {
    const window_secs = 9;
    const detects: readonly RuleSpec['detect'][] = [
      MATCH,
      { kind: 'count', condition: 'pid:1', threshold: 2, window_secs },
      { kind: 'absence', condition: 'pid:1', window_secs },
      { kind: 'sequence', steps: ['pid:1', 'pid:2'], window_secs, by: 'sensor' },
    ];
    expect(detects.map((detect) => faults(detect, { across: 'fleet' }))).toEqual([
      ...[[], []],
      ['/across a rule over the fleet matches or counts; absence is judged for each sensor'],
      ['/across a rule over the fleet matches or counts; sequence is judged for each sensor'],
    ]);
    expect(detects.flatMap((detect) => faults(detect, { across: 'sensor' }))).toEqual([]);
  });
});

describe('a rule that runs', () => {
  it('should mean the sensors that have one of each label it names', () => {
    const means = (scope: RuleSpec['scope'], labels: Partial<SensorLabels> = {}) =>
      compiled(MATCH, scope === undefined ? {} : { scope }).isMeant({ ...LABELS, ...labels });
    expect(means(undefined)).toBe(true);
    expect(means({ tags: [], roles: [], group_ids: [] })).toBe(true);
    expect(means({ tags: ['t', 'u'], roles: ['r'], group_ids: ['g'] })).toBe(true);
    expect(means({ tags: ['u'] })).toBe(false);
    expect(means({ tags: ['t'], group_ids: ['h'] })).toBe(false);
    expect(means({ roles: ['s'] })).toBe(false);
    expect(means({ roles: ['r'] }, { role: null })).toBe(false);
    expect(means({ tags: ['t'] }, { tags: [] })).toBe(false);
  });

  it('should be silent for a muted sensor and in maintenance, to the instant', () => {
    const rule = compiled(MATCH, {
      mutes: [{ sensor_id: 's', until: at(10) }, { sensor_id: 'always' }],
      maintenance: [{ from: at(20), until: at(30), scope: { tags: ['t'] } }],
    });
    const silent = (sensor: string, secs: number, labels = LABELS) =>
      rule.isSilenced(sensor, labels, NOON_MS + secs * 1_000);
    expect([9, 10, 19, 20, 29, 30].map((secs) => silent('s', secs))).toEqual([
      ...[true, false, false, true, true, false],
    ]);
    expect(silent('always', 1_000_000)).toBe(true);
    expect(silent('other', 9)).toBe(false);
    expect(silent('other', 25)).toBe(true);
    expect(silent('other', 25, { ...LABELS, tags: [] })).toBe(false);
  });

  it('should know what it needs: kinds of events, and whether it is of the score', () => {
    const match = (condition: string) => compiled({ kind: 'match', condition });
    expect([...(match('kind:file_open').kinds ?? [])]).toEqual(['file_open']);
    expect(match('pid:1').kinds).toBeNull();
    const absence = compiled({ kind: 'absence', condition: 'kind:file_open', window_secs: 9 });
    expect([absence.kinds, absence.windowMs]).toEqual([null, 9_000]);
    expect(match('pid:1').windowMs).toBe(0);
    const ofScore = (condition: string) => match(condition).isOfScore;
    expect(ofScore('anomaly_score:>0.5')).toBe(true);
    expect(ofScore('pid:1 and (uid:1 or not anomaly_score:<0.5)')).toBe(true);
    expect(ofScore('pid:>1')).toBe(false);
    expect(ofScore('anomaly_score:*')).toBe(false);
  });

  it('should end when its time is over, by when the Console received', () => {
    const run = createRuleRun(compiled(MATCH, { expires_at: at(10) }));
    const received = (secs: number) =>
      run.take(processAt(0, 1, { received_at: at(secs) }), LABELS) !== null;
    expect([9, 10, 11].map(received)).toEqual([true, false, false]);
  });

  it('should find what matches, with the group that its fields make', () => {
    const group_by = ['pid', 'ancestor', 'cwd'];
    const run = createRuleRun(compiled(MATCH, { group_by }));
    const event = processAt(3, 1, { ancestors: [proc('x', '/x'), proc('y', '/y')] });
    expect(run.take(event, LABELS)).toEqual({
      ...{ sensorId: 's', key: '["1","/x",""]', sinceMs: null, last: event },
      group: { 'process.pid': '1', 'ancestors.binary': '/x', 'process.cwd': '' },
      events: [{ id: event.event_id, atMs: NOON_MS + 3_000 }],
    });
    expect(run.take(processAt(3, 2), LABELS)).toBeNull();
    const scoped = createRuleRun(compiled(MATCH, { scope: { tags: ['u'] } }));
    expect(scoped.take(event, LABELS)).toBeNull();
    expect(createRuleRun(compiled(MATCH)).take(event, LABELS)).toMatchObject({
      key: '',
      group: {},
    });
  });

  it('should count within its window and group, and each event once', () => {
    const detect = { kind: 'count', condition: 'pid:*', threshold: 2, window_secs: 10 } as const;
    const counted = (more: Partial<RuleSpec>, ...events: readonly StoredEvent[]) => {
      const run = createRuleRun(compiled(detect, more));
      return events.map((event) => run.take(event, LABELS)?.events.length ?? 0);
    };
    const [a, b] = [processAt(0, 1), processAt(10, 1)];
    expect(counted({}, a, b)).toEqual([0, 2]);
    expect(counted({}, b, a)).toEqual([0, 2]);
    expect(counted({}, a, processAt(11, 1))).toEqual([0, 0]);
    expect(counted({}, a, a)).toEqual([0, 0]);
    expect(counted({}, a, b, processAt(10, 1))).toEqual([0, 2, 0]);
    expect(counted({ group_by: ['pid'] }, a, processAt(1, 2))).toEqual([0, 0]);
    const elsewhere = processAt(1, 1, { sensor_id: 'z' });
    expect(counted({}, a, elsewhere)).toEqual([0, 0]);
    expect(counted({ across: 'fleet' }, a, elsewhere)).toEqual([0, 2]);
    const run = createRuleRun(compiled(detect));
    expect(run.take(a, LABELS, true)).toBeNull();
    expect(run.take(b, LABELS)).toBeNull();
  });

  it('should find steps in their order, on one sensor or in one tree', () => {
    const detect = { kind: 'sequence' as const, steps: ['pid:1', 'pid:2'], window_secs: 10 };
    const found = (by: 'sensor' | 'process_tree', ...events: readonly StoredEvent[]) => {
      const run = createRuleRun(compiled({ ...detect, by }));
      return events.map((event) => run.take(event, LABELS)?.events.length ?? 0);
    };
    expect(found('sensor', processAt(0, 1), processAt(10, 2))).toEqual([0, 2]);
    expect(found('sensor', processAt(0, 1), processAt(11, 2))).toEqual([0, 0]);
    expect(found('sensor', processAt(5, 1), processAt(4, 2))).toEqual([0, 0]);
    expect(found('sensor', processAt(5, 2), processAt(4, 1))).toEqual([0, 2]);
    const other = (pid: number) => ({ process: proc('f', '/bin/a', { pid }) });
    expect(found('process_tree', processAt(0, 1), processAt(1, 2, other(2)))).toEqual([0, 0]);
    const tree = { parent: proc('e', '/bin/a', { pid: 9 }) };
    const two = processAt(1, 2, { ...other(2), ...tree });
    expect(found('process_tree', processAt(0, 1), two)).toEqual([0, 2]);
    expect(found('sensor', processAt(0, 1), processAt(1, 2, { sensor_id: 'z' }))).toEqual([0, 0]);
  });

  it('should miss what is absent once, when window and watermark have passed', () => {
    const detect = { kind: 'absence', condition: 'pid:1', window_secs: 10 } as const;
    const waitSecs = RULE_WATERMARK_MS / 1_000 + 10;
    const missed = (isResumed: boolean, ...events: readonly StoredEvent[]) => {
      const run = createRuleRun(compiled(detect), { isResumed });
      return events.map((event) => run.take(event, LABELS)?.sinceMs ?? null);
    };
    const [seen, late, later] = [processAt(5, 1), processAt(5 + waitSecs, 2), processAt(999, 2)];
    expect(missed(false, seen, late, later)).toEqual([null, NOON_MS + 5_000, null]);
    expect(missed(false, seen, processAt(4 + waitSecs, 2))).toEqual([null, null]);
    // One that comes late is no newer sight.
    expect(missed(false, seen, processAt(2, 1), processAt(4 + waitSecs, 2))).toEqual([
      ...[null, null, null],
    ]);
    expect(missed(false, processAt(5, 2), late)).toEqual([null, NOON_MS + 5_000]);
    expect(missed(true, processAt(5, 2), late)).toEqual([null, null]);
    expect(missed(true, seen, late)).toEqual([null, NOON_MS + 5_000]);
  });
});
