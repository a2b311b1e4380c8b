// What alerts count. At the end every event that became durable and that a rule looks for is in exactly one alert's count,
// and no alert counts anything else: not what another program did, not what happened before the rule was asked for, not
// what a muted sensor did. Truth are the programs of the nodes and the words of the keeper. Excuses: what a rule was told
// about within an hour of a change, what was stored later after its receipt than a Console promises to wait, a store that
// forgot, a clock that was set. What a node sends again happens for a rule when it is received again.
// invariant: I19; decision: D130, D131, D165
import type { KeptRule } from '../world/observation.ts';
import type { CheckerKind, FleetView } from './checker.ts';
import { type DurableEvent, durableEventsOf } from './durable-events.ts';
import {
  isMeant,
  isMutedFor,
  keptRulesOf,
  mustJudge,
  pauseOf,
  type RuleHistory,
} from './kept-rules.ts';

const EVERYTHING = { limit: Number.MAX_SAFE_INTEGER, before: null } as const;
const SLACK_MS = 60_000;
const MANY = 6_000;

export const alertCounts: CheckerKind = {
  name: 'alert-counts',
  promise: 'Each durable event that a rule looks for is in exactly one count, and nothing else is.',
  make(fleet, report) {
    const events = durableEventsOf(fleet);
    const rules = keptRulesOf(fleet);
    let disturbedMs = 0;

    function isSentAgain({ id }: DurableEvent, isBefore: (one: DurableEvent) => boolean): boolean {
      return events.receipts().some((one) => one.id === id && !isBefore(one));
    }

    function judgeCounted(own: RuleHistory, event: DurableEvent | undefined, id: string): void {
      const { rule, askedMs } = own;
      const isBefore = (one: DurableEvent): boolean => one.storedMs < askedMs - SLACK_MS;
      if (event === undefined) report(`rule ${rule.id} counts ${id}, which never became durable`);
      else if (!isMeant(rule, event)) report(`rule ${rule.id} counts ${id}: ${event.started}`);
      else if (isBefore(event) && !isSentAgain(event, isBefore) && !events.hasJumped())
        report(`rule ${rule.id} counts ${id}, stored long before anybody asked for the rule`);
      else if (
        isMutedFor(own, event, event.storedMs - SLACK_MS) &&
        disturbedMs < event.storedMs - 10 * SLACK_MS
      )
        report(`rule ${rule.id} counts ${id} of ${event.sensor}, which is muted`);
    }

    function judgeMatches(own: RuleHistory): void {
      const { rule } = own;
      const counted = countedBy(fleet, rule.id, report);
      for (const id of counted.keys()) judgeCounted(own, events.all.get(id), id);
      if (rule.detects !== 'match' && rule.detects !== 'fleet_match') return;
      const meant = events.arrived().filter((one) => isMeant(rule, one));
      if (pauseOf(fleet, rule.id) !== null) {
        if (meant.length < MANY) report(`rule ${rule.id} is paused: ${pauseOf(fleet, rule.id)}`);
        return;
      }
      const missed = meant.filter((one) => !counted.has(one.id) && mustJudge(own, events, one));
      const [first] = missed;
      if (first === undefined) return;
      const when = `received ${first.receivedMs}, stored at ${first.storedMs}`;
      report(`rule ${rule.id} missed ${missed.length} of ${meant.length}: ${first.id}, ${when}`);
    }

    return {
      probe(atMs) {
        if (fleet.isDisturbed()) disturbedMs = atMs;
      },
      finish() {
        for (const own of rules.values()) {
          if (own.rule.detects === 'absence') judgeAbsences(fleet, own.rule, report);
          else judgeMatches(own);
        }
      },
    };
  },
};

// What is absent has no event: its name is an instant at which the sensor was seen, with nothing in the window after it.
function judgeAbsences(fleet: FleetView, rule: KeptRule, report: (detail: string) => void): void {
  const events = durableEventsOf(fleet);
  const { inbox } = fleet.stores.relational;
  const rows = inbox.list({ ruleId: rule.id, ...EVERYTHING });
  const bySensor = Map.groupBy(events.arrived(), ({ sensor }) => sensor);
  for (const [sensor, all] of bySensor) {
    const names = new Map(all.map((one) => [`absence ${sensor} ${one.observedMs}`, one]));
    const found = inbox.counted({ ruleId: rule.id, matchIds: [...names.keys()] });
    const counts = rows.filter(({ alert }) => alert.sensorId === sensor);
    const total = counts.reduce((sum, { count }) => sum + count, 0);
    if (total !== found.size)
      report(`${total} absences of ${sensor} are counted, and ${found.size} of them can be`);
    for (const name of found) {
      const since = names.get(name)?.observedMs ?? 0;
      const endMs = since + rule.windowMs;
      const proof = all.find(({ observedMs }) => observedMs >= endMs + SLACK_MS);
      const against = all.find(
        (one) =>
          isMeant(rule, one) &&
          one.observedMs > since &&
          one.observedMs <= endMs &&
          one.receivedMs < (proof?.receivedMs ?? 0),
      );
      if (proof === undefined && !events.hasForgotten())
        report(`${name}: nothing was seen of the sensor after the window`);
      else if (against !== undefined && !events.hasJumped())
        report(`${name}: ${against.id} was there, within the window`);
    }
  }
}

/** The events that alerts of a rule count, with the alert; each alert's count is the number of its events. */
export function countedBy(
  { stores }: FleetView,
  ruleId: string,
  report: (detail: string) => void = () => undefined,
): ReadonlyMap<string, string> {
  const { inbox } = stores.relational;
  const counted = new Map<string, string>();
  for (const { alert, count } of inbox.list({ ruleId, ...EVERYTHING })) {
    const { alertId } = alert;
    const own = inbox.events({ alertId, ...EVERYTHING });
    if (own.length !== count)
      report(`alert ${alertId} counts ${count} and has ${own.length} events`);
    for (const { matchId } of own) {
      const other = counted.get(matchId);
      if (other !== undefined) report(`${matchId} is counted in ${other} and in ${alertId}`);
      counted.set(matchId, alertId);
    }
  }
  return counted;
}
