// The text of a heartbeat. Events go in as the JSON texts the spool keeps, so nothing is parsed or copied twice.
import type { HeartbeatRequest } from '../../machines/wire/heartbeat.ts';
import type { ClaimedBatch } from '../spool/spool-port.ts';
import type { Parts } from './parts.ts';

export const CAPABILITIES = ['events.zstd', 'inventory.delta', 'stream.v1'] as const;

/** The whole body as JSON text. */
export function heartbeatText(
  parts: Parts,
  given: {
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
    'events' | 'resources' | 'connections' | 'listening_services' | 'section_hashes'
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
    engine: facts.engine,
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
