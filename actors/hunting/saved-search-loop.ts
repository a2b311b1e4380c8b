// Counts what saved searches match, and tells of each crossing of a threshold once. Only what was received since the last
// look is read, and only before the horizon, where nothing appears any more. A crossing is written before it is told, and
// told under the id that was written, so a crash in between tells it once all the same. decision: D60, D142, D152
import type { Alert } from '../../machines/console/delivery/alert.ts';
import { type Finding, findingOf } from '../../machines/console/detection/finding.ts';
import { bucketMsOf, windowFromMs } from '../../machines/console/hunting/saved-search.rules.ts';
import { type SavedSearch, searchQueryOf } from '../../machines/console/hunting/saved-search.ts';
import {
  type SavedSearchStanding,
  savedSearchAfter,
} from '../../machines/console/hunting/saved-search-standing.ts';
import {
  SAVED_SEARCH_CATCH_UP_MAX_MS,
  SAVED_SEARCH_IDS_MAX,
  SAVED_SEARCH_KEEP_MS,
  SAVED_SEARCH_LOOK_MS,
  SAVED_SEARCHES_MAX,
} from '../../machines/limits.ts';
import type { DocumentStore, HuntingDocument } from '../../storage/ports/hunting/document-store.ts';
import type { SinkFloors } from '../../storage/ports/siem/sink-floors.ts';
import {
  type EventStore,
  type ReceivedBucket,
  SearchTooLarge,
} from '../../storage/ports/telemetry/event-store.ts';
import type { DesignatedLoop } from '../loops/loop.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Chance } from '../trust/chance.ts';
import { questionOfFilter } from './search-filter.ts';

export const SAVED_SEARCH_LOOP = 'saved-search-notifications';

export type SavedSearchLoopDeps = {
  readonly searches: Pick<DocumentStore<SavedSearch>, 'list' | 'change'>;
  readonly events: Pick<EventStore, 'received'>;
  readonly horizon: SinkFloors['horizon'];
  /** Takes findings durably, each match once. */
  readonly raise: (findings: readonly Finding[], epoch: number) => Promise<unknown>;
  /** What live alerts of these keys told of is over. */
  readonly pass: (dedupKeys: readonly string[], epoch: number) => Promise<void>;
  readonly chance: Pick<Chance, 'newId'>;
  readonly baseUrl: () => string;
  readonly now: () => number;
  readonly logger: Logger;
};
type Search = HuntingDocument<SavedSearch>;
type Watch = NonNullable<SavedSearch['watch']>;
/** What was read since the row was written, while nothing came of it; worth nothing once the row or the tenure is another. */
type Memory = Map<
  string,
  { readonly epoch: number; readonly revision: number; readonly standing: SavedSearchStanding }
>;
type Run = { readonly epoch: number; readonly signal: AbortSignal };
type Watched = { readonly search: Search; readonly watch: Watch };

/** Makes the loop. */
export function createSavedSearchLoop(deps: SavedSearchLoopDeps): DesignatedLoop {
  const memory: Memory = new Map();
  return {
    name: SAVED_SEARCH_LOOP,
    runsOn: 'designated',
    everyMs: SAVED_SEARCH_LOOK_MS,
    async run(of) {
      const all = await deps.searches.list({ limit: SAVED_SEARCHES_MAX, before: null });
      let hasMore = false;
      for (const id of memory.keys()) if (!all.some((one) => one.id === id)) memory.delete(id);
      const watched = all.flatMap((search): readonly Watched[] =>
        search.body.watch === null ? [] : [{ search, watch: search.body.watch }],
      );
      if (watched.length === 0) return { hasMore };
      const horizonMs = await deps.horizon({ epoch: of.epoch, nowMs: deps.now() });
      for (const { search, watch } of watched) {
        of.signal.throwIfAborted();
        hasMore = (await lookAt(deps, search, { ...of, watch, memory, horizonMs })) || hasMore;
      }
      return { hasMore };
    },
  };
}

/** Whether there is more to read at once. */
async function lookAt(
  deps: SavedSearchLoopDeps,
  search: Search,
  of: Run & { readonly watch: Watch; readonly memory: Memory; readonly horizonMs: number },
): Promise<boolean> {
  const { id, revision } = search;
  const known = of.memory.get(id);
  const isKnown = known?.epoch === of.epoch && known.revision === revision;
  const standing = isKnown ? known.standing : search.body.standing;
  if (standing.state === 'telling') return tell(deps, search, of);
  if (standing.state === 'paused' || standing.state === 'halted') return false;
  const windowMs = of.watch.windowSecs * 1_000;
  const readToMs = of.horizonMs;
  const fromMs = Math.max(
    standing.readToMs ?? readToMs - windowMs,
    readToMs - Math.max(windowMs, SAVED_SEARCH_CATCH_UP_MAX_MS),
  );
  // A horizon that went back reads nothing twice.
  if (readToMs <= fromMs) return false;
  const found = await ask(deps, search.body, { fromMs, readToMs, windowMs, signal: of.signal });
  const next = found.isRefused
    ? savedSearchAfter(standing, { type: 'question.refused', reason: found.reason })
    : afterReading(standing, found.buckets, {
        ...{ readToMs, windowMs, threshold: of.watch.threshold, alertId: deps.chance.newId() },
      });
  if (isWorthless(search.body.standing, next)) {
    of.memory.set(id, { epoch: of.epoch, revision, standing: next });
    return false;
  }
  of.memory.delete(id);
  const kept = await keep(deps, search, next, of.epoch);
  if (kept === null) return false;
  if (next.state === 'halted') {
    deps.logger.warn({ search: search.id, reason: next.trouble }, 'a saved search was halted');
  }
  if (standing.state === 'above' && next.state === 'below' && standing.alertId !== null) {
    await deps.pass([keyOf(standing.alertId)], of.epoch);
  }
  return next.state === 'telling' ? tell(deps, kept, of) : false;
}

/** Whether reading again after a crash would find the same, soon enough. */
function isWorthless(written: SavedSearchStanding, next: SavedSearchStanding): boolean {
  return (
    written.readToMs !== null &&
    (next.readToMs ?? 0) - written.readToMs < SAVED_SEARCH_KEEP_MS &&
    next.state === written.state &&
    next.trouble === written.trouble &&
    next.matches === written.matches &&
    next.buckets.length === written.buckets.length
  );
}

type Asked =
  | { readonly isRefused: true; readonly reason: string }
  | { readonly isRefused: false; readonly buckets: readonly ReceivedBucket[] };

async function ask(
  deps: SavedSearchLoopDeps,
  { filter }: SavedSearch,
  of: {
    readonly fromMs: number;
    readonly readToMs: number;
    readonly windowMs: number;
    readonly signal: AbortSignal;
  },
): Promise<Asked> {
  const question = questionOfFilter(filter);
  if (!question.ok) return { isRefused: true, reason: question.detail };
  try {
    const buckets = await deps.events.received({
      ...question.question,
      ...{ receivedFromMs: of.fromMs, receivedToMs: of.readToMs, signal: of.signal },
      ...{ bucketMs: bucketMsOf(of.windowMs), idsMax: SAVED_SEARCH_IDS_MAX },
    });
    return { isRefused: false, buckets };
  } catch (error) {
    // A store that is away is asked again; a question that is too large stays too large.
    if (!(error instanceof SearchTooLarge)) throw error;
    return { isRefused: true, reason: error.message };
  }
}

/** Stretch by stretch, as it would have been read in time, up to the first crossing. */
function afterReading(
  standing: SavedSearchStanding,
  found: readonly ReceivedBucket[],
  of: {
    readonly readToMs: number;
    readonly windowMs: number;
    readonly threshold: number;
    readonly alertId: string;
  },
): SavedSearchStanding {
  const bucketMs = bucketMsOf(of.windowMs);
  let next = standing;
  for (const bucket of found) {
    // What left the window before it is judged before it.
    if (bucket.fromMs > (next.readToMs ?? 0)) {
      const before = { ...of, readToMs: bucket.fromMs, found: [] };
      next = savedSearchAfter(next, { type: 'matches.read', ...before });
    }
    const readToMs = Math.min(bucket.fromMs + bucketMs, of.readToMs);
    next = savedSearchAfter(next, { type: 'matches.read', ...of, readToMs, found: [bucket] });
    if (next.state === 'telling') return next;
  }
  return savedSearchAfter(next, { type: 'matches.read', ...of, found: [] });
}

async function tell(
  deps: SavedSearchLoopDeps,
  search: Search,
  of: Run & { readonly watch: Watch },
): Promise<boolean> {
  const { standing } = search.body;
  if (standing.alertId === null) return false;
  const alert = alertOf(deps, search, of.watch);
  await deps.raise([findingOf(alert, standing.alertId)], of.epoch);
  const next = savedSearchAfter(standing, { type: 'alert.taken', atMs: deps.now() });
  // There may be more than was read up to the crossing.
  return (await keep(deps, search, next, of.epoch)) !== null;
}

/** Null when somebody changed it meanwhile: the next look begins with what it is then. */
async function keep(
  deps: SavedSearchLoopDeps,
  search: Search,
  standing: SavedSearchStanding,
  epoch: number,
): Promise<Search | null> {
  if (standing === search.body.standing) return search;
  const { id, revision } = search;
  const body = { ...search.body, standing };
  const changed = await deps.searches.change({ epoch, nowMs: deps.now(), id, revision, body });
  return typeof changed === 'string' ? null : changed;
}

// Each crossing is an alert of its own.
function keyOf(alertId: string): string {
  return `saved_search_match ${alertId}`;
}

function alertOf(deps: SavedSearchLoopDeps, { id, body }: Search, watch: Watch): Alert {
  const { name, filter, standing } = body;
  const { threshold, windowSecs, severity } = watch;
  const atMs = standing.crossedAtMs ?? deps.now();
  const from = new Date(windowFromMs(atMs, windowSecs * 1_000)).toISOString();
  const query = searchQueryOf(filter, { from, to: new Date(atMs).toISOString() });
  const matchCount = standing.crossedWith;
  const alertId = standing.alertId ?? '';
  const { sensor_id: sensorId = 'fleet' } = filter;
  return {
    ...{ alertId, kind: 'saved_search_match', source: 'saved_search', severity, ruleId: id },
    ...{ sensorId, nodeName: sensorId, headline: name, occurredAtMs: atMs, observedAtMs: null },
    detail: `${matchCount} matches in ${windowSecs} s (threshold ${threshold})`,
    dedupKey: keyOf(alertId),
    ...{ texts: {}, tags: [], groupIds: [], relatedEventCount: matchCount },
    search: {
      ...{ searchId: id, searchName: name, matchCount, windowSecs, threshold },
      eventSearchUrl: `${deps.baseUrl()}/events?${query}`,
    },
  };
}
