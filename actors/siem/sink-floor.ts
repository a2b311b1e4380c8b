// What this Console promises of the events that it stores: none was received before its floor. A batch that would break the
// promise is filed under the floor instead; the floor waits for what is being stored, and for a while for what the store may
// yet write although it said no. decision: D152; invariant: I10
import { SINK_FLOOR_TELL_MS, SINK_LATE_WRITE_MS } from '../../machines/limits.ts';
import type { SinkFloors } from '../../storage/ports/siem/sink-floors.ts';
import type { EventBatch, EventSink } from '../../storage/ports/telemetry/event-store.ts';
import { processLoop, type UpkeepLoop } from '../loops/loop.ts';
import type { Logger } from '../runtime/logger.ts';

export type SinkFloor = {
  /** The sink that keeps the promise. */
  readonly sink: EventSink;
  readonly loop: UpkeepLoop;
  /** Begins to promise; before the first event. Rejects with StoreUnavailable. */
  join(): Promise<void>;
  /** Ends the promise when nothing is under way; otherwise it ends by itself. Never rejects. */
  leave(): Promise<void>;
};
/** What a store said no to, by the second in which it did. */
type Unsure = { readonly floorMs: number; readonly untilMs: number };
const UNSURE_STEP_MS = 1_000;
const UNSURE_MAX = SINK_LATE_WRITE_MS / UNSURE_STEP_MS + 1;

/** Wraps a sink. `life` names this run of this Console, and no other. */
export function createSinkFloor(deps: {
  readonly sink: EventSink;
  readonly floors: SinkFloors;
  readonly life: string;
  readonly now: () => number;
  readonly monotonicNow: () => number;
  readonly logger: Logger;
}): SinkFloor {
  const { sink, floors, life, logger } = deps;
  const underWay = new Map<object, number>();
  let unsure: readonly Unsure[] = [];
  let promisedMs = 0;
  let databaseMs = 0;

  function noteUnsure(receivedAtMs: number): void {
    const step = Math.floor(deps.monotonicNow() / UNSURE_STEP_MS) + 1;
    const untilMs = step * UNSURE_STEP_MS + SINK_LATE_WRITE_MS;
    const last = unsure.at(-1);
    if (last?.untilMs === untilMs) {
      unsure = [...unsure.slice(0, -1), { floorMs: Math.min(last.floorMs, receivedAtMs), untilMs }];
    } else unsure = [...unsure.slice(-UNSURE_MAX), { floorMs: receivedAtMs, untilMs }];
  }

  function raised(): number {
    const nowMs = deps.monotonicNow();
    unsure = unsure.filter(({ untilMs }) => untilMs > nowMs);
    let lowest = Math.min(deps.now(), databaseMs);
    for (const receivedAtMs of underWay.values()) lowest = Math.min(lowest, receivedAtMs);
    for (const { floorMs } of unsure) lowest = Math.min(lowest, floorMs);
    promisedMs = Math.max(promisedMs, Math.floor(lowest));
    return promisedMs;
  }

  async function tell(): Promise<void> {
    const before = promisedMs;
    const told = await floors.tell({ life, nowMs: deps.now(), floorMs: raised() });
    if (told !== 'unknown') {
      databaseMs = told;
      return;
    }
    logger.warn({ sinceMs: before }, 'this Console was left out of the horizon; cursors go back');
    await floors.join({ life, nowMs: deps.now(), sinceMs: before });
  }

  return {
    sink: {
      ...sink,
      async append(batch) {
        const filed = filedAt(batch, promisedMs);
        const key = {};
        underWay.set(key, filed.receivedAtMs);
        const outcome = await sink.append(filed);
        underWay.delete(key);
        if (!outcome.ok) noteUnsure(filed.receivedAtMs);
        return outcome;
      },
    },
    loop: processLoop('sink-floor', SINK_FLOOR_TELL_MS, tell),
    async join() {
      promisedMs = await floors.join({ life, nowMs: deps.now(), sinceMs: null });
      databaseMs = promisedMs;
    },
    async leave() {
      if (underWay.size > 0 || unsure.length > 0) return;
      await floors.leave({ life }).catch(() => undefined);
    },
  };
}

function filedAt(batch: EventBatch, floorMs: number): EventBatch {
  return batch.receivedAtMs >= floorMs ? batch : { ...batch, receivedAtMs: floorMs };
}
