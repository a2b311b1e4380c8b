// The reference baseline store; scores are read out of the events, as the real store's view does.
import type { AnomalyScore, BaselineStore, StoredBaseline } from '../ports/baseline-store.ts';
import { storedEventOf } from '../ports/stored-event.ts';
import type { EventRows } from './event-rows.ts';
import type { Calls } from './unsafe-port-of.ts';

/** The calls on a store without baselines, over the events of a store. */
export function baselineCalls(events: Pick<EventRows, 'batches'>): Calls<BaselineStore> {
  const known = new Map<string, Map<string, StoredBaseline>>();

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
      const own = known.get(sensorId) ?? new Map<string, StoredBaseline>();
      known.set(sensorId, own);
      for (const one of baselines) {
        own.set(one.binary, { ...structuredClone(one), storedAtMs: nowMs });
      }
      for (const binary of forgotten) own.delete(binary);
    },
    baselinesOf: ({ sensorId, limit, afterBinary }) =>
      [...(known.get(sensorId)?.values() ?? [])]
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
