// The authority of control state: sensors, their certificates and tokens. Every call is one transaction; a refusal rolls
// everything back, so no token is burnt by it. Throws StoreUnavailable when the database cannot answer; the caller
// answers 503. invariant: I2, I3, I15
import type { ErrorCode } from '../../../machines/errors.ts';
import type { SystemFacts } from '../../../machines/wire/enrollment.ts';
import type { Flavor } from '../../../machines/wire/scalars.ts';
import type { ContainmentOrderRow } from '../containment/containment-orders.ts';

export type CertificateStatus = 'pending' | 'current' | 'previous' | 'ended';

/** What the gateway needs to decide about a presented certificate, without a query. */
export type IdentityRecord = {
  readonly fingerprint: string;
  readonly sensorId: string;
  readonly nodeName: string;
  readonly status: CertificateStatus;
  readonly notAfterMs: number;
  readonly supersededAtMs: number | null;
  readonly sensorRevokedAtMs: number | null;
  /** The newest order to contain or release; absent: there never was one. */
  readonly containmentOrderId?: string;
};

export type CertificateRow = {
  readonly fingerprint: string;
  readonly reference: string;
  readonly serial: string;
  readonly keyDigest: string;
  readonly pem: string;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
};

export type SensorRow = {
  readonly sensorId: string;
  readonly nodeName: string;
  readonly flavor: Flavor;
  readonly declaredRole: string | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly system: SystemFacts;
  readonly bootId: string;
  readonly sensorVersion: string;
  readonly flavorMismatch: boolean;
  readonly enrolledAtMs: number;
  readonly revokedAtMs: number | null;
  readonly revokedReason: string | null;
  readonly lastHeartbeatAtMs: number | null;
  readonly currentNotAfterMs: number | null;
  /** The latest report of the sensor, as written by the fact writer; null before the first heartbeat. */
  readonly facts: SensorFacts | null;
  /** The newest one; absent: nobody ever ordered. */
  readonly containmentOrder?: ContainmentOrderRow;
};

/** What lists of many sensors are filtered and ordered by: a row without what is long. */
export type BriefSensor = Pick<
  SensorRow,
  | 'sensorId'
  | 'nodeName'
  | 'flavor'
  | 'system'
  | 'sensorVersion'
  | 'enrolledAtMs'
  | 'revokedAtMs'
  | 'lastHeartbeatAtMs'
  | 'currentNotAfterMs'
> & {
  /** Of the latest facts; null where they name none. */
  readonly engineKind: string | null;
};

/** The latest facts of one heartbeat: small, replaced whole, never an event. */
export type SensorFacts = {
  readonly engine: unknown;
  readonly trust: unknown;
  readonly resources: unknown;
  readonly pipeline: unknown;
  readonly capabilities: readonly string[];
  /** What capabilities keep, each by names of its own. */
  readonly [kept: string]: unknown;
};

export type HeartbeatFacts = {
  readonly sensorId: string;
  readonly receivedAtMs: number;
  readonly bootId: string;
  readonly sensorVersion: string;
  readonly flavor: Flavor;
  readonly flavorMismatch: boolean;
  /** Of the node. It counts when it is another than the node told before; until then an operator's choice stands. */
  readonly declaredRole: string | null;
  readonly system: SystemFacts;
  readonly facts: SensorFacts;
};

export type TokenKind = 'enroll' | 'reenroll';
export type TokenRow = {
  readonly tokenId: string;
  readonly kind: TokenKind;
  readonly sensorId: string | null;
  readonly note: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly consumedAtMs: number | null;
  readonly revokedAtMs: number | null;
  readonly consumedKeyDigest: string | null;
};

export type EnrollInput = {
  readonly tokenHash: Buffer;
  readonly nowMs: number;
  /** For an enrollment token the new identity; for a re-enrollment token it must equal the token's sensor. */
  readonly sensor: Omit<
    SensorRow,
    | 'revokedAtMs'
    | 'revokedReason'
    | 'lastHeartbeatAtMs'
    | 'currentNotAfterMs'
    | 'facts'
    | 'enrolledAtMs'
    | 'containmentOrder'
  >;
  readonly certificate: CertificateRow;
  /** Nodes the license allows for new identities; null = no limit. */
  readonly nodesAllowed: number | null;
  readonly from?: string | undefined;
};

export type EnrollOutcome =
  | {
      readonly ok: true;
      readonly repeated: boolean;
      readonly sensorId: string;
      readonly certificate: CertificateRow;
      readonly identities: readonly IdentityRecord[];
    }
  | {
      readonly ok: false;
      readonly code: Extract<
        ErrorCode,
        | 'token_invalid'
        | 'token_expired'
        | 'token_consumed'
        | 'license_limit'
        | 'sensor_is_revoked'
        | 'key_in_use'
      >;
    };

export type RenewOutcome =
  | {
      readonly ok: true;
      readonly repeated: boolean;
      readonly certificate: CertificateRow;
      readonly identities: readonly IdentityRecord[];
    }
  | {
      readonly ok: false;
      readonly code: Extract<
        ErrorCode,
        | 'renewal_not_allowed'
        | 'sensor_revoked'
        | 'certificate_unknown'
        | 'csr_refused'
        | 'key_in_use'
      >;
    };

/** Labels that a sensor must carry, all of them. */
export type LabelFilter = {
  readonly tag?: string;
  readonly groupId?: string;
  readonly teamId?: string;
};
export type SensorQuery = LabelFilter & {
  readonly limit: number;
  /** Exclusive lower bound of the keyset (node_name, sensor_id). */
  readonly after: { readonly nodeName: string; readonly sensorId: string } | null;
  readonly nodeNameContains?: string;
};

export type SensorRegistry = {
  createToken(input: {
    readonly tokenId: string;
    readonly hash: Buffer;
    readonly kind: TokenKind;
    readonly sensorId: string | null;
    readonly note: string;
    readonly nowMs: number;
    readonly expiresAtMs: number;
    readonly actor: string;
    readonly from?: string | undefined;
  }): Promise<
    { readonly ok: true } | { readonly ok: false; readonly code: 'not_found' | 'sensor_is_revoked' }
  >;
  /** By hash; null when unknown. */
  findToken(hash: Buffer): Promise<TokenRow | null>;
  /** Newest first, by keyset on token id. */
  listTokens(query: {
    readonly limit: number;
    readonly before: string | null;
  }): Promise<readonly TokenRow[]>;
  /** Idempotent; null when there is no such token. A consumed token stays consumed. */
  revokeToken(input: {
    readonly tokenId: string;
    readonly nowMs: number;
    readonly actor: string;
    readonly from?: string | undefined;
  }): Promise<TokenRow | null>;

  /** One transaction: consume the token by a conditional update, then sensor and certificate. Same token and key = the same certificate. A key ever used by another sensor is key_in_use. */
  enroll(input: EnrollInput): Promise<EnrollOutcome>;
  /** Adds or replaces the pending certificate; only the current one (by fingerprint) may ask. Same key = the same certificate. A key ever used by this sensor before is csr_refused, by another key_in_use. */
  addPendingCertificate(input: {
    readonly byFingerprint: string;
    readonly nowMs: number;
    readonly certificate: CertificateRow;
    readonly from?: string | undefined;
  }): Promise<RenewOutcome>;
  /** At the first authenticated request: pending -> current, current -> previous (superseded at nowMs), older previous -> ended. Idempotent; returns the sensor's identities now. */
  activateCertificate(input: {
    readonly fingerprint: string;
    readonly nowMs: number;
  }): Promise<readonly IdentityRecord[]>;
  /** Final and idempotent: sensor and audit in one transaction, then every replica is notified. null when there is no such sensor. */
  revoke(input: {
    readonly sensorId: string;
    readonly nowMs: number;
    readonly reason: string;
    readonly actor: string;
    readonly from?: string | undefined;
  }): Promise<SensorRow | null>;

  loadIdentities(): Promise<readonly IdentityRecord[]>;
  identitiesOf(sensorId: string): Promise<readonly IdentityRecord[]>;
  loadSensors(): Promise<readonly SensorRow[]>;
  getSensor(sensorId: string): Promise<SensorRow | null>;
  /** Ordered by (node_name, sensor_id). */
  listSensors(query: SensorQuery): Promise<readonly SensorRow[]>;
  /** The same sensors in the same order, in brief: for whoever looks at thousands to show a few. */
  listBriefly(query: SensorQuery): Promise<readonly BriefSensor[]>;
  /** Those there are, in the order of the list. */
  sensorsOf(sensorIds: readonly string[]): Promise<readonly SensorRow[]>;
  /**
   * Calls back with the sensor whose identities changed (in any replica). `onLost` when the notifications stop,
   * `onRestored` after they flow again (reload everything then).
   */
  watchIdentities(watch: {
    readonly onChange: (sensorId: string) => void;
    readonly onLost: () => void;
    readonly onRestored: () => void;
  }): Promise<IdentityWatch>;
};

export type IdentityWatch = {
  /**
   * How long ago it was last certain that every change until then had been told. It grows in silence too: a connection
   * that died is found only when it does not answer, and `onLost` comes later than that.
   */
  provenAgoMs(): number;
  stop(): Promise<void>;
};

/** Writes heartbeat facts in groups: resolves when the row's group is committed, false when the database cannot take it or the queue is full. A later row of one sensor wins. */
export type FactWriter = {
  write(facts: HeartbeatFacts): Promise<boolean>;
  queuedRows(): number;
  close(): Promise<void>;
};
