// One stream from its upgrade to its end. Every frame is judged again, because the socket outlives the certificate.
// An `ack` leaves after the durable write of exactly that batch. invariant: I1, I3, I9; decision: D6, D10
import { STREAM_MISSED_PONGS_MAX } from '../../machines/limits.ts';
import type { DownstreamFrame, EventsFrame, HelloFrame } from '../../machines/wire/stream.ts';
import type { IdentityRecord } from '../../storage/ports/fleet/sensor-registry.ts';
import type { StreamDeps } from './deps.ts';
import { sensorSettingsOf } from './sensor-settings.ts';
import { parseFrame } from './stream-frames.ts';
import {
  CLOSE_NORMAL,
  CLOSE_REFUSED,
  CLOSE_TRY_LATER,
  type CloseReason,
  endFor,
  type StreamPeer,
  type StreamService,
} from './stream-hub.ts';

/** The socket's own two words. */
export type StreamSocket = {
  /** False when the frame was not taken. */
  send(text: string): boolean;
  end(closeCode: number, reason: string): void;
};

export type StreamConnection = {
  /** A text frame arrived. */
  receive(text: string): void;
  /** A frame that is not text arrived. */
  receiveBinary(): void;
  /** The socket is gone. */
  closed(): void;
};

type ConnectionDeps = Pick<
  StreamDeps,
  'cache' | 'clock' | 'intervals' | 'now' | 'ingest' | 'logger' | 'nodeMachines'
>;

/** Opens the connection of an upgraded socket. `instanceHeader` is what the upgrade named, if it did. */
export function openStreamConnection(
  deps: ConnectionDeps,
  service: StreamService,
  input: {
    readonly socket: StreamSocket;
    readonly identity: IdentityRecord;
    readonly instanceHeader: string | null;
    readonly address: string;
  },
): StreamConnection {
  const { socket, identity } = input;
  const { sensorId, fingerprint } = identity;
  let hello: HelloFrame | null = null;
  let isLive = false;
  let endedBecause: CloseReason | null = null;
  let pingsUnanswered = 0;
  let timer = deps.clock.setTimeout(
    () => peer.end(CLOSE_REFUSED, 'timed_out'),
    deps.intervals.STREAM_OPEN_TIMEOUT_MS,
  );

  const peer: StreamPeer = {
    sensorId,
    fingerprint,
    address: input.address,
    instanceId: () => hello?.instance_id ?? null,
    send: (frame: DownstreamFrame) => endedBecause === null && socket.send(JSON.stringify(frame)),
    end(closeCode, reason) {
      if (endedBecause !== null) return;
      endedBecause = reason;
      deps.clock.clearTimeout(timer);
      service.leave(peer, reason);
      socket.end(closeCode, reason);
    },
    welcome() {
      if (hello === null) throw new Error('a stream is welcomed after its hello');
      isLive = true;
      const name = { sensorId, streamId: hello.stream_id, channel: 'stream' as const };
      peer.send({
        type: 'welcome',
        acknowledged: deps.ingest.ledgers.highest(name),
        server_time: timeText(),
        settings: sensorSettingsOf(deps.intervals),
      });
      armPing();
    },
    ping() {
      pingsUnanswered += 1;
      peer.send({ type: 'ping', at: timeText() });
    },
  };

  const timeText = () => new Date(deps.now()).toISOString();

  function armPing(): void {
    timer = deps.clock.setTimeout(() => {
      if (!isAccepted()) return;
      if (pingsUnanswered >= STREAM_MISSED_PONGS_MAX) {
        peer.end(CLOSE_TRY_LATER, 'pong_missed');
        return;
      }
      peer.ping();
      armPing();
    }, deps.intervals.STREAM_PING_INTERVAL_MS);
  }

  /** Judges the certificate now; a refused one ends the stream with its code. */
  function isAccepted(): boolean {
    if (endedBecause !== null) return false;
    const verdict = deps.cache.judge(fingerprint, deps.now());
    if (!verdict.ok) endFor(peer, verdict.code);
    return verdict.ok;
  }

  function greet(frame: HelloFrame): void {
    const isNamedOtherwise =
      input.instanceHeader !== null && input.instanceHeader !== frame.instance_id;
    if (hello !== null || isNamedOtherwise) {
      peer.end(CLOSE_REFUSED, 'malformed_request');
      return;
    }
    hello = frame;
    deps.clock.clearTimeout(timer);
    service.introduce(peer);
  }

  async function store(frame: EventsFrame, streamId: string): Promise<void> {
    const { sequence, events } = frame;
    const outcome = await deps.ingest.ingest({
      identity,
      streamId,
      channel: 'stream',
      sequence,
      events,
      receivedAtMs: deps.now(),
    });
    if (outcome.ok) peer.send({ type: 'ack', sequence: outcome.acknowledged });
    else if (outcome.busy) peer.send({ type: 'retry_after', ms: outcome.retryAfterMs, sequence });
    else peer.send({ type: 'refused', sequence, code: outcome.code, detail: outcome.detail });
  }

  service.enter(peer);
  return {
    receive(text) {
      if (!isAccepted()) return;
      const parsed = parseFrame(text);
      if (!parsed.ok) return peer.end(CLOSE_REFUSED, parsed.code);
      const frame = parsed.value;
      if (frame.type === 'hello') return greet(frame);
      if (frame.type === 'goodbye') return peer.end(CLOSE_NORMAL, 'goodbye');
      if (frame.type === 'pong') {
        pingsUnanswered = 0;
        return service.answered(peer, frame.instance_id ?? null);
      }
      // What carries data comes after the welcome.
      if (!isLive || hello === null) return peer.end(CLOSE_REFUSED, 'malformed_request');
      if (frame.type === 'status') {
        const { machines } = frame.status;
        if (machines !== undefined) deps.nodeMachines.take(sensorId, machines, deps.now());
        return;
      }
      store(frame, hello.stream_id).catch((error: unknown) => {
        deps.logger.error({ sensorId, error: String(error) }, 'a stream frame failed');
        peer.end(CLOSE_TRY_LATER, 'internal');
      });
    },
    receiveBinary: () => peer.end(CLOSE_REFUSED, 'malformed_body'),
    closed() {
      if (endedBecause !== null) return;
      endedBecause = 'peer_gone';
      deps.clock.clearTimeout(timer);
      service.leave(peer, 'peer_gone');
    },
  };
}
