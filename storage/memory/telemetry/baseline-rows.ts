// The reference baseline store: of a program the row of the latest time counts, as in the real store; scores are read out
// of the events, as the real store's view does.
import type { Baseline } from '../../../machines/wire/baseline.ts';
import type {
  AnomalyScore,
  BaselineStore,
  StoredBaseline,
} from '../../ports/telemetry/baseline-store.ts';
import { storedEventOf } from '../../ports/telemetry/stored-event.ts';
import type { Calls } from '../plumbing/unsafe-port-of.ts';
import type { EventRows } from './event-rows.ts';

/** The newest of a program, by the time it was stored under; null when it was forgotten. */
type Row = { readonly baseline: Baseline | null; readonly storedAtMs: number };

/** The calls on a store without baselines, over the events of a store. */
export function baselineCalls(events: Pick<EventRows, 'batches'>): Calls<BaselineStore> {
  const known = new Map<string, Map<string, Row>>();

  function scoresOf(sensorId: string): readonly AnomalyScore[] {
    const scores = new Map<string, AnomalyScore>();
    for (const batch of events.batches()) {
      if (batch.sensorId !== sensorId) continue;
      for (const event of batch.events) {
        if (event.anomaly_score === undefined) continue;
        const { event_id: eventId, observed_at: at } = storedEventOf(batch, event);
        const own = { sensorId, at, eventId, eventKind: event.event_kind };
        const binary = event.process?.binary ?? '';
        scores.set(eventId, { ...own, binary, score: event.anomaly_score });
      }
    }
    return [...scores.values()];
  }

  return {
    put({ sensorId, baselines, forgotten, nowMs }) {
      const own = known.get(sensorId) ?? new Map<string, Row>();
      known.set(sensorId, own);
      const write = (binary: string, baseline: Baseline | null): void => {
        if ((own.get(binary)?.storedAtMs ?? 0) > nowMs) return;
        own.set(binary, { baseline, storedAtMs: nowMs });
      };
      for (const one of baselines) write(one.binary, structuredClone(one));
      for (const binary of forgotten) write(binary, null);
    },
    baselinesOf: ({ sensorId, binary: only, limit, afterBinary }) =>
      [...(known.get(sensorId)?.values() ?? [])]
        .flatMap(({ baseline, storedAtMs }): StoredBaseline[] =>
          baseline === null ? [] : [{ ...baseline, storedAtMs }],
        )
        .filter(({ binary }) => only === undefined || binary === only)
        .filter(({ binary }) => afterBinary === null || binary > afterBinary)
        .sort((a, b) => (a.binary < b.binary ? -1 : 1))
        .slice(0, limit),
    scoresOf: ({ sensorId, fromMs, toMs, atLeast, limit }) =>
      scoresOf(sensorId)
        .filter(({ score }) => score >= atLeast)
        .filter(({ at }) => Date.parse(at) >= fromMs && Date.parse(at) < toMs)
        .sort((a, b) => (a.at < b.at || (a.at === b.at && a.eventId < b.eventId) ? 1 : -1))
        .slice(0, limit),
  };
}
