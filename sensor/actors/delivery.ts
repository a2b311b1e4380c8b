// One way for a channel to take a batch from the spool and to end it. A batch the Console refuses for its content is
// halved until the one event that does not fit stands alone; that one is given up and counted. invariant: I1, I6; decision: D6, D13

import type { Logger } from '../../actors/runtime/logger.ts';
import type { Channel } from '../../machines/wire/scalars.ts';
import type { ClaimedBatch, Spool } from '../spool/spool-port.ts';

const CONTENT_REFUSALS: ReadonlySet<string> = new Set([
  'schema_violation',
  'body_too_large',
  'malformed_body',
  'malformed_request',
]);

export type Delivery = {
  /** The open batch, else a new one. */
  claim(limits: {
    readonly maxEvents: number;
    readonly maxBytes: number;
  }): Promise<ClaimedBatch | null>;
  acknowledge(sequence: number): Promise<boolean>;
  /** Acts on a refusal; true when the next claim goes out under another name, false when only waiting helps. */
  refuse(sequence: number, code: string): Promise<boolean>;
};

/** Makes the delivery of one channel; `onGivenUp` counts events that the Console will never take. */
export function createDelivery(
  spool: Spool,
  channel: Channel,
  logger: Logger,
  onGivenUp: (events: number) => void,
): Delivery {
  let eventsMax = Number.POSITIVE_INFINITY;
  return {
    claim: ({ maxEvents, maxBytes }) =>
      spool.claim(channel, { maxEvents: Math.min(maxEvents, eventsMax), maxBytes }),
    async acknowledge(sequence) {
      eventsMax = Number.POSITIVE_INFINITY;
      return spool.acknowledge(channel, sequence);
    },
    async refuse(sequence, code) {
      if (code === 'sequence_conflict') return (await spool.renumber(channel, sequence)) !== null;
      if (!CONTENT_REFUSALS.has(code)) return false;
      const open = spool.openClaim(channel);
      if (open === null || open.sequence !== sequence) return false;
      if (open.events > 1) {
        eventsMax = Math.ceil(open.events / 2);
        return spool.release(channel, sequence);
      }
      logger.warn({ channel, sequence, code }, 'the Console refuses an event; it is given up');
      onGivenUp(1);
      eventsMax = Number.POSITIVE_INFINITY;
      return spool.refuse(channel, sequence);
    },
  };
}
