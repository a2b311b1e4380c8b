// Rules as their keeper asked for them and heard of them, for the checkers of what they find. Truth comes from the keeper
// alone; while an answer is missing both may stand. decision: D165
import type { KeptRule } from '../world/observation.ts';
import type { FleetView } from './checker.ts';
import { type DurableEvent, type DurableEvents, storingMs } from './durable-events.ts';

type Word = { readonly atMs: number; readonly muted: string | null; readonly isTold: boolean };
export type RuleHistory = {
  readonly rule: KeptRule;
  /** When it was asked for first: true time. */
  readonly askedMs: number;
  /** By the Console's clock; null as long as nobody was told. */
  activeMs: number | null;
  readonly words: Word[];
};

const known = new WeakMap<FleetView, ReadonlyMap<string, RuleHistory>>();
const MINUTE_MS = 60_000;
/** Around a change of a rule either version may have judged: as long as a store may have been away before it. */
const AROUND_CHANGE_MS = 60 * MINUTE_MS;
/** What is stored longer after its receipt than this may be passed over at the next start. */
const LATE_STORED_MS = 45_000;
/** A store that refused something may write it all the same, for so long: what is over the fleet is read after that. */
const FLEET_LATE_MS = 60_000;
/** A Console that died has promised something for so long, and what is over the fleet waits for it. */
const FLEET_WAITS_MS = 3 * MINUTE_MS;

/** Follows a fleet; the same for all checkers of it. */
export function keptRulesOf(fleet: FleetView): ReadonlyMap<string, RuleHistory> {
  const before = known.get(fleet);
  if (before !== undefined) return before;
  const rules = new Map<string, RuleHistory>();
  if (fleet.keepers > 0) {
    fleet.world.subscribe((seen, atMs) => {
      if (seen.kind === 'rule.asked') {
        const { rule, muted } = seen;
        const own = rules.get(rule.id) ?? { rule, askedMs: atMs, activeMs: null, words: [] };
        own.words.push({ atMs, muted, isTold: false });
        rules.set(rule.id, own);
      }
      if (seen.kind === 'relational.forgot') {
        for (const own of rules.values()) forget(own, seen.sinceMs);
      }
      if (seen.kind !== 'rule.told') return;
      const own = rules.get(seen.rule);
      if (own === undefined) return;
      own.activeMs ??= seen.activeMs;
      own.words.push({ atMs, muted: seen.muted, isTold: true });
    });
  }
  known.set(fleet, rules);
  return rules;
}

/** What was told after the instant is in doubt; a rule that nobody was told of before has to be found nowhere. */
function forget(own: RuleHistory, sinceMs: number): void {
  const left = own.words.filter(({ isTold, atMs }) => !isTold || atMs <= sinceMs);
  own.words.splice(0, own.words.length, ...left);
  if (!left.some(({ isTold }) => isTold)) own.activeMs = null;
}

/** Whether a rule looks for this event, in any of its steps. */
export function isMeant({ binaries }: KeptRule, { started }: DurableEvent): boolean {
  return binaries.includes(started);
}

/** Whether an event has to be judged by the rule, with nothing that could excuse it. */
export function mustJudge(
  { rule, activeMs, words }: RuleHistory,
  events: Pick<DurableEvents, 'hasForgotten' | 'hasJumped' | 'nowMs' | 'wasAcknowledged'>,
  event: DurableEvent,
): boolean {
  if (!events.wasAcknowledged(event.id)) return false;
  if (activeMs === null || events.hasForgotten() || events.hasJumped()) return false;
  const isOverFleet = rule.detects === 'fleet_match';
  const lateMs = isOverFleet ? FLEET_LATE_MS : LATE_STORED_MS;
  if (isOverFleet && event.storedMs > events.nowMs() - FLEET_WAITS_MS) return false;
  if (storingMs(event) > lateMs || event.receivedMs < activeMs + MINUTE_MS) return false;
  const last = words.findLast(({ atMs }) => atMs <= event.storedMs);
  const isChanging = words
    .slice(2)
    .some(({ atMs }) => Math.abs(atMs - event.storedMs) < AROUND_CHANGE_MS);
  return last?.isTold === true && last.muted !== event.sensor && !isChanging;
}

/** Whether an event was stored long after somebody was told that its sensor is muted, and nobody asked since. */
export function isMutedFor({ words }: RuleHistory, event: DurableEvent, sinceMs: number): boolean {
  const last = words.findLast(({ atMs }) => atMs <= event.storedMs);
  return last?.isTold === true && last.muted === event.sensor && last.atMs < sinceMs;
}

/** Why the Console paused a rule; null when it runs. */
export function pauseOf({ stores }: FleetView, ruleId: string): string | null {
  const row = stores.relational.rules.list().find((one) => one.ruleId === ruleId);
  return row?.pause?.reason ?? null;
}
