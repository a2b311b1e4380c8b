// Everything that talks to the Console, started and stopped as one: what the capabilities run under this identity, then the
// stream, then the heartbeat.
import type { AnyActorRef, EventFromLogic } from 'xstate';
import type { heartbeatMachine } from '../../machines/sensor/heartbeat.machine.ts';
import type { DownstreamFrame, StatusFrame } from '../../machines/wire/stream.ts';
import type { Forwarded, SensorContext } from '../capability.ts';
import type { Identity } from '../state-directory/identity.ts';
import { isTrustTrouble } from '../transport/trouble.ts';
import { startHeartbeat } from './heartbeat.actor.ts';
import { startStream } from './stream.actor.ts';

export type Forwarding = {
  onClockJump(): void;
  /** Something changed that the Console should know soon. */
  report(): void;
  /** Events are in the spool: a stream that rests takes them at once. */
  spooled(): void;
  /** False when no stream is open. */
  sendStatus(status: StatusFrame['status']): boolean;
  actors(): readonly AnyActorRef[];
  stop(goodbye: string): void;
};
const OWN_WORDS = ['events.zstd', 'stream.v1'];

/** Starts to forward under an identity. */
export function startForwarding(
  context: SensorContext,
  identity: Identity,
  onExpired: () => void,
): Forwarding {
  // What was under way when forwarding stopped still ends; nobody is there any more to be told.
  let isStopped = false;
  const tellHeartbeat = (event: EventFromLogic<typeof heartbeatMachine>): void => {
    if (!isStopped) heartbeat.send(event);
  };
  const report = (): void => tellHeartbeat({ type: 'heartbeat.requested' });
  const contributions = context.contributions();
  const forwarded = contributions.flatMap(({ forward }): readonly Forwarded[] =>
    forward === undefined ? [] : [forward(identity)],
  );
  const announced = [
    ...OWN_WORDS,
    ...contributions.flatMap(({ announces = [] }) => announces),
  ].sort();
  const stream = startStream(context, announced, {
    onSettled: () => tellHeartbeat({ type: 'stream.settled' }),
    onInterval: (intervalMs) => tellHeartbeat({ type: 'interval.set', intervalMs }),
    onFrame(frame) {
      if (frame.type === 'refresh' && frame.what.includes('settings')) report();
      for (const one of forwarded) handle(one, frame);
    },
    onRefused: (code, trouble) => {
      if (isTrustTrouble(trouble)) context.trust.noteTrouble(trouble);
      if (code === 'sensor_revoked') context.revoked();
      if (code === 'certificate_expired' || trouble === 'certificate_expired') onExpired();
    },
  });
  const tell = forwarded.flatMap(({ heartbeat }) => (heartbeat === undefined ? [] : [heartbeat]));
  const heartbeat = startHeartbeat(context, { announced, tell });
  return {
    onClockJump() {
      context.trust.refresh();
      for (const { clockJumped } of forwarded) clockJumped?.();
    },
    report,
    spooled: stream.wake,
    sendStatus: stream.sendStatus,
    actors: () => [stream.actor, heartbeat],
    stop(goodbye) {
      isStopped = true;
      stream.close(goodbye);
      heartbeat.stop();
      for (const { stop } of forwarded) stop?.();
    },
  };
}

function handle<Type extends DownstreamFrame['type']>(
  { frames }: Forwarded,
  frame: DownstreamFrame & { type: Type },
): void {
  frames?.[frame.type]?.(frame);
}
