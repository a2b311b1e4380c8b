// Saved searches tell each crossing once. Every alert stands for a moment at which enough starts were received within the
// window; between two of them the starts fell well below the threshold; and a window that was full was told. Counted from
// the starts that nodes made, each once within a window: one that a node sends again much later may count again. Excuses
// for what is missing: what was stored too late after its receipt, a store that forgot, a clock that was set.
// decision: D142, D165
import type { KeptSearch } from '../world/observation.ts';
import type { CheckerKind } from './checker.ts';
import { type DurableEvent, durableEventsOf, storingMs } from './durable-events.ts';

const EVERYTHING = { limit: Number.MAX_SAFE_INTEGER, before: null } as const;
const SECOND_MS = 1_000;
const BUCKETS = 60;
const CALM = 0.8;
/** A store that refused something may write it all the same, for so long: looks wait for it. */
const SETTLE_MS = 60_000;
/** A Console that died has promised something for so long, and looks wait for it. */
const WAITS_MS = 180_000;

const isBetween = ({ receivedMs }: DurableEvent, fromMs: number, toMs: number): boolean =>
  receivedMs >= fromMs && receivedMs < toMs;

export const searchEdges: CheckerKind = {
  name: 'search-edges',
  promise: 'A saved search tells each crossing of its threshold once.',
  make(fleet, report) {
    const events = durableEventsOf(fleet);
    const asked = new Map<string, KeptSearch>();
    const told = new Map<string, { readonly search: KeptSearch; readonly createdMs: number }>();

    function judge(
      id: string,
      { search, createdMs }: { readonly search: KeptSearch; readonly createdMs: number },
    ): void {
      const isMeant = ({ started }: DurableEvent) => started === search.binary;
      const all = events.receipts().filter(isMeant);
      const sureToMs = events.nowMs() - WAITS_MS;
      const isSure = (one: DurableEvent) =>
        isMeant(one) && storingMs(one) <= SETTLE_MS && one.storedMs <= sureToMs;
      const sure = events.arrived().filter(isSure);
      const bucketMs = Math.max(1, Math.ceil(search.windowMs / BUCKETS / SECOND_MS)) * SECOND_MS;
      const startOf = (ms: number) => Math.floor(ms / bucketMs) * bucketMs;
      const within = (list: readonly DurableEvent[], fromMs: number, toMs: number) =>
        new Set(list.filter((one) => isBetween(one, fromMs, toMs)).map(({ id }) => id)).size;
      const rows = fleet.stores.relational.inbox.list({ ruleId: id, ...EVERYTHING });
      // One that a person opened again counts nothing of its own.
      const found = rows.filter(({ count }) => count > 0);
      const crossings = found.map(({ alert }) => alert.occurredAtMs).sort((a, b) => a - b);
      for (const atMs of crossings) {
        const most = within(all, startOf(atMs - search.windowMs), atMs);
        if (most < search.threshold && !events.hasJumped())
          report(`${search.name} tells of a crossing at ${atMs}, with ${most} starts`);
      }
      if (events.hasForgotten() || events.hasJumped()) return;
      const calm = Math.floor(search.threshold * CALM);
      /** Whether it may have been calm at a border of two stretches from `fromMs` on, up to `toMs`. */
      const mayBeCalm = (fromMs: number, toMs: number): boolean => {
        for (let ms = startOf(fromMs + bucketMs - 1); ms <= toMs; ms += bucketMs) {
          if (within(sure, Math.max(createdMs, startOf(ms - search.windowMs)), ms) <= calm)
            return true;
        }
        return false;
      };
      for (const [place, atMs] of crossings.entries()) {
        const next = crossings[place + 1];
        if (next !== undefined && !mayBeCalm(atMs, next))
          report(`${search.name} tells one crossing twice, at ${atMs} and at ${next}`);
      }
      const full = sure.find(({ receivedMs }) => {
        if (receivedMs - search.windowMs < createdMs) return false;
        return (
          within(sure, startOf(receivedMs - search.windowMs) + bucketMs, receivedMs + 1) >=
          search.threshold
        );
      });
      const isTold = crossings.some((atMs) => atMs <= (full?.receivedMs ?? 0) + bucketMs);
      if (full !== undefined && !isTold)
        report(`${search.name} was full at ${full.receivedMs}, and nothing was told by then`);
    }

    return {
      observe(seen) {
        if (seen.kind === 'search.asked') asked.set(seen.search.name, seen.search);
        if (seen.kind !== 'search.told') return;
        const search = asked.get(seen.name);
        if (search !== undefined) told.set(seen.search, { search, createdMs: seen.createdMs });
      },
      finish() {
        for (const [id, one] of told) judge(id, one);
      },
    };
  },
};
