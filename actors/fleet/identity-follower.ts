// The fleet's actors follow the identities: what another Console on the same database did to a sensor (or this one did
// without hearing the answer) reaches the actor here. An absent actor is opened from facts; dates and revocation are told
// when the cache says so. Whoever acts in this process tells the actor in the same breath as the cache, so the follower
// looks after that and finds nothing to do. Heartbeats and streams are known only to the Console that hears them.
// invariant: I3, I8; decision: D4, D10
import { IDENTITY_CACHE_REFRESH_MS } from '../../machines/limits.ts';
import type { SensorRegistry, SensorRow } from '../../storage/ports/fleet/sensor-registry.ts';
import type { Timers } from '../../storage/ports/plumbing/clock.ts';
import type { Logger } from '../runtime/logger.ts';
import type { IdentityCache } from '../trust/identity-cache.ts';
import type { SensorActors } from '../trust/sensor-actors.ts';
import { orderFactsOf, type SensorDirectory } from './sensor.actor.ts';

export type IdentityFollowerDeps = {
  readonly identities: Pick<IdentityCache, 'identitiesOf' | 'subscribe'>;
  readonly directory: Pick<SensorDirectory, 'ask'>;
  readonly sensors: Pick<SensorActors, 'open' | 'tell'>;
  readonly registry: Pick<SensorRegistry, 'getSensor'>;
  readonly timers: Timers;
  readonly logger: Logger;
};

/** Starts following; gives back what ends it. The registry is asked for one sensor at a time, and only about rare changes. */
export function followIdentities(deps: IdentityFollowerDeps): () => void {
  const { identities, directory, sensors, timers } = deps;
  /** Changed, and not looked at yet. */
  const changed = new Set<string>();
  /** Sensors whose row is needed. */
  const wanted = new Set<string>();
  let isAsking = false;
  let retry: unknown = null;
  let isStopped = false;

  function look(): void {
    for (const sensorId of changed) {
      changed.delete(sensorId);
      follow(sensorId);
    }
    void askAll();
  }

  function follow(sensorId: string): void {
    const records = identities.identitiesOf(sensorId);
    if (records.length === 0) return;
    const view = directory.ask(sensorId);
    const isRevoked = records.some((one) => one.sensorRevokedAtMs !== null);
    // The row holds what an actor starts from, and why a sensor was revoked.
    if (view === 'absent' || (isRevoked && view.snapshot.context.revokedAtMs === null)) {
      wanted.add(sensorId);
      return;
    }
    const orderId = records[0]?.containmentOrderId;
    if (orderId !== undefined && orderId !== view.snapshot.context.containment.order?.orderId) {
      wanted.add(sensorId);
    }
    const current = records.find((one) => one.status === 'current');
    if (isRevoked || current === undefined) return;
    const { notAfterMs } = current;
    if (notAfterMs === view.snapshot.context.notAfterMs) return;
    sensors.tell(sensorId, { type: 'certificate.changed', atMs: timers.now(), notAfterMs });
  }

  async function askAll(): Promise<void> {
    if (isAsking || isStopped) return;
    isAsking = true;
    for (const sensorId of wanted) {
      wanted.delete(sensorId);
      if (await ask(sensorId)) continue;
      wanted.add(sensorId);
      break;
    }
    isAsking = false;
    if (wanted.size > 0 && !isStopped) later();
  }

  /** False when the registry could not answer. */
  async function ask(sensorId: string): Promise<boolean> {
    try {
      const row = await deps.registry.getSensor(sensorId);
      if (row !== null && !isStopped) take(row);
      return true;
    } catch (error) {
      deps.logger.warn({ sensorId, error: String(error) }, 'a changed sensor could not be read');
      return false;
    }
  }

  function take(row: SensorRow): void {
    const { sensorId, currentNotAfterMs, revokedAtMs, revokedReason } = row;
    const view = directory.ask(sensorId);
    if (view === 'absent') {
      sensors.open(row);
      return;
    }
    const { context } = view.snapshot;
    if (context.revokedAtMs !== null) return;
    const nowMs = timers.now();
    if (row.containmentOrder !== undefined) {
      const order = orderFactsOf(row.containmentOrder);
      if (order.orderId !== context.containment.order?.orderId) {
        sensors.tell(sensorId, { type: 'containment.ordered', atMs: nowMs, order });
      }
    }
    if (revokedAtMs !== null) {
      const reason = revokedReason ?? '';
      sensors.tell(sensorId, { type: 'sensor.revoked', atMs: revokedAtMs, reason });
    } else if (currentNotAfterMs !== null && currentNotAfterMs !== context.notAfterMs) {
      // Somebody opened it meanwhile, from facts that may have been older.
      const notAfterMs = currentNotAfterMs;
      sensors.tell(sensorId, { type: 'certificate.changed', atMs: nowMs, notAfterMs });
    }
  }

  function later(): void {
    if (retry !== null) return;
    retry = timers.setTimeout(() => {
      retry = null;
      void askAll();
    }, IDENTITY_CACHE_REFRESH_MS);
  }

  const unsubscribe = identities.subscribe((sensorId) => {
    if (changed.size === 0) queueMicrotask(look);
    changed.add(sensorId);
  });
  return () => {
    isStopped = true;
    unsubscribe();
    if (retry !== null) timers.clearTimeout(retry);
  };
}
