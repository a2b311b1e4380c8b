// What the engine says, within its share of a heartbeat.
import { HEARTBEAT_BODY_MAX_BYTES } from '../../../machines/limits.ts';
import type { EngineReport } from '../../../machines/wire/heartbeat.ts';
import { fittingCount } from '../../telemetry/shortened.ts';

const ENGINE_MAX_BYTES = HEARTBEAT_BODY_MAX_BYTES / 8;
/** Of a reason, when all of them are too long. */
const REASON_MAX_CHARS = 64;

/** What the engine says as it is, unless it is too long: then with short reasons and the first of its lists. */
export function engineWithin(
  engine: EngineReport,
  bytesMax: number = ENGINE_MAX_BYTES,
): EngineReport {
  if (Buffer.byteLength(JSON.stringify(engine)) <= bytesMax) return engine;
  // Beside both lists stands little.
  const room = Math.floor(bytesMax / 2) - 512;
  const first = <One extends { readonly reason?: string }>(list: readonly One[]): One[] => {
    const short = list.map((one) =>
      one.reason === undefined ? one : { ...one, reason: one.reason.slice(0, REASON_MAX_CHARS) },
    );
    const texts = short.map((one) => JSON.stringify(one));
    return short.slice(0, fittingCount(texts, room));
  };
  return {
    ...engine,
    disabled_hooks: first(engine.disabled_hooks),
    loaded_policies: first(engine.loaded_policies),
  };
}
