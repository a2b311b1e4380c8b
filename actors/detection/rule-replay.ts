// Stored events as they arrived, for a rule that has to be brought up to date, and for a rule that is only tried: both see
// what live evaluation saw, in its order. decision: D131
import type { Condition } from '../../machines/detection/condition.ts';
import { wantsOf } from '../../machines/detection/event-wants.ts';
import type { CompiledRule } from '../../machines/detection/rule-compile.ts';
import { kindOf } from '../../machines/detection/rule-kinds/kinds.ts';
import {
  BACKTEST_PAGE_EVENTS,
  RULE_LATE_MS,
  RULE_REPLAY_PAGE_EVENTS,
} from '../../machines/limits.ts';
import type { StoredEvent } from '../../machines/wire/event.ts';
import type { AlertStore } from '../../storage/ports/detection/alert-store.ts';
import type { ArrivalPage, EventStore } from '../../storage/ports/telemetry/event-store.ts';

export type Arrivals = Pick<EventStore, 'arrivals'>;

type Range = {
  readonly fromMs: number;
  readonly toMs: number;
  readonly sensorId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** A try: only what the rule reads of events, and no page after so many. */
  readonly triedMax?: number;
};

/** Every stored event that can concern a rule, in the order of arrival, page by page. */
export function arrivalsFor(
  events: Arrivals,
  rule: CompiledRule,
  range: Range,
): AsyncGenerator<readonly StoredEvent[]> {
  return pagesOf(events, rule, { ...range, condition: conditionOf(rule) });
}

/** Those alone that meet a condition of it. */
export function meantFor(
  events: Arrivals,
  rule: CompiledRule,
  range: Range,
): AsyncGenerator<readonly StoredEvent[]> {
  return pagesOf(events, rule, { ...range, condition: eitherOf(rule) });
}

async function* pagesOf(
  events: Arrivals,
  rule: CompiledRule,
  range: Range & { readonly condition: Condition | null },
): AsyncGenerator<readonly StoredEvent[]> {
  const { condition } = range;
  const { fromMs, toMs, sensorId, signal, triedMax = Number.POSITIVE_INFINITY } = range;
  const isTry = range.triedMax !== undefined;
  const ask = (receivedFromMs: number): Promise<ArrivalPage> =>
    events.arrivals({
      ...{ receivedFromMs, receivedToMs: toMs },
      limit: isTry ? BACKTEST_PAGE_EVENTS : RULE_REPLAY_PAGE_EVENTS,
      ...(isTry ? { wants: wantsOf(rule) } : {}),
      ...(condition === null ? {} : { condition }),
      ...(sensorId === undefined ? {} : { sensorId }),
      ...(signal === undefined ? {} : { signal }),
    });
  let [told, ahead]: [number, Promise<ArrivalPage> | null] = [0, null];
  for (let nextMs: number | null = fromMs; nextMs !== null && told < triedMax; ) {
    const page: ArrivalPage = await (ahead ?? ask(nextMs));
    told += page.events.length;
    nextMs = page.toMs;
    if (isTry && nextMs !== null && told < triedMax) {
      // The store looks for the next page while this one is judged; whoever stops early does not hear how that ended.
      ahead = ask(nextMs);
      ahead.catch(() => undefined);
    }
    if (page.events.length > 0) yield page.events;
  }
}

/** From when on a rule has to see events again, so that its windows are as they were at an instant. */
export function replayFromMs(rule: CompiledRule, activeSinceMs: number, atMs: number): number {
  const isWindowed = rule.windowMs > 0;
  return Math.max(activeSinceMs, isWindowed ? atMs - 2 * rule.windowMs - RULE_LATE_MS : atMs);
}

/** Events of a page that alerts of the rule counted before; a rule that counts nothing need not know. */
export async function countedOf(
  inbox: Pick<AlertStore, 'counted'>,
  rule: CompiledRule,
  page: readonly StoredEvent[],
): Promise<ReadonlySet<string>> {
  if (!kindOf(rule.spec.detect).remembersCounted) return new Set();
  const matchIds = page.map((event) => event.event_id);
  return inbox.counted({ ruleId: rule.ruleId, matchIds });
}

function conditionOf(rule: CompiledRule): Condition | null {
  return kindOf(rule.spec.detect).seesAll ? null : eitherOf(rule);
}

function eitherOf({ conditions }: CompiledRule): Condition | null {
  const [first] = conditions;
  if (first === undefined) return null;
  return conditions.length === 1 ? first : { is: 'either', of: conditions };
}
