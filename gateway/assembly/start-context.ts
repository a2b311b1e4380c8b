// What the steps of a start build and hand on, one after the other.

import { join } from 'node:path';
import type { FirstAdmin } from '../../actors/access/first-admin.ts';
import type { LicenseDesk } from '../../actors/license/license-desk.ts';
import type { Logger } from '../../actors/runtime/logger.ts';
import type { createWheelClock } from '../../actors/runtime/wheel-clock.ts';
import type { SettingsDesk } from '../../actors/settings/settings-desk.ts';
import type { Analytics } from '../../storage/analytics/analytics.ts';
import type { CertificateAuthority } from '../../storage/keys/certificate-authority.ts';
import type { PolicySigningKey } from '../../storage/keys/policy-signing-key.ts';
import type { TlsAssets } from '../../storage/keys/tls-assets.ts';
import type { Relational } from '../../storage/relational/relational.ts';
import type { ConsoleConfig } from '../config/config.ts';
import type { Listener } from '../listener/listener.ts';
import type { Fleet } from './fleet.ts';
import type { OperatorSide } from './operator.ts';
import type { SensorSide } from './sensor.ts';
import type { StoreView } from './store-view.ts';

export type Console = {
  readonly port: number;
  readonly caPem: string;
  /** SHA-256 of the CA certificate, colon-separated upper-case hex. */
  readonly caFingerprint: string;
  /** Makes an admin API key; the secret is told once. invariant: I11 */
  createAdminKey(name: string): Promise<string>;
  /** An admin with a password that is told once, where there is none yet. invariant: I11 */
  provideFirstAdmin(): Promise<FirstAdmin | null>;
  /** Makes a one-time enrollment token. */
  createToken(note: string): Promise<string>;
  isKnownSensor(sensorId: string): Promise<boolean>;
  /** Whether an API key still works. */
  isGoodKey(secret: string): Promise<boolean>;
  /** Refuses newcomers, ends streams, writes what is queued, stops the embedded stores. */
  stop(): Promise<void>;
};

export type ConsoleOptions = {
  readonly config: ConsoleConfig;
  readonly version: string;
  readonly logger: Logger;
  /** Quick start heeds the license trust anchor of the environment. */
  readonly isQuickStart?: boolean;
};

/** What the steps build, one after the other. */
export type Built = {
  signing?: PolicySigningKey;
  relational?: Relational;
  settings?: SettingsDesk;
  license?: LicenseDesk;
  analytics?: Analytics;
  fleet?: Fleet;
  sensorSide?: SensorSide;
  operatorSide?: OperatorSide;
  authority?: CertificateAuthority;
  tls?: TlsAssets;
  listener?: Listener;
  port?: number;
};

export type StepContext = ConsoleOptions & {
  readonly built: Built;
  readonly closers: (() => Promise<void> | void)[];
  readonly clock: ReturnType<typeof createWheelClock>;
  readonly isDraining: () => boolean;
  readonly stores: StoreView;
  readonly sealers: StoreView;
};

/** Where the Console's keys lie. */
export function keysFolder(config: ConsoleConfig): string {
  return join(config.dataDir, 'keys');
}

// A step that needs what an earlier one builds; the order of steps makes it a programmer error when it is not there.
export function need<Name extends keyof Built>(
  built: Built,
  name: Name,
): Required<Pick<Built, Name>> {
  if (built[name] === undefined) throw new Error(`start-up order: ${name} is not built yet`);
  return built as Required<Pick<Built, Name>>;
}
