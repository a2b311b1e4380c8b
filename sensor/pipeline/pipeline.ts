// From lines to events that say all the Sensor knows: normalised, placed in their workload, connections by the name they
// were looked up by, named by technique, bursts folded, and judged against the habits of their program. Each step is a
// transform of its own; this file is their order. decision: D47
import { MONITORED_TAG, type RuntimeEvent } from '../../machines/wire/event.ts';
import type { Profile } from './baseline-profile.ts';
import { type Baselines, createBaselines, type LearningLimits } from './baselines.ts';
import { foldBursts } from './bursts.ts';
import { createDnsNames } from './dns-names.ts';
import { messageWith } from './event-message.ts';
import { mitreOf } from './mitre.ts';
import type { NodeContext } from './node-context.ts';
import { type NormaliseContext, normalise } from './normalise.ts';
import { createPlaces, type Looks } from './places.ts';
import { createProcessCache } from './process-cache.ts';

export type PipelineBatch = {
  readonly events: readonly RuntimeEvent[];
  /** Lines that became an event; the others were refused. */
  readonly normalized: number;
  /** Events that stand inside others now. */
  readonly aggregated: number;
  /** Events of which a policy that only monitors would have stopped the doer. */
  readonly monitored: number;
  /** The lines in which the engine told of losses of its own. */
  readonly lossLines: readonly string[];
};
export type Pipeline = {
  /** Turns lines into events, in order. The looks are shared by the calls of one tick. Never rejects. */
  take(
    lines: readonly string[],
    given: {
      readonly sensorId: string;
      readonly nowMs: number;
      readonly looks: Looks;
      readonly monitors?: NormaliseContext['monitors'];
    },
  ): Promise<PipelineBatch>;
  readonly baselines: Baselines;
};
type Reading = Extract<ReturnType<typeof normalise>, { ok: true }>;
type Readings = { readonly readings: readonly Reading[]; readonly lossLines: readonly string[] };

/** Makes a pipeline that knows nothing yet but the habits that were saved. */
export function createPipeline(
  context: NodeContext,
  saved?: ReadonlyMap<string, Profile>,
  learning?: LearningLimits,
): Pipeline {
  const cache = createProcessCache();
  const places = createPlaces(context, cache);
  const names = createDnsNames();
  const baselines = createBaselines(saved, learning);

  function read(
    lines: readonly string[],
    told: Pick<NormaliseContext, 'sensorId' | 'monitors'>,
  ): Readings {
    const within: NormaliseContext = { ...told, cache };
    const readings: Reading[] = [];
    const lossLines: string[] = [];
    for (const line of lines) {
      const result = normalise(line, within);
      if (!result.ok) continue;
      readings.push(result);
      if (result.event.event_kind === 'engine_loss') lossLines.push(line);
    }
    return { readings, lossLines };
  }

  function enrich({ event: told, answers, parentExecId }: Reading, nowMs: number): RuntimeEvent {
    const atMs = timeOf(told, nowMs);
    const placed = cache.withAncestry(places.placed(told), parentExecId);
    // As placed, since a connection is named by the answers of the namespace that it is placed in.
    names.learn(placed, answers, atMs);
    const event = names.named(placed, atMs);
    const mitre = mitreOf(event);
    return mitre === undefined ? event : { ...event, mitre };
  }

  function judge(event: RuntimeEvent, nowMs: number): RuntimeEvent {
    const { score, unusual } = baselines.judge(event, timeOf(event, nowMs));
    if (score === null) return event;
    const judged = { ...event, anomaly_score: score };
    if (unusual.length === 0) return judged;
    return { ...judged, message: messageWith(event.message, `; unusual: ${unusual.join(', ')}`) };
  }

  return {
    async take(lines, { sensorId, nowMs, looks, monitors }) {
      const { readings, lossLines } = read(lines, { sensorId, monitors });
      if (looks.left > 0) await places.fill(readings, looks);
      const enriched = readings.map((reading) => enrich(reading, nowMs));
      const { events, aggregated } = foldBursts(enriched);
      return {
        events: events.map((event) => judge(event, nowMs)),
        normalized: readings.length,
        aggregated,
        monitored: readings.filter(isMonitored).length,
        lossLines,
      };
    },
    baselines,
  };
}

function isMonitored({ event }: Reading): boolean {
  return event.policy?.action.startsWith(MONITORED_TAG) === true;
}

/** When it happened, but never in the future: what is remembered by time would be forgotten at once. */
function timeOf(event: RuntimeEvent, nowMs: number): number {
  return Math.min(Date.parse(event.observed_at), nowMs);
}
