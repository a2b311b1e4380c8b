// Everything that talks to the Console, started and stopped as one: stream first, then heartbeat, renewal, inventory.
import type { EventFromLogic } from 'xstate';
import type { heartbeatMachine } from '../../machines/sensor/heartbeat.machine.ts';
import type { renewalMachine } from '../../machines/sensor/renewal.machine.ts';
import type { Identity } from '../state-directory/identity.ts';
import { isTrustTrouble } from '../transport/trouble.ts';
import { startHeartbeat } from './heartbeat.actor.ts';
import { startInventory } from './inventory.ts';
import type { Parts } from './parts.ts';
import { startRenewal } from './renewal.actor.ts';
import { startStream } from './stream.actor.ts';

export type Forwarding = {
  onClockJump(): void;
  /** Something changed that the Console should know soon. */
  report(): void;
  /** Events are in the spool: a stream that rests takes them at once. */
  spooled(): void;
  stop(goodbye: string): void;
};

/** Starts to forward under an identity. */
export function startForwarding(
  parts: Parts,
  identity: Identity,
  hooks: { readonly onRevoked: () => void; readonly onExpired: () => void },
): Forwarding {
  // What was under way when forwarding stopped still ends; nobody is there any more to be told.
  let isStopped = false;
  const tellHeartbeat = (event: EventFromLogic<typeof heartbeatMachine>): void => {
    if (!isStopped) heartbeat.send(event);
  };
  const tellRenewal = (event: EventFromLogic<typeof renewalMachine>): void => {
    if (!isStopped) renewal.send(event);
  };
  const report = (): void => tellHeartbeat({ type: 'heartbeat.requested' });
  const renewal = startRenewal(parts, identity, report);
  const inventory = startInventory(parts);
  const requestRenewal = (): void => tellRenewal({ type: 'renewal.requested' });
  const stream = startStream(parts, {
    onRevoked: hooks.onRevoked,
    onSettled: () => tellHeartbeat({ type: 'stream.settled' }),
    onInterval: (intervalMs) => tellHeartbeat({ type: 'interval.set', intervalMs }),
    onRefresh: (what) => {
      if (what.includes('certificate')) requestRenewal();
      if (what.includes('inventory')) inventory.send(false);
      if (what.includes('settings') || what.includes('policy')) {
        report();
      }
    },
    onRefused: (code, trouble) => {
      if (isTrustTrouble(trouble)) parts.trust.noteTrouble(trouble);
      if (code === 'sensor_revoked') hooks.onRevoked();
      if (code === 'certificate_expired' || trouble === 'certificate_expired') hooks.onExpired();
    },
  });
  const heartbeat = startHeartbeat(parts, {
    onRenewNow: requestRenewal,
    onFullState: () => inventory.send(true),
  });
  return {
    onClockJump() {
      parts.trust.refresh();
      tellRenewal({ type: 'clock.jumped' });
    },
    report,
    spooled: stream.wake,
    stop(goodbye) {
      isStopped = true;
      stream.close(goodbye);
      heartbeat.stop();
      renewal.stop();
      inventory.stop();
    },
  };
}
