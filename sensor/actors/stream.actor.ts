// The effects of the stream machine: the socket, the claim of each tick, and what downstream frames move.
import { fromPromise } from 'xstate';
import { STREAM_FRAME_EVENTS_MAX, STREAM_FRAME_MAX_BYTES } from '../../machines/limits.ts';
import { streamMachine } from '../../machines/sensor/stream.machine.ts';
import {
  type OpenOutcome,
  silenceMaxMs,
  type TickClaim,
} from '../../machines/sensor/stream.rules.ts';
import type { DownstreamFrame, StatusFrame } from '../../machines/wire/stream.ts';
import type { ClaimedBatch } from '../spool/spool-port.ts';
import type { StreamSocket } from '../transport/stream-socket.ts';
import type { TroubleKind } from '../transport/trouble.ts';
import { createDelivery } from './delivery.ts';
import { type Parts, startActor } from './parts.ts';
import { createQuietClock } from './quiet-clock.ts';

const FRAME_HEAD_BYTES = 1_024;

export type StreamHooks = {
  readonly onInterval: (intervalMs: number) => void;
  /** A frame that is not about the stream itself. */
  readonly onFrame: (frame: DownstreamFrame) => void;
  /** The upgrade was refused by this code, or failed in this way. */
  readonly onRefused: (code: string, trouble: TroubleKind) => void;
  /** A try to open has ended, well or not. */
  readonly onSettled: () => void;
};

/** Starts the stream under the words that say what this Sensor can do; `close` says goodbye. */
export function startStream(parts: Parts, announced: readonly string[], hooks: StreamHooks) {
  const { spool, facts, config, logger, client } = parts;
  const { intervals } = config;
  const delivery = createDelivery(spool, 'stream', logger, (events) => {
    facts.pipeline.dropped += events;
  });
  let socket: StreamSocket | null = null;
  let batch: ClaimedBatch | null = null;
  // Each try has its own number, so that a socket of the past moves nothing.
  let attempt = 0;

  // The first heartbeat waits for this, so it is told whichever way the try ends.
  async function openAndTell(): Promise<OpenOutcome> {
    try {
      return await open();
    } finally {
      queueMicrotask(hooks.onSettled);
    }
  }

  async function open(): Promise<OpenOutcome> {
    attempt += 1;
    const own = attempt;
    const welcome = Promise.withResolvers<boolean>();
    const opening = await parts.ports.transport.openStream(
      client,
      {
        type: 'hello',
        instance_id: client.instanceId,
        boot_id: parts.bootId,
        stream_id: spool.streamId,
        sensor_version: parts.version,
        capabilities: [...announced],
      },
      {
        onFrame: (frame) => {
          if (own !== attempt) return;
          if (frame.type === 'welcome') {
            hooks.onInterval(Number(frame.settings?.heartbeat_interval_seconds) * 1_000);
            welcome.resolve(true);
          } else take(frame);
        },
        onClosed: (reason) => {
          welcome.resolve(false);
          if (own !== attempt) return;
          socket = null;
          actor.send({ type: 'socket.lost', reason });
        },
      },
      intervals.STREAM_OPEN_TIMEOUT_MS,
    );
    if (!opening.ok) {
      hooks.onRefused(opening.code, opening.trouble.kind);
      const reason = opening.code === '' ? opening.trouble.detail : opening.code;
      return { kind: 'failed', reason, retryAfterMs: opening.retryAfterMs };
    }
    if (own !== attempt) opening.socket.close();
    socket = opening.socket;
    if (!(await welcome.promise)) {
      return { kind: 'failed', reason: 'closed before the welcome', retryAfterMs: null };
    }
    // An open batch goes out again: its number or a higher one at the Console may be that of a node with a copy of this spool.
    return { kind: 'opened' };
  }

  function take(frame: DownstreamFrame): void {
    switch (frame.type) {
      case 'ping':
        actor.send({ type: 'ping.received' });
        break;
      case 'ack':
        actor.send({ type: 'batch.acknowledged', sequence: frame.sequence });
        break;
      case 'refused':
        logger.warn({ code: frame.code, detail: frame.detail }, 'the Console refused a batch');
        actor.send({ type: 'batch.refused', sequence: frame.sequence, code: String(frame.code) });
        break;
      case 'retry_after':
        actor.send({ type: 'pause.requested', ms: Number(frame.ms) || 0 });
        break;
      default:
        hooks.onFrame(frame);
    }
  }

  async function claim(): Promise<TickClaim> {
    batch = await delivery.claim({
      maxEvents: STREAM_FRAME_EVENTS_MAX,
      maxBytes: STREAM_FRAME_MAX_BYTES / 2 - FRAME_HEAD_BYTES,
    });
    if (batch === null) return null;
    return { sequence: batch.sequence, isFull: batch.isFull };
  }

  async function settle(sequence: number, code: string | null): Promise<void> {
    if (code !== null) await delivery.refuse(sequence, code);
    else if (await delivery.acknowledge(sequence)) {
      facts.pipeline.sent_stream += batch?.lines.length ?? 0;
    }
    batch = null;
  }

  const silenceMs = silenceMaxMs(intervals.STREAM_PING_INTERVAL_MS);
  const tickMs = intervals.STREAM_TICK_MS;
  // While the machine rests, only the tick and the watch for silence are armed, so the delay tells which one this is.
  const isQuiet = (): boolean =>
    tickMs !== silenceMs &&
    spool.depth() === 0 &&
    actor.getSnapshot().matches({ open: { delivery: 'resting' } });

  const clock = createQuietClock(parts.clock, { delayMs: tickMs, isQuiet });
  const actor = startActor(
    { ...parts, clock },
    streamMachine.provide({
      actors: {
        openSocket: fromPromise<OpenOutcome, undefined>(openAndTell),
        claimBatch: fromPromise<TickClaim, undefined>(claim),
        settleBatch: fromPromise<unknown, { sequence: number; code: string | null }>(({ input }) =>
          settle(input.sequence, input.code),
        ),
      },
      actions: {
        sendBatch: (_, { sequence }) => {
          if (batch === null || batch.sequence !== sequence) return;
          const events = batch.lines.join(',');
          socket?.sendText(`{"type":"events","sequence":${sequence},"events":[${events}]}`);
        },
        closeSocket: () => {
          attempt += 1;
          socket?.close();
          socket = null;
        },
        tellOpened: () => {
          facts.isStreamOpen = true;
          logger.info('the stream is open');
        },
        tellLost: () => {
          facts.isStreamOpen = false;
          logger.info('the stream is closed');
        },
      },
    }),
    {
      minMs: intervals.RECONNECT_BACKOFF_MIN_MS,
      maxMs: intervals.RECONNECT_BACKOFF_MAX_MS,
      openTimeoutMs: intervals.STREAM_OPEN_TIMEOUT_MS,
      tickMs,
      ackTimeoutMs: intervals.STREAM_ACK_TIMEOUT_MS,
      silenceMs,
      seed: parts.seed,
    },
  );

  return {
    actor,
    /** Events are in the spool. */
    wake: clock.wake,
    /** False when it is not open. */
    sendStatus(status: StatusFrame['status']): boolean {
      if (socket === null || !facts.isStreamOpen) return false;
      socket.sendText(JSON.stringify({ type: 'status', status } satisfies StatusFrame));
      return true;
    },
    close(reason: string): void {
      attempt += 1;
      actor.stop();
      socket?.close(reason);
      socket = null;
      facts.isStreamOpen = false;
    },
  };
}
