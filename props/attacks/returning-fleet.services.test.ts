// A fleet that comes back at one instant, after the power did: every sensor opens its stream and sends its heartbeat while
// all the others do the same. A thousand of them here, each with its own certificate and TLS session over the real
// listener; ten thousand are simulated elsewhere. invariant: I10
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hashOfSecret } from '../../actors/trust/tokens.ts';
import { newId } from '../../actors/trust/uuid-v7.ts';
import { CLIENT_CERTIFICATE_TTL_MS } from '../../machines/limits.ts';
import { newSerial } from '../../storage/keys/certificate-authority.ts';
import { removeSharedKeys, startConsole } from './console.fixture.ts';
import { heartbeatBody, type Identity, type KeyPair, makeKeys, nth, pemOf } from './peer.ts';
import { openStores, type Stores } from './stores.fixture.ts';

const FLEET = 1_000;
const ISSUED_AT_ONCE = 20;
const HEALTHY_WITHIN_MS = 60_000;
const GIB = 1_073_741_824;
const TRIES = 20;
const RETRY_MS = 500;
let stores: Stores;
let fleet: readonly Identity[];
let pair: KeyPair;

beforeAll(async () => {
  pair = nth(await makeKeys(1), 0);
  stores = await openStores();
  const first = await startConsole({ stores });
  const identities: Identity[] = [];
  for (let from = 0; from < FLEET; from += ISSUED_AT_ONCE) {
    const batch = Array.from({ length: ISSUED_AT_ONCE }, (_, n) => add(first, from + n));
    identities.push(...(await Promise.all(batch)));
  }
  fleet = identities;
  await first.stop();
});
afterAll(removeSharedKeys);

/** Puts a sensor into the registry as an enrollment does; a thousand key pairs would take minutes. */
async function add(
  console: Awaited<ReturnType<typeof startConsole>>,
  at: number,
): Promise<Identity> {
  const { secret } = await console.tokens.create({ note: '', actor: 'test' });
  const [sensorId, nodeName, serial] = [newId(), `node-${at}`, newSerial()];
  const nowMs = Date.now();
  const times = { notBeforeMs: nowMs - 60_000, notAfterMs: nowMs + CLIENT_CERTIFICATE_TTL_MS };
  const publicKeySpki = pair.publicKey.export({ format: 'der', type: 'spki' });
  const issued = await console.authority.issueSensorCertificate({
    ...{ publicKeySpki, nodeName, sensorId, serial },
    ...times,
  });
  const { fingerprint, pem } = issued;
  const done = await stores.relational.sensors.enroll({
    tokenHash: hashOfSecret(secret),
    nowMs,
    sensor: {
      ...{ sensorId, nodeName, flavor: 'standard', declaredRole: null, labels: {} },
      system: heartbeatBody(0, []).system,
      ...{ bootId: 'boot', sensorVersion: '0.1.0', flavorMismatch: false },
    },
    certificate: { fingerprint, pem, serial, reference: serial, keyDigest: `${at}`, ...times },
    nodesAllowed: null,
  });
  if (!done.ok) throw new Error(done.code);
  return { sensorId, cert: pem, key: pemOf(pair) };
}

describe('attack 24: a whole fleet that returns at one instant', () => {
  it('should be healthy within a minute, with no refusal after the first back-off', async () => {
    const console = await startConsole({
      stores,
      intervals: {
        STREAM_PING_INTERVAL_MS: 10_000,
        STREAM_OPEN_TIMEOUT_MS: 30_000,
        STREAM_IDENTITY_CHECK_MS: 5_000,
        BODY_READ_TIMEOUT_MS: 30_000,
      },
    });
    const retries = { first: 0, later: 0 };
    const statuses = new Map<number, number>();
    const [atMs, atUsage] = [performance.now(), process.cpuUsage()];
    const sockets = await Promise.all(fleet.map((identity, n) => comeBack(identity, n)));
    const tookMs = performance.now() - atMs;
    const usage = process.cpuUsage(atUsage);
    const workMs = (usage.user + usage.system) / 1_000;

    async function comeBack(identity: Identity, n: number) {
      for (let attempt = 0; ; attempt += 1) {
        try {
          const stream = await console.openStream(identity);
          stream.hello(n.toString(16).padStart(32, '0'));
          await stream.next('welcome');
          const beat = heartbeatBody(1, [n]);
          const answer = await console.ask(identity, '/sensors/heartbeat', beat);
          statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
          if (answer.status === 200) return stream;
          throw new Error(`status ${answer.status}`);
        } catch (error) {
          if (attempt === TRIES) throw error;
          retries[attempt === 0 ? 'first' : 'later'] += 1;
          // Each waits its own time, as Sensors do. decision: D9
          await new Promise((resolve) => setTimeout(resolve, RETRY_MS * (1 + ((n * 7) % 10) / 10)));
        }
      }
    }

    const healths = fleet.map(({ sensorId }) => console.fleet.liveView.get(sensorId)?.trust_health);
    const rss = process.memoryUsage.rss();
    process.stdout.write(
      `${FLEET} sensors back after ${(tookMs / 1_000).toFixed(1)} s, ` +
        `${(workMs / 1_000).toFixed(1)} s of them work of both sides; ${retries.first} tried twice, ` +
        `${retries.later} more often; answers ${JSON.stringify([...statuses])}; ` +
        `${(rss / 1_048_576).toFixed(0)} MiB with both sides in one process\n`,
    );
    expect(healths.every((health) => health === 'healthy')).toBe(true);
    // Both sides share this process, and others share its machine: what counts is the work, which is all there would be
    // to wait for on a machine of its own.
    expect(workMs).toBeLessThan(HEALTHY_WITHIN_MS);
    expect(retries.later).toBe(0);
    expect([...statuses.keys()].filter((status) => status >= 500)).toEqual([]);
    expect(console.streams.count()).toBe(FLEET);
    expect(await stores.events.events.countDistinct({})).toBe(FLEET);
    expect(rss).toBeLessThan(2 * GIB);
    expect(console.errors).toEqual([]);
    for (const { socket } of sockets) socket.terminate();
    await console.stop();
  });
});
