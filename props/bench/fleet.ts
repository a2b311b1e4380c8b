// A fleet that exists before the Console starts: certificates of its own authority and rows in its own database, written
// past the enrollment route, since thousands of enrollments are not what is measured. The keys come from a small pool.
import { createHash, generateKeyPair, randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { hashOfSecret } from '../../actors/trust/tokens.ts';
import { newId } from '../../actors/trust/uuid-v7.ts';
import { serverNames } from '../../gateway/process/server-names.ts';
import { processTime } from '../../gateway/process/time.ts';
import { DEFAULT_INTERVALS } from '../../machines/intervals.ts';
import { SENSOR_KEY_BITS } from '../../machines/limits.ts';
import { createPostgresLauncher } from '../../storage/embedded/postgres.ts';
import {
  type CertificateAuthority,
  newSerial,
  openCertificateAuthority,
} from '../../storage/keys/certificate-authority.ts';
import { prepareTlsAssets, type TlsAssets } from '../../storage/keys/tls-assets.ts';
import { applyMigrations } from '../../storage/migrate.ts';
import type { SensorRegistry } from '../../storage/ports/fleet/sensor-registry.ts';
import { createRelational } from '../../storage/relational/relational.ts';
import { silentLogger } from '../contracts/real-stores.ts';

const KEYS = 8;
const LANES = 10;
const STOP_MS = 15_000;
const LIFE_MS = DEFAULT_INTERVALS.CLIENT_CERTIFICATE_TTL_MS;
const makeKeyPair = promisify(generateKeyPair);

export type Pair = { readonly cert: string; readonly key: string };
export type Fleet = { readonly sensors: readonly Pair[]; readonly tls: TlsAssets };
type Key = { readonly pem: string; readonly spki: Buffer };

/** Enrolls `count` sensors in a Console's data directory; nothing runs afterwards. */
export async function prepareFleet(consoleDir: string, count: number): Promise<Fleet> {
  mkdirSync(consoleDir, { recursive: true, mode: 0o711 });
  chmodSync(consoleDir, 0o711);
  const nowMs = Date.now();
  const folder = join(consoleDir, 'keys');
  const opened = await openCertificateAuthority({ folder, nowMs });
  if (!opened.ok) throw new Error(opened.reason);
  const { authority } = opened;
  const prepared = await prepareTlsAssets({
    folder,
    authority,
    names: serverNames('https://localhost', '127.0.0.1'),
    nowMs,
  });
  if (!prepared.ok) throw new Error(prepared.mistakes.join('; '));
  const keys = await Promise.all(Array.from({ length: KEYS }, makeKey));
  const launcher = createPostgresLauncher({ dataDir: consoleDir, logger: silentLogger });
  const postgres = await launcher.start(AbortSignal.timeout(60_000));
  try {
    const relational = createRelational({
      url: postgres.endpoint.url,
      timers: processTime,
      logger: silentLogger,
      intervals: DEFAULT_INTERVALS,
    });
    const analytics = () => Promise.reject(new Error('the analytics store is not asked'));
    const migrated = await applyMigrations({
      pool: relational.pool,
      analytics,
      only: ['relational'],
    });
    if (!migrated.ok) throw new Error(migrated.detail);
    const sensors: Pair[] = [];
    let next = 0;
    const lane = async (): Promise<void> => {
      for (let at = next++; at < count; at = next++) {
        const key = keys[at % KEYS];
        if (key === undefined) throw new Error('the pool of keys is empty');
        sensors[at] = await enroll({ authority, registry: relational.sensors, key, at });
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    await relational.close();
    return { sensors, tls: prepared.assets };
  } finally {
    await postgres.stop(STOP_MS);
  }
}

async function makeKey(): Promise<Key> {
  const pair = await makeKeyPair('rsa', { modulusLength: SENSOR_KEY_BITS });
  return {
    pem: pair.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    spki: pair.publicKey.export({ format: 'der', type: 'spki' }),
  };
}

async function enroll(parts: {
  readonly authority: CertificateAuthority;
  readonly registry: SensorRegistry;
  readonly key: Key;
  readonly at: number;
}): Promise<Pair> {
  const { authority, registry, key, at } = parts;
  const [nowMs, sensorId, nodeName] = [Date.now(), newId(), `bench-${at}`];
  const tokenHash = hashOfSecret(randomBytes(16).toString('hex'));
  await registry.createToken({
    tokenId: newId(),
    hash: tokenHash,
    kind: 'enroll',
    sensorId: null,
    note: 'bench',
    nowMs,
    expiresAtMs: nowMs + DEFAULT_INTERVALS.ENROLLMENT_TOKEN_TTL_MS,
    actor: 'bench',
  });
  const serial = newSerial();
  const issued = await authority.issueSensorCertificate({
    publicKeySpki: key.spki,
    nodeName,
    sensorId,
    notBeforeMs: nowMs - DEFAULT_INTERVALS.CERTIFICATE_BACKDATE_MS,
    notAfterMs: nowMs + LIFE_MS,
    serial,
  });
  const outcome = await registry.enroll({
    tokenHash,
    nowMs,
    sensor: {
      sensorId,
      nodeName,
      flavor: 'standard',
      declaredRole: null,
      labels: {},
      system: { os_name: 'Debian', os_version: '12', architecture: 'x64', kernel_version: '6.1' },
      bootId: 'bench',
      sensorVersion: '0.1.0',
      flavorMismatch: false,
    },
    certificate: {
      ...issued,
      reference: newId(),
      // Several share a key, which the registry would refuse: each is entered as one of its own.
      keyDigest: createHash('sha256').update(key.spki).update(sensorId).digest('hex'),
    },
    nodesAllowed: null,
  });
  if (!outcome.ok) throw new Error(`bench sensor ${at}: ${outcome.code}`);
  return { cert: issued.pem, key: key.pem };
}
