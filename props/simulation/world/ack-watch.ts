// Watches at the Console's edge which batch an acknowledgment names, so that a checker can compare it with what is
// durable at that very instant. It reads the texts that pass and keeps nothing of a batch once it is answered.
import { createPeerFingerprints } from '../../../gateway/listener/peer-fingerprints.ts';
import { SENSOR_PATHS } from '../../../machines/wire/enrollment.ts';
import type { Channel } from '../../../machines/wire/scalars.ts';
import type { EdgeAnswer, EdgeRequest } from './edge-exchange.ts';
import { watchPolicies } from './policy-watch.ts';
import { watchTelling } from './telling-watch.ts';
import type { World } from './world.ts';

export type AckWatch = {
  fingerprintOf(certPem: string): string | null;
  answered(
    request: EdgeRequest,
    answer: EdgeAnswer,
    asked: { readonly deliveredMs: number; readonly askedAtMs: number },
  ): void;
  stream(certPem: string): {
    received(text: string): void;
    sent(text: string): void;
    closed(reason: string): void;
  };
};
type Event = { readonly process?: { readonly exec_id?: string } };
type Body = {
  readonly stream_id: string;
  readonly sequence: number;
  readonly channel?: Channel;
  readonly events: readonly Event[];
};

const EMPTY = '{"events":[]';
const UNANSWERED_MAX = 64;

/** Makes the watch of one Console life. */
export function createAckWatch(options: {
  readonly world: World;
  readonly console: string;
  readonly keyOfEvent: (event: Event) => string;
}): AckWatch {
  const { world, console, keyOfEvent } = options;
  const { fingerprintOf } = createPeerFingerprints();

  function acknowledge(
    certPem: string,
    channel: Channel,
    body: Omit<Body, 'channel'>,
    askedAtMs: number,
  ): void {
    world.observe({
      kind: 'batch.acknowledged',
      console,
      askedAtMs,
      fingerprint: fingerprintOf(certPem),
      batch: {
        stream: body.stream_id,
        channel,
        sequence: body.sequence,
        events: body.events.map(keyOfEvent),
      },
    });
  }

  return {
    fingerprintOf,
    answered(request, answer, { deliveredMs, askedAtMs }) {
      const { path, body, certPem } = request;
      if (answer.status >= 300) return;
      watchTelling({ world, console }, request, answer, fingerprintOf(certPem));
      const isHeartbeat = path === SENSOR_PATHS.heartbeat;
      if (isHeartbeat) {
        watchPolicies({ world, console }, request, answer, fingerprintOf(certPem));
        world.observe({
          kind: 'heartbeat.taken',
          console,
          fingerprint: fingerprintOf(certPem),
          receivedAtMs: deliveredMs,
        });
      }
      if ((!isHeartbeat && path !== SENSOR_PATHS.events) || body.startsWith(EMPTY)) return;
      const sent = JSON.parse(body) as Body;
      const told = JSON.parse(answer.body) as { readonly acknowledged_sequence?: number };
      if (sent.events.length === 0 || told.acknowledged_sequence !== sent.sequence) return;
      acknowledge(certPem, isHeartbeat ? 'heartbeat' : (sent.channel ?? 'batch'), sent, askedAtMs);
    },
    stream(certPem) {
      const waiting = new Map<number, { readonly frame: Body; readonly askedAtMs: number }>();
      let streamId = '';
      return {
        received(text) {
          if (text.startsWith('{"type":"hello"')) {
            streamId = (JSON.parse(text) as { stream_id: string }).stream_id;
          }
          if (!text.startsWith('{"type":"events"')) return;
          const frame = JSON.parse(text) as Body;
          waiting.set(frame.sequence, { frame, askedAtMs: world.scheduler.now() });
          const [oldest] = waiting.keys();
          if (waiting.size > UNANSWERED_MAX && oldest !== undefined) waiting.delete(oldest);
        },
        sent(text) {
          if (!text.startsWith('{"type":"ack"')) return;
          const { sequence } = JSON.parse(text) as { sequence: number };
          const held = waiting.get(sequence);
          waiting.delete(sequence);
          if (held === undefined) return;
          const named = { stream_id: streamId, sequence, events: held.frame.events };
          acknowledge(certPem, 'stream', named, held.askedAtMs);
        },
        closed(reason) {
          world.observe({
            kind: 'stream.closed',
            console,
            fingerprint: fingerprintOf(certPem),
            reason,
          });
        },
      };
    },
  };
}
