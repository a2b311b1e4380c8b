// Everything a Console touches of the world. The program hands real ones over, tests and the simulated fleet hand over
// others; what is put together from them is the same. decision: D58

import type { Readable } from 'node:stream';
import type { Registry } from '@prometheus-io/client';
import type { ProviderClient } from '../actors/access/sso/provider-client.ts';
import type { CheckpointSigner } from '../actors/audit/audit-sealer.ts';
import type { LicenseTrust } from '../actors/license/start-license.ts';
import type { OutboundMail } from '../actors/outbound/outbound-mail.ts';
import type { OutboundPost } from '../actors/outbound/outbound-post.ts';
import type { OutboundStream } from '../actors/outbound/outbound-stream.ts';
import type { Logger } from '../actors/runtime/logger.ts';
import type { WheelClock } from '../actors/runtime/wheel-clock.ts';
import type { SensorCertificates } from '../actors/trust/certificate-port.ts';
import type { Chance } from '../actors/trust/chance.ts';
import type { SettingValues } from '../machines/console/settings/settings.rules.ts';
import type { PasswordHasher } from '../storage/ports/access/password-hasher.ts';
import type { SharedCounter } from '../storage/ports/access/shared-counter.ts';
import type { AuditEntry } from '../storage/ports/audit/audit-log.ts';
import type { Exporter } from '../storage/ports/exports/exporter.ts';
import type { Time } from '../storage/ports/plumbing/clock.ts';
import type { Sealer } from '../storage/ports/plumbing/sealer.ts';
import type { AnalyticsStores, RelationalStores } from '../storage/ports/stores.ts';
import type { ConsoleConfig } from './config/config.ts';
import type { Routed } from './listener/let-go.ts';
import type { ListenerTls, ListenResult } from './listener/listener.ts';
import type { Supervised } from './operator-plane/system/store-view.ts';
import type { OwnAddress } from './operator-plane/trust/node-url.ts';
import type { PageFiles } from './page/page-files.ts';

/** What whoever opens a store is told. */
export type Opening = {
  /** Takes what has to be closed later; closed in reverse order. */
  readonly onClose: (close: () => Promise<void>) => void;
  /** Told of each store whose process is supervised. */
  readonly onStore: (name: string, store: Supervised) => void;
  /** Aborts when the start is given up: a store that is still starting is stopped at once. */
  readonly givenUp?: AbortSignal | undefined;
};

export type PolicySigningKey = {
  /** SPKI in PEM. */
  readonly publicKeyPem: string;
  /** An Ed25519 signature. */
  sign(message: Uint8Array): Uint8Array;
};

/** The keys of the data directory; each is made at its first use. invariant: I7 */
export type ConsoleKeys = {
  /** The key that signs policies. */
  policySigning(): Promise<PolicySigningKey>;
  /** Seals what has to be read again: secrets of second factors and of providers. */
  operatorSecrets(): Promise<Sealer>;
  /** Signs page links; kept with the data, so a link survives a restart. */
  pageLinks(): Promise<Buffer>;
  auditCheckpoints(): Promise<CheckpointSigner>;
};

export type ServerTls = ListenerTls & {
  /** What verifies the server certificate; handed to sensors as their trust anchor. */
  readonly serverCaPem: string;
  /** Lower-case hex. */
  readonly serverCaFingerprintSha256: string;
  /** Base64 of the SHA-256 of the certificate's public key (SPKI), as curl and HPKP write it. */
  readonly serverKeyPin: string;
};

/** The packages that nodes install. */
export type SensorPackages = {
  /** The package as it is now; where it is missing and can be made, making it begins. Never rejects. */
  find(): Promise<
    | { readonly kind: 'ready'; readonly sha256: string; readonly open: () => Readable }
    | { readonly kind: 'pending' }
    | { readonly kind: 'missing'; readonly reason: string }
  >;
  close(): void;
};

/** The certificate authority and the listener's certificate. */
export type ConsoleCertificates = {
  readonly sensors: SensorCertificates;
  /** The one in force. */
  tls(): ServerTls;
  isRenewalDue(): boolean;
  /** Makes a new server certificate; it is in force when the listener took it. */
  renew(): Promise<ServerTls>;
};

/** A bound port. */
export type BoundListener = {
  readonly port: number;
  swap(tls: ListenerTls): ListenResult;
  /** Takes no new connection and leaves the open ones. */
  stopAccepting(): void;
  close(): void;
};

export type ConsolePorts = {
  /** The web page; null or absent where none was built. */
  readonly page?: PageFiles | null;
  readonly config: ConsoleConfig;
  readonly version: string;
  /** Aborts when the start is given up: no further step begins. */
  readonly givenUp?: AbortSignal | undefined;
  /** This Console among those of its database, for operators. */
  readonly holder: string;
  readonly logger: Logger;
  readonly time: Time;
  readonly clock: WheelClock;
  readonly chance: Chance;
  /** Takes the data directory for this Console; gives back its release. Throws who holds it. */
  readonly takeData: () => () => void;
  readonly keys: ConsoleKeys;
  /** Opens and migrates PostgreSQL. Throws why it may not. */
  readonly openRelational: (opening: Opening) => Promise<RelationalStores>;
  /** Opens and migrates ClickHouse; the relational database is open then. Throws why it may not. */
  readonly openAnalytics: (opening: Opening) => Promise<AnalyticsStores>;
  readonly openLicenseTrust: () => Promise<LicenseTrust>;
  readonly openCertificates: () => Promise<ConsoleCertificates>;
  /** Binds the port; `attach` puts the routes on an app. Throws why it cannot. */
  readonly listen: (tls: ServerTls, attach: (app: Routed) => void) => Promise<BoundListener>;
  readonly hasher: PasswordHasher;
  /** Passwords that are tried first, lower case. */
  readonly commonPasswords: () => Promise<ReadonlySet<string>>;
  /** Speaks with identity providers. */
  readonly openProviders: (allowList: () => readonly string[]) => ProviderClient;
  /** Sends what leaves the Console by POST to receivers of operators' choice. */
  readonly outboundPost: OutboundPost;
  /** Sends mail by SMTP to servers of operators' choice. */
  readonly outboundMail: OutboundMail;
  /** Copies days of the event store to where exports go; the event store is open then. */
  readonly exporter: Exporter;
  /** Sends what leaves it as bytes over a connection. */
  readonly outboundStream: OutboundStream;
  /** Opens what counts requests for all replicas; null: each Console by itself. */
  readonly openCounter: () => SharedCounter | null;
  /** What was answered in a first run. */
  readonly answers: {
    readAnswers(): Promise<string | undefined>;
    removeAnswers(): Promise<void>;
    /** Wrong codes of that run, for the audit log. */
    readRefusals(): Promise<readonly AuditEntry[]>;
    removeRefusals(): Promise<void>;
  };
  readonly sensorPackages: SensorPackages;
  /** Every address this machine has. */
  readonly ownAddresses: () => readonly OwnAddress[];
  /** Adds facts of the process to the metrics. */
  readonly measureProcess: (registry: Registry) => void;
  /** Runs after the parser is done with the bytes it holds. */
  readonly afterParsing: (run: () => void) => void;
  /** What settings hold while nobody set them, where that is not the usual: an evaluation asks less. decision: D63 */
  readonly settingDefaults?: Partial<SettingValues> | undefined;
  /** Requests in a minute, where they are not the specification's. */
  readonly requestBudgets?: Partial<Readonly<Record<'large' | 'small' | 'address', number>>>;
};
