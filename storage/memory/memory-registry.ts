// The reference sensor registry: the same refusals in the same order as the real one, in plain memory. Each call runs to
// its end before the next begins, which is what a transaction promises. Used by tests and the simulated fleet only.
import type { ErrorCode } from '../../machines/errors.ts';
import { StoreUnavailable } from '../ports/relational.ts';
import type {
  CertificateRow,
  CertificateStatus,
  EnrollInput,
  EnrollOutcome,
  FactWriter,
  IdentityRecord,
  RenewOutcome,
  SensorRegistry,
  SensorRow,
  TokenRow,
} from '../ports/sensor-registry.ts';
import { storableText } from '../ports/stored-text.ts';

type Token = TokenRow & { readonly hash: string; readonly fingerprint: string | null };
type Certificate = {
  readonly row: CertificateRow;
  readonly sensorId: string;
  readonly status: CertificateStatus;
  readonly supersededAtMs: number | null;
};
type Watch = Parameters<SensorRegistry['watchIdentities']>[0];

export type MemoryRegistry = {
  readonly sensors: SensorRegistry;
  readonly facts: FactWriter;
  /** Away: every call throws StoreUnavailable, facts are refused and watchers are told. */
  setAway(away: boolean): void;
};

/** Makes an empty registry with the fact writer that belongs to it. */
export function createMemoryRegistry(): MemoryRegistry {
  const sensors = new Map<string, SensorRow>();
  const tokens = new Map<string, Token>();
  const certificates = new Map<string, Certificate>();
  const watches = new Set<Watch>();
  let isAway = false;
  let isClosed = false;

  function check(): void {
    if (isAway) throw new StoreUnavailable('the memory registry is told to be away');
  }
  function changed(sensorId: string): void {
    for (const watch of watches) queueMicrotask(() => watch.onChange(sensorId));
  }
  function set(fingerprint: string, change: Partial<Certificate>): void {
    const own = certificates.get(fingerprint);
    if (own !== undefined) certificates.set(fingerprint, { ...own, ...change });
  }
  function endAll(sensorId: string, statuses: readonly CertificateStatus[]): void {
    for (const [fingerprint, one] of certificates) {
      if (one.sensorId === sensorId && statuses.includes(one.status)) {
        set(fingerprint, { status: 'ended' });
      }
    }
  }
  function add(row: CertificateRow, sensorId: string, status: CertificateStatus): void {
    certificates.set(row.fingerprint, { row, sensorId, status, supersededAtMs: null });
  }
  function sensorOf(sensorId: string): SensorRow | null {
    const row = sensors.get(sensorId);
    if (row === undefined) return null;
    const current = [...certificates.values()].find(
      (one) => one.sensorId === sensorId && one.status === 'current',
    );
    return { ...row, currentNotAfterMs: current?.row.notAfterMs ?? null };
  }
  function identities(sensorId?: string): readonly IdentityRecord[] {
    return [...certificates.values()].flatMap((one) => {
      const sensor = sensors.get(one.sensorId);
      if (sensor === undefined || (sensorId !== undefined && one.sensorId !== sensorId)) return [];
      return [
        {
          fingerprint: one.row.fingerprint,
          sensorId: one.sensorId,
          nodeName: sensor.nodeName,
          status: one.status,
          notAfterMs: one.row.notAfterMs,
          supersededAtMs: one.supersededAtMs,
          sensorRevokedAtMs: sensor.revokedAtMs,
        },
      ];
    });
  }
  function tokenBy(hash: Buffer): Token | undefined {
    return tokens.get(hash.toString('hex'));
  }

  function enroll(input: EnrollInput): EnrollOutcome {
    const token = tokenBy(input.tokenHash);
    if (token === undefined || token.revokedAtMs !== null) return refused('token_invalid');
    if (token.fingerprint !== null) return repeat(token, token.fingerprint, input);
    if (token.expiresAtMs <= input.nowMs) return refused('token_expired');
    const { sensorId, nodeName } = input.sensor;
    const known = token.sensorId === null ? undefined : sensors.get(token.sensorId);
    if (token.kind === 'reenroll') {
      if (known === undefined) return refused('token_invalid');
      if (known.revokedAtMs !== null) return refused('sensor_is_revoked');
      if (known.sensorId !== sensorId || known.nodeName !== nodeName) {
        return refused('token_invalid');
      }
      endAll(sensorId, ['pending', 'current', 'previous']);
    } else {
      const nodes = [...sensors.values()].filter((one) => one.revokedAtMs === null).length;
      if (input.nodesAllowed !== null && nodes >= input.nodesAllowed) {
        return refused('license_limit');
      }
    }
    sensors.set(sensorId, {
      enrolledAtMs: input.nowMs,
      revokedAtMs: null,
      revokedReason: null,
      lastHeartbeatAtMs: null,
      currentNotAfterMs: null,
      facts: null,
      ...known,
      ...input.sensor,
    });
    add(input.certificate, sensorId, 'current');
    tokens.set(token.hash, {
      ...token,
      consumedAtMs: input.nowMs,
      consumedKeyDigest: input.certificate.keyDigest,
      fingerprint: input.certificate.fingerprint,
    });
    changed(sensorId);
    const { certificate } = input;
    return { ok: true, repeated: false, sensorId, certificate, identities: identities(sensorId) };
  }

  function repeat(token: Token, fingerprint: string, input: EnrollInput): EnrollOutcome {
    if (token.consumedKeyDigest !== input.certificate.keyDigest) return refused('token_consumed');
    if (token.expiresAtMs <= input.nowMs) return refused('token_expired');
    const own = certificates.get(fingerprint);
    if (own === undefined) throw new Error('a consumed token has a certificate');
    const { sensorId } = own;
    if (sensors.get(sensorId)?.revokedAtMs !== null) return refused('sensor_is_revoked');
    if (own.status === 'ended') return refused('token_consumed');
    const certificate = own.row;
    return { ok: true, repeated: true, sensorId, certificate, identities: identities(sensorId) };
  }

  function renew(input: Parameters<SensorRegistry['addPendingCertificate']>[0]): RenewOutcome {
    const presented = certificates.get(input.byFingerprint);
    if (presented === undefined) return refused('certificate_unknown');
    const { sensorId } = presented;
    if (sensors.get(sensorId)?.revokedAtMs !== null) return refused('sensor_revoked');
    if (presented.status !== 'current') return refused('renewal_not_allowed');
    const sameKey = [...certificates.values()].filter(
      (one) => one.sensorId === sensorId && one.row.keyDigest === input.certificate.keyDigest,
    );
    const pending = sameKey.find((one) => one.status === 'pending');
    if (pending === undefined && sameKey.length > 0) return refused('csr_refused');
    if (pending === undefined) {
      endAll(sensorId, ['pending']);
      add(input.certificate, sensorId, 'pending');
      changed(sensorId);
    }
    return {
      ok: true,
      repeated: pending !== undefined,
      certificate: pending?.row ?? input.certificate,
      identities: identities(sensorId),
    };
  }

  function activate(fingerprint: string, nowMs: number): readonly IdentityRecord[] {
    const own = certificates.get(fingerprint);
    if (own === undefined) return [];
    const { sensorId } = own;
    if (own.status === 'pending' && sensors.get(sensorId)?.revokedAtMs === null) {
      endAll(sensorId, ['previous']);
      for (const [other, one] of certificates) {
        if (one.sensorId === sensorId && one.status === 'current') {
          set(other, { status: 'previous', supersededAtMs: nowMs });
        }
      }
      set(fingerprint, { status: 'current' });
      changed(sensorId);
    }
    return identities(sensorId);
  }

  const ordered = () =>
    [...sensors.keys()]
      .flatMap((id) => sensorOf(id) ?? [])
      .sort((a, b) => (isAfter(a, b) ? 1 : -1));

  const registry: SensorRegistry = {
    async createToken(input) {
      check();
      if (input.sensorId !== null) {
        const sensor = sensors.get(input.sensorId);
        if (sensor === undefined) return refused('not_found');
        if (sensor.revokedAtMs !== null) return refused('sensor_is_revoked');
      }
      const hash = input.hash.toString('hex');
      tokens.set(hash, {
        tokenId: input.tokenId,
        kind: input.kind,
        sensorId: input.sensorId,
        note: storableText(input.note),
        createdAtMs: input.nowMs,
        expiresAtMs: input.expiresAtMs,
        consumedAtMs: null,
        revokedAtMs: null,
        consumedKeyDigest: null,
        hash,
        fingerprint: null,
      });
      return { ok: true };
    },
    async findToken(hash) {
      check();
      const token = tokenBy(hash);
      return token === undefined ? null : shown(token);
    },
    async listTokens({ limit, before }) {
      check();
      return [...tokens.values()]
        .filter((one) => before === null || one.tokenId < before)
        .sort((a, b) => (a.tokenId < b.tokenId ? 1 : -1))
        .slice(0, limit)
        .map(shown);
    },
    async revokeToken({ tokenId, nowMs }) {
      check();
      const token = [...tokens.values()].find((one) => one.tokenId === tokenId);
      if (token === undefined) return null;
      const isOpen = token.revokedAtMs === null && token.consumedAtMs === null;
      const next = isOpen ? { ...token, revokedAtMs: nowMs } : token;
      tokens.set(token.hash, next);
      return shown(next);
    },
    async enroll(input) {
      check();
      return enroll(input);
    },
    async addPendingCertificate(input) {
      check();
      return renew(input);
    },
    async activateCertificate({ fingerprint, nowMs }) {
      check();
      return activate(fingerprint, nowMs);
    },
    async revoke({ sensorId, nowMs, reason }) {
      check();
      const sensor = sensors.get(sensorId);
      if (sensor === undefined) return null;
      if (sensor.revokedAtMs === null) {
        const revokedReason = storableText(reason);
        sensors.set(sensorId, { ...sensor, revokedAtMs: nowMs, revokedReason });
      }
      changed(sensorId);
      return sensorOf(sensorId);
    },
    async loadIdentities() {
      check();
      return identities();
    },
    async identitiesOf(sensorId) {
      check();
      return identities(sensorId);
    },
    async loadSensors() {
      check();
      return ordered();
    },
    async getSensor(sensorId) {
      check();
      return sensorOf(sensorId);
    },
    async listSensors({ limit, after, nodeNameContains = '' }) {
      check();
      const part = nodeNameContains.toLowerCase();
      return ordered()
        .filter((one) => after === null || isAfter(one, after))
        .filter((one) => one.nodeName.toLowerCase().includes(part))
        .slice(0, limit);
    },
    async watchIdentities(watch) {
      check();
      watches.add(watch);
      return async () => void watches.delete(watch);
    },
  };
  return {
    sensors: registry,
    facts: {
      async write(report) {
        if (isAway || isClosed) return false;
        const own = sensors.get(report.sensorId);
        if (own === undefined || (own.lastHeartbeatAtMs ?? 0) > report.receivedAtMs) return true;
        sensors.set(report.sensorId, {
          ...own,
          lastHeartbeatAtMs: report.receivedAtMs,
          bootId: storableText(report.bootId),
          sensorVersion: storableText(report.sensorVersion),
          system: report.system,
          facts: report.facts,
        });
        return true;
      },
      queuedRows: () => 0,
      async close() {
        isClosed = true;
      },
    },
    setAway(away) {
      if (away === isAway) return;
      isAway = away;
      for (const watch of watches) (away ? watch.onLost : watch.onRestored)();
    },
  };
}

function refused<Code extends ErrorCode>(code: Code): { readonly ok: false; readonly code: Code } {
  return { ok: false, code };
}

function shown({ hash: _hash, fingerprint: _fingerprint, ...row }: Token): TokenRow {
  return row;
}

type Position = { readonly nodeName: string; readonly sensorId: string };
function isAfter(one: Position, other: Position): boolean {
  if (one.nodeName !== other.nodeName) return one.nodeName > other.nodeName;
  return one.sensorId > other.sensorId;
}
