// What the Sensor knows about itself across restarts: its identity files and sensor-state.json.
import Type from 'typebox';
import { TRUST_STATES } from '../../machines/wire/heartbeat.ts';
import { parserOf } from '../../machines/wire/parse.ts';

/** The file names of the state directory. */
export const STATE_FILES = {
  key: 'client.key.pem',
  certificate: 'client.cert.pem',
  previousKey: 'client.prev.key.pem',
  previousCertificate: 'client.prev.cert.pem',
  nextKey: 'client.next.key.pem',
  nextCertificate: 'client.next.cert.pem',
  consoleCa: 'console-ca.cert.pem',
  policyKey: 'policy-signing.pub',
  state: 'sensor-state.json',
  spool: 'events.jsonl',
  baselines: 'baselines.json',
  engineTrials: 'engine-trials.json',
  containment: 'containment.json',
  assignedPack: 'assigned-pack.json',
} as const;

export const SensorStateSchema = Type.Object({
  sensor_id: Type.String(),
  trust_state: Type.Enum([...TRUST_STATES]),
  certificate_expires_at: Type.String(),
  /** `ok`, `renewing`, `failed`, ... */
  renewal_status: Type.String(),
  console_url: Type.Optional(Type.String()),
  node_name: Type.Optional(Type.String()),
  flavor: Type.Optional(Type.String()),
  declared_role: Type.Optional(Type.String()),
  enrolled_at: Type.Optional(Type.String()),
  renewed_at: Type.Optional(Type.String()),
  /** When the previous certificate's overlap began. */
  superseded_at: Type.Optional(Type.String()),
  /** What the Console told of it last. */
  renewal_threshold_seconds: Type.Optional(Type.Number({ minimum: 0 })),
  last_trust_error_at: Type.Optional(Type.String()),
  last_connection_error_at: Type.Optional(Type.String()),
});
export type SensorState = Type.Static<typeof SensorStateSchema>;
/** Reads sensor-state.json; a refusal when it is torn or foreign. */
export const parseSensorState = parserOf(SensorStateSchema);

export type KeyPair = { readonly keyPem: string; readonly certPem: string };

export type Identity = KeyPair & {
  readonly kind: 'whole';
  /** From the certificate's SAN, else from sensor-state.json. */
  readonly sensorId: string;
  /** The certificate's own notAfter. */
  readonly notAfterMs: number;
  readonly caPem: string;
  readonly policyPubPem: string;
  readonly previous: KeyPair | null;
  readonly state: SensorState;
};

export type IdentityResult =
  | { readonly kind: 'none' }
  | Identity
  /** Only a re-enrollment helps. */
  | { readonly kind: 'broken'; readonly reason: string };

export type Enrollment = {
  readonly sensorId: string;
  readonly certPem: string;
  readonly caPem: string;
  readonly policyPubPem: string;
  /** Anything else of sensor-state.json to record. */
  readonly state?: Partial<SensorState>;
};

export type Renewal = {
  readonly certPem: string;
  readonly caPem?: string;
  readonly state?: Partial<SensorState>;
};

export type InstallResult =
  | { readonly ok: true; readonly identity: Identity }
  /** `certificate_mismatch`: the answer does not belong to the kept key; nothing was changed. */
  | {
      readonly ok: false;
      readonly reason: 'certificate_mismatch' | 'not_enrolled' | 'disk_refuses';
      readonly detail: string;
    };

export type StateDirectory = {
  readonly path: string;
  /** The path of one of the files, for the spool and the engine. */
  pathOf(name: keyof typeof STATE_FILES): string;
  /** Recovers what a crash left, then tells what is there. */
  readIdentity(): Promise<IdentityResult>;
  /** The kept key of an unfinished enrollment or renewal, else a new one, on disk (mode 600) before it is returned. */
  beginKey(generate: () => Promise<string>): Promise<string>;
  /** Forgets the key of `beginKey`, which the Console refuses for good; the next `beginKey` makes another. */
  forgetKey(): Promise<void>;
  /** Installs the answer for the key of `beginKey`; older certificates end. Repeatable after a crash. */
  installEnrollment(answer: Enrollment): Promise<InstallResult>;
  /** The same for a renewal; the current pair becomes the previous one. */
  installRenewal(answer: Renewal): Promise<InstallResult>;
  /** Overlays fields of sensor-state.json; false when there is no state yet or the disk refuses. */
  saveState(patch: Partial<SensorState>): Promise<boolean>;
  /** Ends the overlap: removes `client.prev.*`. */
  forgetPrevious(): Promise<void>;
  /** Makes the previous pair the current one again (the Console does not know the new certificate). */
  fallBackToPrevious(): Promise<IdentityResult>;
  /** Lets go of the lock. Idempotent. */
  close(): Promise<void>;
};

export type OpenStateDirectoryResult =
  | { readonly ok: true; readonly directory: StateDirectory }
  | {
      readonly ok: false;
      readonly reason: 'locked' | 'foreign_owner' | 'not_a_directory' | 'disk_refuses';
      readonly detail: string;
    };
