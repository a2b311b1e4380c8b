// Enrollment and renewal: the token, the CSR, and the certificate that comes back.
import Type from 'typebox';
import { Flavor, NamedBy, NODE_NAME_PATTERN, Text, Timestamp, Uuid } from './scalars.ts';

export const SystemFacts = Type.Object({
  os_name: Text(128),
  os_version: Text(128),
  architecture: Text(64),
  kernel_version: Text(256),
});

export const EnrollRequest = Type.Object({
  token: Text(128),
  csr_pem: Text(32_768),
  node_name: Type.String({ pattern: NODE_NAME_PATTERN }),
  flavor: Flavor,
  declared_role: Type.Optional(Text(64)),
  labels: Type.Optional(NamedBy(64, Text(256), 32)),
  system: SystemFacts,
  boot_id: Text(64),
  sensor_version: Text(64),
});

export const EnrollResponse = Type.Object({
  control_plane_certificate_pem: Type.String(),
  control_plane_ca_certificate_pem: Type.String(),
  policy_signing_public_key_pem: Type.String(),
  certificate_expires_at: Timestamp,
  certificate_reference: Type.String(),
  sensor_id: Uuid,
  trust_state: Type.Enum(['trusted']),
  heartbeat_interval_seconds: Type.Number(),
  stream_path: Type.String(),
});

export const RenewRequest = Type.Object({ csr_pem: Text(32_768) });
export const RenewResponse = Type.Object({
  control_plane_certificate_pem: Type.String(),
  control_plane_ca_certificate_pem: Type.String(),
  certificate_expires_at: Timestamp,
  certificate_reference: Type.String(),
});

export type SystemFacts = Type.Static<typeof SystemFacts>;
export type EnrollRequest = Type.Static<typeof EnrollRequest>;
export type EnrollResponse = Type.Static<typeof EnrollResponse>;
export type RenewResponse = Type.Static<typeof RenewResponse>;

/** Where each route of the sensor plane lives. */
export const SENSOR_PATHS = {
  enroll: '/sensors/enroll',
  renew: '/sensors/renew',
  heartbeat: '/sensors/heartbeat',
  events: '/sensors/events',
  inventory: '/sensors/inventory',
  stream: '/sensors/stream',
} as const;
