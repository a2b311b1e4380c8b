// Alert rules as they run. What is durable is judged here by every rule that is counted for one sensor; rules over the fleet
// are judged by the designated Console from the store. Ingest waits for nothing: batches are queued, and when too many wait
// they are read from the store instead. A cursor says up to where all is judged; what came after it is judged again at the
// next start, and counts once, for matches have names. decision: D60, D130, D131; invariant: I10
import type { Finding } from '../../machines/console/detection/finding.ts';
import type { RuleFound } from '../../machines/detection/rule-found.ts';
import {
  ALERT_FINDINGS_MAX,
  RULE_CURSOR_LAG_MS,
  RULES_MOMENT_MS,
  RULES_QUEUE_EVENTS_MAX,
} from '../../machines/limits.ts';
import type { StoredEvent } from '../../machines/wire/event.ts';
import type { RuleRow } from '../../storage/ports/detection/rule-store.ts';
import type { EventBatch } from '../../storage/ports/telemetry/event-store.ts';
import { seenElsewhere } from './absences.ts';
import { arrivalOrder } from './arrival-order.ts';
import { createFleetRules, type FleetRules } from './fleet-rules.ts';
import { createRuleCursors, type RuleCursors } from './rule-cursors.ts';
import { findingsOf, joined, type RuleDeps } from './rule-findings.ts';
import { arrivalsFor, countedOf, replayFromMs } from './rule-replay.ts';
import { createRunningRule, type RuleCost, type RunningRule } from './running-rule.ts';

export type RuleEngine = {
  /** A batch is durable. Waits for nothing, never throws. */
  take(batch: EventBatch): void;
  /** Reads the rules again, and brings those that changed up to date. */
  look(): Promise<void>;
  /** Judges what waits longest, for a moment, and hands over what was found; whether more waits. */
  work(): Promise<boolean>;
  /** Whether that would do anything now. */
  hasWork(): boolean;
  /** Judges rules over the fleet, up to what has settled. */
  workFleet(epoch: number): Promise<void>;
  /** Whether a rule is counted over the fleet. */
  hasFleetRules(): boolean;
  /** Notes how far it came. */
  save(): Promise<void>;
  /**
   * The database may have forgotten alerts that it had taken: at the next look all that came after the cursor, as it is
   * stored then, is judged again.
   */
  doubt(): void;
  costs(): ReadonlyMap<string, RuleCost>;
  /** Events that wait. */
  queued(): number;
};

type Current = {
  readonly receivedAtMs: number;
  readonly events: readonly StoredEvent[];
  readonly rules: Iterator<RunningRule>;
};
type Engine = {
  readonly deps: RuleDeps;
  readonly running: Map<string, RunningRule>;
  readonly fleet: FleetRules;
  batches: EventBatch[];
  /** The batch that is judged now, and the rules that have yet to. */
  current: Current | null;
  events: number;
  /** What came after the stored cursor is judged again before anything else is noted. */
  isInDoubt: boolean;
  /** Batches did not fit: they are read from the store. */
  isLost: boolean;
  /** Absences that are not yet held against the store. */
  doubted: { readonly own: RunningRule; readonly found: RuleFound }[];
  /** Found, and not yet in the inbox. */
  waiting: Finding[];
  /** The inbox did not take what was found last. */
  isAway: boolean;
  isStarted: boolean;
  readonly cursors: RuleCursors;
  /** What was received up to here is judged, and what was found in it is in the inbox. */
  judgedMs: number;
};

/** Makes an engine without rules; `look` fills it. `wake`: something waits. */
export function createRuleEngine(deps: RuleDeps, wake: () => void): RuleEngine {
  const engine: Engine = {
    ...{ deps, running: new Map(), fleet: createFleetRules(deps) },
    ...{
      batches: [],
      current: null,
      events: 0,
      isInDoubt: false,
      isLost: false,
      doubted: [],
      waiting: [],
      isAway: false,
      isStarted: false,
    },
    cursors: createRuleCursors(deps),
    judgedMs: deps.now(),
  };
  const inTurn = createTurns();
  return {
    take(batch) {
      if (batch.events.length === 0 || engine.isLost) return;
      // Who is at work already comes to it at its own pace: ingest goes first.
      const isIdle = !isWaiting(engine);
      if (engine.events + batch.events.length > RULES_QUEUE_EVENTS_MAX) engine.isLost = true;
      else {
        engine.batches.push(batch);
        engine.events += batch.events.length;
      }
      if (isIdle) wake();
    },
    // A rule that begins reads what is stored; nothing is judged meanwhile, so it misses nothing between the two.
    look: () => inTurn(() => look(engine)),
    work: () => inTurn(() => work(engine)),
    hasWork: () =>
      engine.isLost || isWaiting(engine) || engine.waiting.length + engine.doubted.length > 0,
    workFleet: (epoch) => engine.fleet.work(epoch),
    hasFleetRules: () => engine.fleet.hasRules(),
    save: () => inTurn(() => save(engine)),
    doubt() {
      engine.isInDoubt = true;
    },
    costs: () =>
      new Map([
        ...[...engine.running].map(([ruleId, one]) => [ruleId, one.cost()] as const),
        ...engine.fleet.costs(),
      ]),
    queued: () => engine.events,
  };
}

async function look(engine: Engine): Promise<void> {
  const { deps, running, fleet } = engine;
  const rows = (await deps.rules.list()).filter(
    ({ spec, pause }) => spec.enabled !== false && pause === null,
  );
  fleet.setRows(rows.filter(({ spec }) => spec.across === 'fleet'));
  const own = rows.filter(({ spec }) => spec.across !== 'fleet');
  const versions = new Map(own.map((row) => [row.ruleId, row.version]));
  for (const [ruleId, { row }] of running) {
    if (versions.get(ruleId) !== row.version) running.delete(ruleId);
  }
  const startedMs = deps.now();
  if (!engine.isStarted) engine.judgedMs = (await engine.cursors.start()) ?? startedMs;
  for (const row of own) {
    if (!running.has(row.ruleId)) {
      await begin(engine, row, engine.isStarted ? row.activeSinceMs : engine.judgedMs);
    }
  }
  // The own cursor stands before those of the dead go: whoever starts next finds one of the two.
  if (!engine.isStarted) await engine.cursors.advance(startedMs - RULE_CURSOR_LAG_MS);
  if (engine.isStarted && engine.isInDoubt) await judgeAgain(engine);
  engine.isStarted = true;
  await takeOver(engine);
  const live = running.size === 0 ? new Map<string, number>() : await deps.inbox.liveByRule();
  for (const one of running.values()) {
    const why = one.excess(deps.now(), live.get(one.row.ruleId) ?? 0);
    if (why === null) continue;
    running.delete(one.row.ruleId);
    await deps.pause(one.row, why);
  }
}

/** What a Console stored before it died and did not judge is judged here. */
async function takeOver(engine: Engine): Promise<void> {
  for (const dead of await engine.cursors.dead()) {
    await beginAnew(engine, dead.receivedMs);
    await engine.deps.rules.dropCursor(dead);
  }
}

/** A cursor never passed what was not in the inbox, so that nothing forgotten is older than it. decision: D171 */
async function judgeAgain(engine: Engine): Promise<void> {
  // Whoever doubts meanwhile is heard at the next look; so is this doubt, when it cannot be settled now.
  engine.isInDoubt = false;
  try {
    const fromMs = await engine.cursors.again();
    if (fromMs !== null) await beginAnew(engine, fromMs);
  } catch (error) {
    engine.isInDoubt = true;
    throw error;
  }
}

async function beginAnew(engine: Engine, fromMs: number): Promise<void> {
  const { running } = engine;
  for (const { row } of [...running.values()]) {
    running.delete(row.ruleId);
    await begin(engine, row, fromMs);
  }
}

/** Brings a rule up to date: its windows from before, and all that was not judged for certain. */
async function begin({ deps, running }: Engine, row: RuleRow, fromMs: number): Promise<void> {
  const own = createRunningRule(row, deps, row.activeSinceMs < fromMs);
  if (own === null) {
    return deps.pause(row, { reason: 'failed', detail: 'its condition cannot be read' });
  }
  const sinceMs = replayFromMs(own.rule, row.activeSinceMs, fromMs);
  const range = { fromMs: sinceMs, toMs: Number.MAX_SAFE_INTEGER };
  for await (const page of arrivalsFor(deps.events, own.rule, range)) {
    const counted = await countedOf(deps.inbox, own.rule, page);
    const found = findingsOf(deps, own.rule, own.judge(page, deps.labelsOf, counted));
    if (found.length > 0) await deps.alerts.raise(joined(found));
  }
  running.set(row.ruleId, own);
}

// Between two moments the gateway takes in what comes: however many rules there are, nothing waits for all of them.
async function work(engine: Engine): Promise<boolean> {
  if (!engine.isStarted) return false;
  if (engine.isLost) await recover(engine);
  const { monotonicNow } = engine.deps;
  const endMs = monotonicNow() + RULES_MOMENT_MS;
  const isFull = (): boolean => engine.waiting.length + engine.doubted.length >= ALERT_FINDINGS_MAX;
  while (!isFull() && (await judgeNext(engine)) && monotonicNow() < endMs);
  if (!isWaiting(engine) || isFull()) await flush(engine);
  return isWaiting(engine);
}

function isWaiting({ batches, current }: Engine): boolean {
  return current !== null || batches.length > 0;
}

/** One rule judges one batch; whether more waits. */
async function judgeNext(engine: Engine): Promise<boolean> {
  engine.current ??= currentOf(engine);
  if (engine.current === null) return false;
  const { events, rules } = engine.current;
  const { value: own, done } = rules.next();
  if (done === true) {
    engine.current = null;
    return engine.batches.length > 0;
  }
  const found = await judged(engine, own, events);
  engine.doubted.push(...found.filter(isDoubtful).map((one) => ({ own, found: one })));
  keepFound(
    engine,
    own,
    found.filter((one) => !isDoubtful(one)),
  );
  return true;
}

/** What a rule finds in events; one that fails stops alone, and found nothing. */
async function judged(
  { deps, running }: Engine,
  own: RunningRule,
  events: readonly StoredEvent[],
): Promise<readonly RuleFound[]> {
  try {
    return own.judge(events, deps.labelsOf);
  } catch (error) {
    running.delete(own.row.ruleId);
    await deps.pause(own.row, { reason: 'failed', detail: String(error).slice(0, 500) });
    return [];
  }
}

function isDoubtful({ sinceMs }: RuleFound): boolean {
  return sinceMs !== null;
}

function keepFound({ deps, waiting }: Engine, own: RunningRule, found: readonly RuleFound[]): void {
  if (found.length > 0) waiting.push(...findingsOf(deps, own.rule, found));
}

function currentOf(engine: Engine): Current | null {
  const batch = engine.batches.shift();
  if (batch === undefined) return null;
  engine.events -= batch.events.length;
  const rules = [...engine.running.values()][Symbol.iterator]();
  return { receivedAtMs: batch.receivedAtMs, events: arrivalOrder(batch), rules };
}

/** Hands over what was found; what is not taken is tried again with what comes next. */
async function flush(engine: Engine): Promise<void> {
  await settleDoubts(engine);
  if (engine.waiting.length === 0) return;
  const taken = engine.waiting;
  engine.isAway = true;
  await engine.deps.alerts.raise(joined(taken));
  engine.isAway = false;
  engine.waiting = [];
}

/** While the store cannot answer, what is doubted waits; each answer is used up before the next question. */
async function settleDoubts(engine: Engine): Promise<void> {
  const { deps, doubted } = engine;
  for (let [first] = doubted; first !== undefined; [first] = doubted) {
    const { own, found } = first;
    const missed = await seenElsewhere(deps, own, found);
    doubted.shift();
    if (missed.length === 0) keepFound(engine, own, [found]);
    // What the rule finds in what it missed is in doubt again.
    const next = missed.length === 0 ? [] : await judged(engine, own, missed);
    doubted.unshift(...next.map((one) => ({ own, found: one })));
  }
}

// What did not fit is durable: the rules begin anew from the cursor. Where rules were slower than events came, the one that
// took most goes.
async function recover(engine: Engine): Promise<void> {
  const { deps, running } = engine;
  const [costliest] = [...running.values()].sort((a, b) => b.cost().costMs - a.cost().costMs);
  Object.assign(engine, { batches: [], current: null, events: 0, isLost: false });
  if (costliest !== undefined && !engine.isAway) {
    const detail = 'all rules were slower than events came, and this one took most of the time';
    running.delete(costliest.row.ruleId);
    await deps.pause(costliest.row, { reason: 'too_costly', detail });
  }
  await beginAnew(engine, engine.judgedMs);
}

async function save(engine: Engine): Promise<void> {
  const { deps, running, batches, current, isStarted, isLost, cursors } = engine;
  const isFound = engine.waiting.length > 0 || engine.doubted.length > 0;
  if (!isStarted || isLost || engine.isInDoubt || isFound || running.size === 0) return;
  const oldestMs = (current ?? batches[0])?.receivedAtMs ?? Number.MAX_SAFE_INTEGER;
  const receivedMs = Math.min(deps.now() - RULE_CURSOR_LAG_MS, oldestMs - 1);
  engine.judgedMs = Math.max(engine.judgedMs, receivedMs);
  await cursors.advance(receivedMs);
}

function createTurns(): <T>(run: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (run) => {
    const next = last.then(run);
    last = next.catch(() => undefined);
    return next;
  };
}
