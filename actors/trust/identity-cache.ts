// Every certificate of the fleet in memory, so that a request is judged without a query. The cache follows the
// registry's notifications; when the last proof that they flow is older than the bound, nobody is trusted on its word any
// more. The age counts from the proof and not from the moment a dead connection was found. A change that was announced
// and cannot be read is held against its sensor alone.
// Revocation is sticky: no late answer of the database can take it back, and a database that went back to before it is told
// again. invariant: I3, I9; decision: D10, D171
import { type Refusal, refuse } from '../../machines/errors.ts';
import { IDENTITY_CACHE_REFRESH_MS, REVOCATION_VIEW_MAX_AGE_MS } from '../../machines/limits.ts';
import { judgeCertificate } from '../../machines/trust/certificate.rules.ts';
import type {
  IdentityRecord,
  IdentityWatch,
  SensorRegistry,
} from '../../storage/ports/fleet/sensor-registry.ts';
import type { Timers } from '../../storage/ports/plumbing/clock.ts';
import type { Logger } from '../runtime/logger.ts';
import { createRetries } from './retries.ts';
import { createRetelling } from './revoked-again.ts';

export type IdentityVerdict = { readonly ok: true; readonly identity: IdentityRecord } | Refusal;

export type IdentityCache = {
  /** Judges a presented certificate at one instant; null = none was presented. No query. */
  judge(fingerprint: string | null, nowMs: number): IdentityVerdict;
  /** Replaces what is known of one sensor, at once; listeners hear of it. */
  apply(sensorId: string, records: readonly IdentityRecord[]): void;
  /** Marks a sensor revoked at once, whatever the database says later. */
  markRevoked(sensorId: string, revokedAtMs: number): void;
  identitiesOf(sensorId: string): readonly IdentityRecord[];
  /** Called after the identities of a sensor changed. Listeners may not throw. */
  subscribe(listener: (sensorId: string) => void): () => void;
  /**
   * Called when the notifications were lost and everything was read again: the database that answers may be another one,
   * which forgot what the last one had confirmed.
   */
  onReread(listener: () => void): () => void;
  /** Certificates held. */
  size(): number;
  stop(): Promise<void>;
};

export type IdentityCacheDeps = {
  readonly registry: Pick<SensorRegistry, 'loadIdentities' | 'identitiesOf' | 'watchIdentities'>;
  /** Revokes a sensor that this Console knows to be revoked, and the database does not any more. */
  readonly revokeAgain: (sensorId: string) => Promise<unknown>;
  readonly overlapMs: number;
  readonly timers: Timers;
  /** Milliseconds that never go back, for the age of the view. */
  readonly monotonicNow: () => number;
  readonly logger: Logger;
  readonly viewMaxAgeMs?: number;
};

const REFUSED_BECAUSE = {
  certificate_unknown: 'No sensor has this certificate.',
  sensor_revoked: 'This sensor was revoked.',
  certificate_expired: 'The certificate is past its end.',
  certificate_superseded: 'The certificate was replaced and its overlap is over.',
} as const;

/** Loads the whole fleet's identities and follows their changes. Throws when the registry cannot be read. */
export async function openIdentityCache(deps: IdentityCacheDeps): Promise<IdentityCache> {
  const { registry, timers, monotonicNow, viewMaxAgeMs = REVOCATION_VIEW_MAX_AGE_MS } = deps;
  const byFingerprint = new Map<string, IdentityRecord>();
  const bySensor = new Map<string, readonly IdentityRecord[]>();
  /** Revocations that were heard of, before any certificate of the sensor is known too. Nothing takes one back. */
  const revoked = new Map<string, number>();
  /** Counts local changes, so that an answer asked for earlier does not overwrite them. */
  const versions = new Map<string, number>();
  const listeners = new Set<(sensorId: string) => void>();
  const rereadListeners = new Set<() => void>();
  /** Sensors whose change was announced and not read yet, since when. */
  const unread = new Map<string, number>();
  const { later, stop: stopRetries } = createRetries(timers, IDENTITY_CACHE_REFRESH_MS);
  const retell = createRetelling(deps, later);
  /** The last proof of the view that was lost with the notifications; null once everything was read again. */
  let lostSinceMs: number | null = null;
  let watched: IdentityWatch | null = null;
  let epoch = 0;
  let isStopped = false;

  function put(sensorId: string, records: readonly IdentityRecord[]): void {
    const before = bySensor.get(sensorId) ?? [];
    const heard = records.find((one) => one.sensorRevokedAtMs !== null)?.sensorRevokedAtMs ?? null;
    if (heard !== null && !revoked.has(sensorId)) revoked.set(sensorId, heard);
    const revokedAtMs = revoked.get(sensorId);
    const kept = revokedAtMs === undefined ? records : records.map(revokedBy(revokedAtMs));
    for (const one of before) byFingerprint.delete(one.fingerprint);
    for (const one of kept) byFingerprint.set(one.fingerprint, one);
    if (kept.length > 0) bySensor.set(sensorId, kept);
    else bySensor.delete(sensorId);
  }

  function apply(sensorId: string, records: readonly IdentityRecord[]): void {
    versions.set(sensorId, (versions.get(sensorId) ?? 0) + 1);
    put(sensorId, records);
    for (const listener of listeners) listener(sensorId);
  }

  /** Nothing changed here since the database was asked: what it does not know it has forgotten. */
  function learn(sensorId: string, records: readonly IdentityRecord[]): void {
    apply(sensorId, records);
    if (revoked.has(sensorId) && records.length > 0 && records.every(isTrusted)) retell(sensorId);
  }

  async function read(sensorId: string): Promise<void> {
    const version = versions.get(sensorId) ?? 0;
    try {
      const records = await registry.identitiesOf(sensorId);
      if (isStopped) return;
      if ((versions.get(sensorId) ?? 0) !== version) return await read(sensorId);
      unread.delete(sensorId);
      learn(sensorId, records);
    } catch (error) {
      deps.logger.warn({ sensorId, error: String(error) }, 'an identity could not be read');
      later(() => read(sensorId));
    }
  }

  function readAgain(sensorId: string): void {
    if (!unread.has(sensorId)) unread.set(sensorId, lostSinceMs ?? monotonicNow());
    void read(sensorId);
  }

  async function readAll(): Promise<void> {
    epoch += 1;
    const own = epoch;
    try {
      const atStart = new Map(versions);
      const all = Map.groupBy(await registry.loadIdentities(), (one) => one.sensorId);
      if (isStopped || own !== epoch) return;
      const isMoved = (id: string) => versions.get(id) !== atStart.get(id);
      const moved = new Set([...bySensor.keys(), ...all.keys()].filter(isMoved));
      for (const sensorId of [...bySensor.keys()]) {
        if (!all.has(sensorId) && !moved.has(sensorId)) apply(sensorId, []);
      }
      for (const [sensorId, records] of all) if (!moved.has(sensorId)) learn(sensorId, records);
      // What moved meanwhile may have been moved by an answer that was asked for earlier than this one.
      for (const sensorId of moved) readAgain(sensorId);
      lostSinceMs = null;
      for (const listener of rereadListeners) listener();
    } catch (error) {
      deps.logger.warn({ error: String(error) }, 'the identities could not be read');
      later(() => (own === epoch ? readAll() : Promise.resolve()));
    }
  }

  function provenAgoMs(): number {
    return watched?.provenAgoMs() ?? 0;
  }

  function isOutdated(sinceMs: number | null | undefined): boolean {
    return typeof sinceMs === 'number' && monotonicNow() - sinceMs > viewMaxAgeMs;
  }

  function judge(fingerprint: string | null, nowMs: number): IdentityVerdict {
    if (fingerprint === null) {
      return refuse('client_certificate_required', 'No client certificate was presented.');
    }
    if (provenAgoMs() > viewMaxAgeMs || isOutdated(lostSinceMs)) return unsure();
    const identity = byFingerprint.get(fingerprint);
    const verdict = judgeCertificate(identity, nowMs, deps.overlapMs);
    if (!verdict.ok) return refuse(verdict.code, REFUSED_BECAUSE[verdict.code]);
    if (identity === undefined) throw new Error('an unknown certificate was accepted');
    if (unread.size > 0 && isOutdated(unread.get(identity.sensorId))) return unsure();
    return { ok: true, identity };
  }

  watched = await registry.watchIdentities({
    onChange(sensorId) {
      if (!unread.has(sensorId)) unread.set(sensorId, monotonicNow() - provenAgoMs());
      versions.set(sensorId, (versions.get(sensorId) ?? 0) + 1);
      void read(sensorId);
    },
    onLost() {
      epoch += 1;
      lostSinceMs ??= monotonicNow() - provenAgoMs();
      deps.logger.warn('notifications of revocations stopped');
    },
    onRestored: () => void readAll(),
  });
  for (const [sensorId, records] of Map.groupBy(
    await registry.loadIdentities(),
    (one) => one.sensorId,
  )) {
    if (!versions.has(sensorId)) put(sensorId, records);
  }

  return {
    judge,
    apply(sensorId, records) {
      apply(sensorId, records);
      // The answer may be older than what a notification brought meanwhile: the database has the last word.
      void read(sensorId);
    },
    markRevoked(sensorId, revokedAtMs) {
      if (!revoked.has(sensorId)) revoked.set(sensorId, revokedAtMs);
      apply(sensorId, bySensor.get(sensorId) ?? []);
    },
    identitiesOf: (sensorId) => bySensor.get(sensorId) ?? [],
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    onReread(listener) {
      rereadListeners.add(listener);
      return () => rereadListeners.delete(listener);
    },
    size: () => byFingerprint.size,
    async stop() {
      isStopped = true;
      stopRetries();
      await watched?.stop();
    },
  };
}

/** An earlier instant that is known stays. */
function revokedBy(revokedAtMs: number): (one: IdentityRecord) => IdentityRecord {
  return (one) => ({ ...one, sensorRevokedAtMs: one.sensorRevokedAtMs ?? revokedAtMs });
}

function isTrusted({ sensorRevokedAtMs }: IdentityRecord): boolean {
  return sensorRevokedAtMs === null;
}

function unsure(): Refusal {
  return refuse('trust_unavailable', 'This Console cannot be sure which sensors are revoked.', {
    retryAfterMs: IDENTITY_CACHE_REFRESH_MS,
  });
}
