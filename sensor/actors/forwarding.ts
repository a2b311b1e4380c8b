// Everything that talks to the Console, started and stopped as one: stream first, then heartbeat, renewal, inventory.
import type { Identity } from '../state-directory/identity.ts';
import { readSockets } from '../telemetry/sockets.ts';
import { createResourceMeter } from '../telemetry/system.ts';
import { startHeartbeat } from './heartbeat.actor.ts';
import { startInventory } from './inventory.ts';
import type { Parts } from './parts.ts';
import { startRenewal } from './renewal.actor.ts';
import { startStream } from './stream.actor.ts';

export type Forwarding = { onClockJump(): void; stop(goodbye: string): void };

/** Starts to forward under an identity. */
export function startForwarding(
  parts: Parts,
  identity: Identity,
  hooks: { readonly onRevoked: () => void; readonly onExpired: () => void },
): Forwarding {
  const renewal = startRenewal(parts, identity);
  const inventory = startInventory(parts);
  const requestRenewal = (): void => renewal.send({ type: 'renewal.requested' });
  const stream = startStream(parts, {
    onRevoked: hooks.onRevoked,
    onInterval: (intervalMs) => heartbeat.send({ type: 'interval.set', intervalMs }),
    onRefresh: (what) => {
      if (what.includes('certificate')) requestRenewal();
      if (what.includes('inventory')) inventory.send(false);
      if (what.includes('settings') || what.includes('policy')) {
        heartbeat.send({ type: 'heartbeat.requested' });
      }
    },
    onRefused: (code, trouble) => {
      if (code === 'sensor_revoked') hooks.onRevoked();
      if (code === 'certificate_expired' || trouble === 'certificate_expired') hooks.onExpired();
    },
  });
  const heartbeat = startHeartbeat(parts, {
    resources: createResourceMeter(parts.config.stateDir),
    sockets: readSockets,
    onRenewNow: requestRenewal,
    onFullState: () => inventory.send(true),
  });
  return {
    onClockJump: () => renewal.send({ type: 'clock.jumped' }),
    stop(goodbye) {
      stream.close(goodbye);
      heartbeat.stop();
      renewal.stop();
      inventory.stop();
    },
  };
}
