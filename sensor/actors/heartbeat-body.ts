// The text of a heartbeat. Events go in as the JSON texts the spool keeps, so nothing is parsed or copied twice. Each part
// has its share of the body, in bytes of JSON: events half, sockets a quarter, what the engine says an eighth, flows a
// sixteenth; the rest is short. So no part makes a Console refuse a body for its length and with it events that are good.
import { HEARTBEAT_BODY_MAX_BYTES } from '../../machines/limits.ts';
import type { EngineReport, HeartbeatRequest } from '../../machines/wire/heartbeat.ts';
import type { ClaimedBatch, Spool } from '../spool/spool-port.ts';
import { fittingCount } from '../telemetry/shortened.ts';
import type { Parts } from './parts.ts';

export const CAPABILITIES = ['events.zstd', 'inventory.delta', 'stream.v1'] as const;

const ENGINE_MAX_BYTES = HEARTBEAT_BODY_MAX_BYTES / 8;
/** Of a reason, when all of them are too long. */
const REASON_MAX_CHARS = 64;

type BodyParts = Pick<
  Parts,
  'bootId' | 'config' | 'facts' | 'losses' | 'now' | 'system' | 'version'
> & { readonly spool: Pick<Spool, 'depth' | 'discarded' | 'ledger' | 'streamId'> };

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

/** The whole body as JSON text. */
export function heartbeatText(
  parts: BodyParts,
  given: {
    readonly engine: EngineReport;
    readonly batch: ClaimedBatch | null;
    readonly sequence: number;
    readonly resources: object;
    /** Members of the body as JSON text, without braces. */
    readonly sockets: string;
    readonly flows: HeartbeatRequest['flows'];
  },
): string {
  const { facts, config, spool } = parts;
  const body: Omit<
    HeartbeatRequest,
    | 'events'
    | 'resources'
    | 'connections'
    | 'listening_services'
    | 'section_hashes'
    | 'section_totals'
  > = {
    stream_id: spool.streamId,
    sequence: given.sequence,
    sent_at: new Date(parts.now()).toISOString(),
    boot_id: parts.bootId,
    sensor: {
      version: parts.version,
      flavor: config.flavor,
      ...(config.declaredRole === null ? {} : { declared_role: config.declaredRole }),
      capabilities: [...CAPABILITIES],
    },
    engine: given.engine,
    trust: facts.trust,
    flows: given.flows,
    loss: parts.losses.next(spool.ledger()),
    system: parts.system,
    pipeline: {
      ...facts.pipeline,
      spool_depth: spool.depth(),
      discarded: spool.discarded(),
    },
  };
  const rest = JSON.stringify({ ...body, resources: given.resources });
  return `{"events":[${given.batch?.lines.join(',') ?? ''}],${given.sockets},${rest.slice(1)}`;
}
