// The ports of a Console that needs nothing but memory: every one can be replaced by what a test is about.
import { createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import { commonPasswords } from '../actors/access/common-passwords.ts';
import { createProviderClient } from '../actors/access/sso/provider-client.ts';
import type { LicenseAnchor } from '../actors/license/license-service.ts';
import { outboundMail } from '../actors/outbound/outbound-mail.ts';
import { createOutboundPost } from '../actors/outbound/outbound-post.ts';
import { outboundStream } from '../actors/outbound/outbound-stream.ts';
import { silentLogger } from '../actors/runtime/silent-logger.ts';
import { createWheelClock } from '../actors/runtime/wheel-clock.ts';
import { systemChance } from '../actors/trust/chance.ts';
import { EVALUATION_SETTINGS } from '../machines/console/settings/settings.rules.ts';
import type { IntervalName } from '../machines/limits.ts';
import { createCheapHasher } from '../storage/memory/access/password-hasher.ts';
import { createPlainSealer } from '../storage/memory/access/plain-sealer.ts';
import { createMemoryExporter } from '../storage/memory/exports/exporter.ts';
import type { AnalyticsStores, RelationalStores } from '../storage/ports/stores.ts';
import { type ConsoleConfig, loadConfig } from './config/config.ts';
import type { ConsoleKeys, ConsolePorts, ServerTls } from './console-ports.ts';
import { processTime } from './process/time.ts';

const NO_TLS: ServerTls = {
  certFile: '',
  keyFile: '',
  clientCaFile: '',
  serverCaPem: '-----BEGIN CERTIFICATE-----\n',
  serverCaFingerprintSha256: 'aabb',
  serverKeyPin: 'cGlu',
};

const PKCS8_HEAD = '302e020100300506032b657004220420';
const POLICY_KEY_PEM = [
  '-----BEGIN PRIVATE KEY-----',
  Buffer.from(`${PKCS8_HEAD}${'07'.repeat(32)}`, 'hex').toString('base64'),
  '-----END PRIVATE KEY-----',
].join('\n');

/** Keys that outlive no test; only the audit trail's is a real one. */
export const memoryKeys: ConsoleKeys = {
  // Always the same, so that a run can be repeated.
  async policySigning() {
    const key = createPrivateKey(POLICY_KEY_PEM);
    const publicKeyPem = createPublicKey(key).export({ format: 'pem', type: 'spki' }).toString();
    return { publicKeyPem, sign: (bytes) => sign(null, bytes, key) };
  },
  operatorSecrets: async () => createPlainSealer(),
  pageLinks: async () => Buffer.alloc(32, 7),
  async auditCheckpoints() {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const publicKeyPem = publicKey.export({ format: 'pem', type: 'spki' }).toString();
    return { publicKeyPem, sign: (bytes) => sign(null, bytes, privateKey) };
  },
};

/** A configuration from a file's values; nothing is read from the disk. */
export function configFrom(
  values: { readonly intervals?: Partial<Record<IntervalName, number>> } & Record<string, unknown>,
  dataDir = '/nowhere',
): ConsoleConfig {
  const text = JSON.stringify({ port: 0, ...values });
  const env = { SERVICE_CONSOLE_DATA_DIR: dataDir };
  const loaded = loadConfig({ env, isRoot: false, readFile: () => text });
  if (!loaded.ok) throw new Error(loaded.mistakes.join());
  return loaded.config;
}

/** Every port over these stores; `more` replaces single ones. */
export function memoryPorts(
  stores: { readonly relational: RelationalStores; readonly analytics: AnalyticsStores },
  more: Partial<ConsolePorts> = {},
): ConsolePorts {
  const { config = configFrom({}), time = processTime } = more;
  const { monotonicNow } = time;
  const anchor: LicenseAnchor = { source: 'evaluation', publicKey: new Uint8Array(32) };
  return {
    ...{
      config,
      version: '0.1.0',
      holder: 'console',
      logger: silentLogger,
      time,
      chance: systemChance,
    },
    clock: more.clock ?? createWheelClock(),
    takeData: () => () => undefined,
    keys: memoryKeys,
    openRelational: async () => stores.relational,
    openAnalytics: async () => stores.analytics,
    openLicenseTrust: async () => ({ anchors: [anchor], evaluation: null }),
    openCertificates: async () => ({
      sensors: {
        checkCsr: () => ({ ok: false, code: 'csr_refused', detail: 'no authority' }),
        newSerial: () => '01',
        issueSensorCertificate: () => Promise.reject(new Error('no authority')),
        rootsPem: NO_TLS.serverCaPem,
      },
      tls: () => NO_TLS,
      isRenewalDue: () => false,
      renew: async () => NO_TLS,
    }),
    listen: async () => ({
      port: 0,
      swap: () => ({ ok: true, port: 0 }),
      stopAccepting: () => undefined,
      close: () => undefined,
    }),
    settingDefaults: EVALUATION_SETTINGS,
    hasher: createCheapHasher(),
    commonPasswords,
    openProviders: (allowList) => createProviderClient({ monotonicNow, allowList }),
    outboundMail,
    outboundPost: createOutboundPost(),
    exporter: createMemoryExporter().exporter,
    outboundStream,
    openCounter: () => null,
    answers: {
      ...{ readAnswers: async () => undefined, removeAnswers: async () => undefined },
      ...{ readRefusals: async () => [], removeRefusals: async () => undefined },
    },
    sensorPackages: {
      find: async () => ({ kind: 'missing', reason: 'There is no package in memory.' }),
      close: () => undefined,
    },
    ownAddresses: () => [],
    measureProcess: () => undefined,
    afterParsing: setImmediate,
    ...more,
  };
}
