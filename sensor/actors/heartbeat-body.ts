// The text of a heartbeat. Events go in as the JSON texts the spool keeps, so nothing is parsed or copied twice; what the
// capabilities tell comes as text, too. Each part has its share of the body, in bytes of JSON: events half, sockets a
// quarter, what the engine says an eighth, flows a sixteenth, policies a thirty-second; the rest is short. So no part makes a Console refuse a body
// for its length and with it events that are good.
import type { HeartbeatRequest } from '../../machines/wire/heartbeat.ts';
import type { ClaimedBatch, Spool } from '../spool/spool-port.ts';
import type { Parts } from './parts.ts';

type BodyParts = Pick<Parts, 'bootId' | 'config' | 'facts' | 'now' | 'system' | 'version'> & {
  readonly spool: Pick<Spool, 'depth' | 'discarded' | 'streamId'>;
};
type OwnFields =
  | 'stream_id'
  | 'sequence'
  | 'sent_at'
  | 'boot_id'
  | 'sensor'
  | 'system'
  | 'pipeline';

/** Members of a heartbeat's body as JSON text, without its braces. */
export function membersText(
  members: Partial<Omit<HeartbeatRequest, OwnFields | 'events'>>,
): string {
  return JSON.stringify(members).slice(1, -1);
}

/** The whole body as JSON text. */
export function heartbeatText(
  parts: BodyParts,
  given: {
    readonly batch: ClaimedBatch | null;
    readonly sequence: number;
    readonly announced: readonly string[];
    /** What each capability tells: members as text. */
    readonly told: readonly string[];
  },
): string {
  const { facts, config, spool } = parts;
  const own: Pick<HeartbeatRequest, OwnFields> = {
    stream_id: spool.streamId,
    sequence: given.sequence,
    sent_at: new Date(parts.now()).toISOString(),
    boot_id: parts.bootId,
    sensor: {
      version: parts.version,
      flavor: config.flavor,
      ...(config.declaredRole === null ? {} : { declared_role: config.declaredRole }),
      capabilities: [...given.announced],
    },
    system: parts.system,
    pipeline: {
      ...facts.pipeline,
      spool_depth: spool.depth(),
      discarded: spool.discarded(),
    },
  };
  const events = `"events":[${given.batch?.lines.join(',') ?? ''}]`;
  const members = [events, ...given.told, JSON.stringify(own).slice(1, -1)];
  return `{${members.filter((text) => text !== '').join(',')}}`;
}
