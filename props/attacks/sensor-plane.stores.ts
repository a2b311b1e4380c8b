// Small stores for the attacks: maps behind the ports, with a switch that takes each of them away.
import type {
  EventBatch,
  EventSink,
  EventStore,
  StoredRange,
} from '../../storage/ports/event-store.ts';
import { EventStoreUnavailable } from '../../storage/ports/event-store.ts';
import {
  type AuditEntry,
  type AuditLog,
  type InventoryStore,
  StoreUnavailable,
} from '../../storage/ports/relational.ts';
import type {
  CertificateRow,
  EnrollInput,
  EnrollOutcome,
  FactWriter,
  HeartbeatFacts,
  IdentityRecord,
  RenewOutcome,
  SensorRegistry,
  SensorRow,
  TokenRow,
} from '../../storage/ports/sensor-registry.ts';

type HeldCertificate = CertificateRow & {
  sensorId: string;
  status: IdentityRecord['status'];
  supersededAtMs: number | null;
};
type HeldToken = TokenRow & { hash: string; consumedFingerprint: string | null };
type UsedRegistry = Pick<
  SensorRegistry,
  | 'createToken'
  | 'findToken'
  | 'listTokens'
  | 'revokeToken'
  | 'enroll'
  | 'addPendingCertificate'
  | 'activateCertificate'
  | 'revoke'
  | 'loadIdentities'
  | 'identitiesOf'
  | 'watchIdentities'
>;
export type Switches = { database: boolean; events: boolean };
export type Watch = Parameters<SensorRegistry['watchIdentities']>[0];

/** Everything the plane stores, readable by a test. */
export function createStores(switches: Switches) {
  const sensors = new Map<string, SensorRow>();
  const certificates = new Map<string, HeldCertificate>();
  const tokens = new Map<string, HeldToken>();
  const watches = new Set<Watch>();
  const audit: AuditEntry[] = [];
  const batches: EventBatch[] = [];
  const facts = new Map<string, HeartbeatFacts>();
  const inventory = new Map<string, { hash: string; items: readonly Record<string, unknown>[] }>();

  const reach = async (): Promise<void> => {
    await Promise.resolve();
    if (!switches.database) throw new StoreUnavailable('the test took the database away');
  };
  const identitiesOf = (sensorId: string): IdentityRecord[] =>
    [...certificates.values()].filter((one) => one.sensorId === sensorId).map(identityOf);
  function identityOf(one: HeldCertificate): IdentityRecord {
    const sensor = sensors.get(one.sensorId);
    if (sensor === undefined) throw new Error('a certificate without a sensor');
    return {
      fingerprint: one.fingerprint,
      sensorId: one.sensorId,
      nodeName: sensor.nodeName,
      status: one.status,
      notAfterMs: one.notAfterMs,
      supersededAtMs: one.supersededAtMs,
      sensorRevokedAtMs: sensor.revokedAtMs,
    };
  }
  function hold(sensorId: string, row: CertificateRow, status: HeldCertificate['status']): void {
    certificates.set(row.fingerprint, { ...row, sensorId, status, supersededAtMs: null });
  }
  function repeat(token: HeldToken, input: EnrollInput): EnrollOutcome {
    const row = certificates.get(token.consumedFingerprint ?? '');
    if (row === undefined || token.consumedKeyDigest !== input.certificate.keyDigest) {
      return { ok: false, code: 'token_consumed' };
    }
    const { sensorId } = row;
    return {
      ok: true,
      repeated: true,
      sensorId,
      certificate: row,
      identities: identitiesOf(sensorId),
    };
  }
  function place(token: HeldToken, input: EnrollInput): EnrollOutcome | null {
    const known = sensors.get(input.sensor.sensorId);
    if (token.kind === 'reenroll') {
      if (known === undefined) return { ok: false, code: 'token_invalid' };
      if (known.revokedAtMs !== null) return { ok: false, code: 'sensor_is_revoked' };
      for (const one of certificates.values()) {
        if (one.sensorId === known.sensorId) one.status = 'ended';
      }
      return null;
    }
    if (input.nodesAllowed !== null && sensors.size >= input.nodesAllowed) {
      return { ok: false, code: 'license_limit' };
    }
    sensors.set(input.sensor.sensorId, {
      ...input.sensor,
      enrolledAtMs: input.nowMs,
      revokedAtMs: null,
      revokedReason: null,
      lastHeartbeatAtMs: null,
      currentNotAfterMs: input.certificate.notAfterMs,
      facts: null,
    });
    return null;
  }

  const registry: UsedRegistry = {
    async createToken({ hash, nowMs, actor: _actor, ...rest }) {
      await reach();
      if (rest.sensorId !== null) {
        const sensor = sensors.get(rest.sensorId);
        if (sensor === undefined) return { ok: false, code: 'not_found' };
        if (sensor.revokedAtMs !== null) return { ok: false, code: 'sensor_is_revoked' };
      }
      const unused = { consumedAtMs: null, revokedAtMs: null, consumedKeyDigest: null };
      const key = hash.toString('hex');
      tokens.set(key, {
        ...rest,
        ...unused,
        hash: key,
        createdAtMs: nowMs,
        consumedFingerprint: null,
      });
      return { ok: true };
    },
    async findToken(hash) {
      await reach();
      return tokens.get(hash.toString('hex')) ?? null;
    },
    async listTokens({ limit }) {
      await reach();
      return [...tokens.values()].reverse().slice(0, limit);
    },
    async revokeToken({ tokenId, nowMs }) {
      await reach();
      const token = [...tokens.values()].find((one) => one.tokenId === tokenId);
      if (token === undefined) return null;
      const revoked = { ...token, revokedAtMs: token.consumedAtMs === null ? nowMs : null };
      tokens.set(token.hash, revoked);
      return revoked;
    },
    async enroll(input) {
      await reach();
      const key = input.tokenHash.toString('hex');
      const token = tokens.get(key);
      const outcome = ((): EnrollOutcome => {
        if (token === undefined || token.revokedAtMs !== null) {
          return { ok: false, code: 'token_invalid' };
        }
        if (input.nowMs >= token.expiresAtMs) return { ok: false, code: 'token_expired' };
        if (token.consumedAtMs !== null) return repeat(token, input);
        const refused = place(token, input);
        if (refused !== null) return refused;
        const { certificate } = input;
        const { sensorId } = input.sensor;
        tokens.set(key, {
          ...token,
          consumedAtMs: input.nowMs,
          consumedKeyDigest: certificate.keyDigest,
          consumedFingerprint: certificate.fingerprint,
        });
        hold(sensorId, certificate, 'current');
        const identities = identitiesOf(sensorId);
        return { ok: true, repeated: false, sensorId, certificate, identities };
      })();
      audit.push({
        atMs: input.nowMs,
        actor: 'token',
        action: 'sensor.enroll',
        target: input.sensor.nodeName,
        result: outcome.ok ? 'ok' : outcome.code,
        detail: {},
      });
      return outcome;
    },
    async addPendingCertificate({ byFingerprint, certificate }): Promise<RenewOutcome> {
      await reach();
      const by = certificates.get(byFingerprint);
      if (by === undefined) return { ok: false, code: 'certificate_unknown' };
      if (by.status !== 'current') return { ok: false, code: 'renewal_not_allowed' };
      const own = [...certificates.values()].filter((one) => one.sensorId === by.sensorId);
      const same = own.find((one) => one.keyDigest === certificate.keyDigest);
      if (same !== undefined && same.status !== 'pending')
        return { ok: false, code: 'csr_refused' };
      if (same === undefined) {
        for (const one of own) if (one.status === 'pending') one.status = 'ended';
        hold(by.sensorId, certificate, 'pending');
      }
      return {
        ok: true,
        repeated: same !== undefined,
        certificate: same ?? certificate,
        identities: identitiesOf(by.sensorId),
      };
    },
    async activateCertificate({ fingerprint, nowMs }) {
      await reach();
      const own = certificates.get(fingerprint);
      if (own === undefined) return [];
      if (own.status === 'pending') {
        for (const one of certificates.values()) {
          if (one.sensorId !== own.sensorId) continue;
          if (one.status === 'previous') one.status = 'ended';
          if (one.status === 'current') {
            one.status = 'previous';
            one.supersededAtMs = nowMs;
          }
        }
        own.status = 'current';
      }
      return identitiesOf(own.sensorId);
    },
    async revoke({ sensorId, nowMs, reason }) {
      await reach();
      const row = sensors.get(sensorId);
      if (row === undefined) return null;
      const revoked = {
        ...row,
        revokedAtMs: row.revokedAtMs ?? nowMs,
        revokedReason: row.revokedReason ?? reason,
      };
      sensors.set(sensorId, revoked);
      return revoked;
    },
    async loadIdentities() {
      await reach();
      return [...certificates.values()].map(identityOf);
    },
    async identitiesOf(sensorId) {
      await reach();
      return identitiesOf(sensorId);
    },
    async watchIdentities(watch) {
      await reach();
      watches.add(watch);
      return async () => void watches.delete(watch);
    },
  };

  const ranges = (): StoredRange[] =>
    batches.map(({ sensorId, streamId, channel, sequence }) => ({
      sensorId,
      streamId,
      channel,
      first: sequence,
      last: sequence,
    }));
  const events: Pick<EventStore, 'storedRanges' | 'batchDigest'> & Pick<EventSink, 'append'> = {
    async storedRanges() {
      return ranges();
    },
    async batchDigest(name) {
      if (!switches.events) throw new EventStoreUnavailable('the test took the events away');
      const found = batches.find(
        (one) =>
          one.sensorId === name.sensorId &&
          one.streamId === name.streamId &&
          one.channel === name.channel &&
          one.sequence === name.sequence,
      );
      return found?.digest ?? null;
    },
    async append(batch) {
      await Promise.resolve();
      if (!switches.events) return { ok: false, retryAfterMs: 1_500 };
      batches.push(batch);
      return { ok: true };
    },
  };
  const factWriter: Pick<FactWriter, 'write'> = {
    async write(row) {
      await Promise.resolve();
      if (switches.database) facts.set(row.sensorId, row);
      return switches.database;
    },
  };
  const auditLog: AuditLog = {
    async append(entries) {
      await reach();
      audit.push(...entries);
    },
    recent: async (limit) => audit.slice(-limit),
  };
  const inventoryStore: InventoryStore = {
    loadHashes: async () => [],
    async get(sensorId, section) {
      await reach();
      const held = inventory.get(`${sensorId}/${section}`);
      return held === undefined ? null : { ...held, storedAtMs: 0 };
    },
    async put({ sensorId, section, hash, items }) {
      await reach();
      inventory.set(`${sensorId}/${section}`, { hash, items });
    },
  };
  return {
    registry,
    events,
    factWriter,
    auditLog,
    inventoryStore,
    held: { sensors, certificates, tokens, audit, batches, facts, inventory, watches },
  };
}
