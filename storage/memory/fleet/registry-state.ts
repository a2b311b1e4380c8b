// What the reference registry holds, and the small moves every call is made of.
import type { ErrorCode } from '../../../machines/errors.ts';
import type { AuditEntry } from '../../ports/audit/audit-log.ts';
import type {
  CertificateRow,
  CertificateStatus,
  IdentityRecord,
  LabelFilter,
  SensorRow,
  TokenRow,
} from '../../ports/fleet/sensor-registry.ts';

export type Token = TokenRow & { readonly hash: string; readonly fingerprint: string | null };
export type Certificate = {
  readonly row: CertificateRow;
  readonly sensorId: string;
  readonly status: CertificateStatus;
  readonly createdAtMs: number;
  readonly supersededAtMs: number | null;
};

export type RegistryState = {
  readonly sensors: Map<string, SensorRow>;
  /** What each node told last of its role; empty for none. */
  readonly toldRoles: Map<string, string>;
  /** By the hash in hex. */
  readonly tokens: Map<string, Token>;
  /** By fingerprint. */
  readonly certificates: Map<string, Certificate>;
  /** The sensor of each key, by the key's digest. */
  readonly ownerOfKey: Map<string, string>;
  /** Fingerprints of each sensor, oldest first. */
  readonly fingerprintsOf: Map<string, string[]>;
  readonly record: (entry: AuditEntry) => void;
  /** Tells every watcher, after the call that changed something. */
  readonly tellChanged: (sensorId: string) => void;
  /** Whether a sensor carries every label of a filter. */
  readonly isLabelled: (sensorId: string, filter: LabelFilter) => boolean;
};

/** A registry without sensors. */
export function emptyRegistry(
  record: RegistryState['record'],
  tellChanged: RegistryState['tellChanged'],
  isLabelled: RegistryState['isLabelled'] = isUnlabelled,
): RegistryState {
  return {
    sensors: new Map(),
    toldRoles: new Map(),
    tokens: new Map(),
    certificates: new Map(),
    ownerOfKey: new Map(),
    fingerprintsOf: new Map(),
    record,
    tellChanged,
    isLabelled,
  };
}

/** The answer of a registry that knows of no labels. */
function isUnlabelled(_sensorId: string, { tag, groupId, teamId }: LabelFilter): boolean {
  return tag === undefined && groupId === undefined && teamId === undefined;
}

export function setCertificate(
  state: RegistryState,
  fingerprint: string,
  change: Partial<Certificate>,
): void {
  const own = state.certificates.get(fingerprint);
  if (own !== undefined) state.certificates.set(fingerprint, { ...own, ...change });
}

/** Certificates of one sensor in some of the statuses. */
export function certificatesOf(
  state: RegistryState,
  sensorId: string,
  statuses: readonly CertificateStatus[],
): readonly Certificate[] {
  return ownCertificates(state, sensorId).filter((one) => statuses.includes(one.status));
}

function ownCertificates(state: RegistryState, sensorId: string): readonly Certificate[] {
  const own = state.fingerprintsOf.get(sensorId) ?? [];
  return own.flatMap((fingerprint) => state.certificates.get(fingerprint) ?? []);
}

/** Whether a key was ever of another sensor: it serves one identity only. */
export function isKeyOfAnother(state: RegistryState, keyDigest: string, sensorId: string): boolean {
  const owner = state.ownerOfKey.get(keyDigest);
  return owner !== undefined && owner !== sensorId;
}

export function endAll(
  state: RegistryState,
  sensorId: string,
  statuses: readonly CertificateStatus[],
): void {
  for (const one of certificatesOf(state, sensorId, statuses)) {
    setCertificate(state, one.row.fingerprint, { status: 'ended' });
  }
}

export function addCertificate(
  state: RegistryState,
  row: CertificateRow,
  more: Pick<Certificate, 'sensorId' | 'status' | 'createdAtMs'>,
): void {
  state.certificates.set(row.fingerprint, { row, ...more, supersededAtMs: null });
  state.ownerOfKey.set(row.keyDigest, more.sensorId);
  const own = state.fingerprintsOf.get(more.sensorId);
  if (own === undefined) state.fingerprintsOf.set(more.sensorId, [row.fingerprint]);
  else own.push(row.fingerprint);
}

export function sensorOf(state: RegistryState, sensorId: string): SensorRow | null {
  const row = state.sensors.get(sensorId);
  if (row === undefined) return null;
  const [current] = certificatesOf(state, sensorId, ['current']);
  return { ...row, currentNotAfterMs: current?.row.notAfterMs ?? null };
}

/** By (node_name, sensor_id). */
export function orderedSensors(state: RegistryState): readonly SensorRow[] {
  const rows = [...state.sensors.keys()].flatMap((id) => sensorOf(state, id) ?? []);
  return rows.sort((a, b) => (isAfter(a, b) ? 1 : -1));
}

/** Oldest first; of all sensors when none is named. */
export function identitiesOf(state: RegistryState, sensorId?: string): readonly IdentityRecord[] {
  const wanted =
    sensorId === undefined ? state.certificates.values() : ownCertificates(state, sensorId);
  return [...wanted].sort(byAge).flatMap((one) => {
    const sensor = state.sensors.get(one.sensorId);
    if (sensor === undefined) return [];
    return {
      fingerprint: one.row.fingerprint,
      sensorId: one.sensorId,
      nodeName: sensor.nodeName,
      status: one.status,
      notAfterMs: one.row.notAfterMs,
      supersededAtMs: one.supersededAtMs,
      sensorRevokedAtMs: sensor.revokedAtMs,
      ...(sensor.containmentOrder === undefined
        ? {}
        : { containmentOrderId: sensor.containmentOrder.orderId }),
    };
  });
}

function byAge(a: Certificate, b: Certificate): number {
  return a.createdAtMs - b.createdAtMs || (a.row.fingerprint < b.row.fingerprint ? -1 : 1);
}

type Position = { readonly nodeName: string; readonly sensorId: string };
export function isAfter(one: Position, other: Position): boolean {
  if (one.nodeName !== other.nodeName) return one.nodeName > other.nodeName;
  return one.sensorId > other.sensorId;
}

export function refused<Code extends ErrorCode>(
  code: Code,
): { readonly ok: false; readonly code: Code } {
  return { ok: false, code };
}
