// The effects of the heartbeat machine: what a heartbeat says, what its answer does, and one batch of the drain.
import { fromPromise } from 'xstate';
import {
  DRAIN_BODY_TARGET_BYTES,
  HEARTBEAT_BODY_MAX_BYTES,
  HEARTBEAT_EVENTS_MAX,
  RETRY_AFTER_STORE_MS,
  SPOOL_DRAIN_PER_HEARTBEAT,
} from '../../machines/limits.ts';
import { heartbeatMachine } from '../../machines/sensor/heartbeat.machine.ts';
import {
  type DrainOutcome,
  type HeartbeatOutcome,
  needsDrain,
} from '../../machines/sensor/heartbeat.rules.ts';
import { heartbeatEventsMax } from '../../machines/sensor/spool.rules.ts';
import { SENSOR_PATHS } from '../../machines/wire/enrollment.ts';
import { EventsResponse, HeartbeatResponse } from '../../machines/wire/heartbeat.ts';
import { parserOfValue } from '../../machines/wire/parse.ts';
import type { Channel } from '../../machines/wire/scalars.ts';
import type { TellHeartbeat, Told } from '../capability.ts';
import type { ClaimedBatch } from '../spool/spool-port.ts';
import { type Answer, sentenceOf, waitOf } from '../transport/answer.ts';
import { createDelivery } from './delivery.ts';
import { heartbeatText } from './heartbeat-body.ts';
import { type Parts, startActor } from './parts.ts';

const readHeartbeatAnswer = parserOfValue(HeartbeatResponse);
const readEventsAnswer = parserOfValue(EventsResponse);
const HEARTBEAT_EVENTS_MAX_BYTES = HEARTBEAT_BODY_MAX_BYTES / 2;
/** Below, compressing costs more than it saves. */
const COMPRESSED_MIN_BYTES = 16_384;

export type HeartbeatContent = {
  /** Words that say what this Sensor can do. */
  readonly announced: readonly string[];
  readonly tell: readonly TellHeartbeat[];
};

type Beat = {
  readonly batch: ClaimedBatch | null;
  readonly told: readonly Told[];
  readonly hasFailedBefore: boolean;
};

/** Starts the heartbeat of a node that has an identity. */
export function startHeartbeat(parts: Parts, { announced, tell }: HeartbeatContent) {
  const { spool, facts, client, config, logger } = parts;
  const giveUp = (events: number): void => {
    facts.pipeline.dropped += events;
  };
  const heartbeats = createDelivery(spool, 'heartbeat', logger, giveUp);
  const drains: Readonly<Record<'stream' | 'batch', ReturnType<typeof createDelivery>>> = {
    stream: createDelivery(spool, 'stream', logger, giveUp),
    batch: createDelivery(spool, 'batch', logger, giveUp),
  };
  // The last number used; a heartbeat without events repeats it.
  let lastSequence = 0;

  async function beat(hasFailedBefore: boolean): Promise<HeartbeatOutcome> {
    const usual = HEARTBEAT_EVENTS_MAX;
    // While the stream is open new events belong to it; only a batch that is already numbered goes again.
    const isStreamed =
      facts.isStreamOpen && !hasFailedBefore && spool.openClaim('heartbeat') === null;
    const batch = isStreamed
      ? null
      : await heartbeats.claim({
          maxEvents: heartbeatEventsMax(hasFailedBefore, {
            usual,
            drain: SPOOL_DRAIN_PER_HEARTBEAT,
          }),
          maxBytes: HEARTBEAT_EVENTS_MAX_BYTES,
        });
    lastSequence = batch?.sequence ?? lastSequence;
    const told: Told[] = [];
    for (const one of tell) told.push(await one());
    const text = heartbeatText(parts, {
      batch,
      sequence: lastSequence,
      announced,
      told: told.map((one) => one.text),
    });
    const answer = await client.post(SENSOR_PATHS.heartbeat, text, {
      timeoutMs: config.intervals.HEARTBEAT_TIMEOUT_MS,
      isCompressed: batch !== null || text.length >= COMPRESSED_MIN_BYTES,
    });
    if (!answer.ok) return failBeat(answer, batch);
    const parsed = readHeartbeatAnswer(answer.json);
    if (parsed.ok) return applyAnswer(parsed.value, { batch, told, hasFailedBefore });
    for (const { heard } of told) await heard?.(null);
    const reason = 'the answer does not fit';
    facts.lastHeartbeatProblem = reason;
    return { kind: 'failed', reason, retryAfterMs: null };
  }

  async function failBeat(
    answer: Exclude<Answer, { ok: true }>,
    batch: ClaimedBatch | null,
  ): Promise<HeartbeatOutcome> {
    const reason = sentenceOf(answer);
    facts.lastHeartbeatProblem = reason;
    if (batch !== null && answer.kind === 'refused') {
      await heartbeats.refuse(batch.sequence, answer.code);
    }
    return { kind: 'failed', reason, retryAfterMs: waitOf(answer) };
  }

  async function applyAnswer(
    answer: HeartbeatResponse,
    { batch, told, hasFailedBefore }: Beat,
  ): Promise<HeartbeatOutcome> {
    facts.lastHeartbeatAtMs = parts.now();
    facts.lastHeartbeatProblem = null;
    facts.clockOffsetMs = Date.parse(answer.server_time) - parts.now();
    facts.trustHealth = answer.trust_health;
    let isDelivered = batch === null;
    if (batch !== null && answer.acknowledged_sequence === batch.sequence) {
      isDelivered = await heartbeats.acknowledge(batch.sequence);
      facts.pipeline.sent_heartbeat += batch.lines.length;
    }
    for (const { heard } of told) await heard?.(answer);
    const backlog = {
      depth: spool.depth(),
      isStreamOpen: facts.isStreamOpen,
      hadFailed: hasFailedBefore,
      hasStrandedClaim:
        spool.openClaim('batch') !== null ||
        (!facts.isStreamOpen && spool.openClaim('stream') !== null),
    };
    return {
      kind: 'delivered',
      intervalMs: answer.settings.heartbeat_interval_seconds * 1_000,
      // A Console that did not take this batch will not take a drain either.
      needsDrain: isDelivered && answer.retry_after_ms === undefined && needsDrain(backlog),
      retryAfterMs: answer.retry_after_ms ?? null,
    };
  }

  async function drainOne(): Promise<DrainOutcome> {
    const isStranded = !facts.isStreamOpen && spool.openClaim('stream') !== null;
    const channel: Extract<Channel, 'stream' | 'batch'> = isStranded ? 'stream' : 'batch';
    const delivery = drains[channel];
    const batch = await delivery.claim({
      maxEvents: Number.MAX_SAFE_INTEGER,
      maxBytes: DRAIN_BODY_TARGET_BYTES,
    });
    if (batch === null) return { kind: 'empty' };
    const { sequence } = batch;
    const text = `{"stream_id":"${spool.streamId}","sequence":${sequence},"channel":"${channel}","events":[${batch.lines.join(',')}]}`;
    const answer = await client.post(SENSOR_PATHS.events, text, {
      timeoutMs: config.intervals.HEARTBEAT_TIMEOUT_MS,
      isCompressed: true,
    });
    if (!answer.ok) {
      if (answer.kind === 'refused' && (await delivery.refuse(sequence, answer.code))) {
        return { kind: 'more' };
      }
      const isBusy = answer.kind === 'refused' && (answer.status === 429 || answer.status === 503);
      if (isBusy)
        return { kind: 'paused', retryAfterMs: answer.retryAfterMs ?? RETRY_AFTER_STORE_MS };
      return { kind: 'failed', reason: sentenceOf(answer) };
    }
    const parsed = readEventsAnswer(answer.json);
    if (!parsed.ok || parsed.value.acknowledged_sequence !== sequence) {
      return { kind: 'paused', retryAfterMs: RETRY_AFTER_STORE_MS };
    }
    await delivery.acknowledge(sequence);
    return { kind: 'more' };
  }

  return startActor(
    parts,
    heartbeatMachine.provide({
      actors: {
        sendHeartbeat: fromPromise<HeartbeatOutcome, { readonly hasFailedBefore: boolean }>(
          ({ input }) => beat(input.hasFailedBefore),
        ),
        drainBatch: fromPromise<DrainOutcome, undefined>(drainOne),
      },
      actions: {
        tellFailed: (_, { reason }) => logger.warn({ reason }, 'a heartbeat failed'),
      },
    }),
    {
      intervalMs: config.intervals.HEARTBEAT_INTERVAL_MS,
      holdMs: config.intervals.STREAM_OPEN_TIMEOUT_MS,
      seed: parts.seed,
    },
  );
}
