// Renewal as the Console sees it: one key per renewal, also when an answer is lost; the previous pair inside the overlap
// when the new one is refused; the dates in what the Sensor says. invariant: I4, I13
import { createPublicKey } from 'node:crypto';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import forge from 'node-forge';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeSensor, type RunningSensor } from './running-sensor.ts';

const HOUR_MS = 3_600_000;
let sensor: RunningSensor;
beforeEach(async () => {
  sensor = await makeSensor();
});
afterEach(() => sensor.close());

function keyOf(csr = ''): string {
  const { publicKey } = forge.pki.certificationRequestFromPem(csr);
  if (publicKey === null) throw new Error('the CSR has no key');
  const pem = forge.pki.publicKeyToPem(publicKey as forge.pki.rsa.PublicKey);
  return createPublicKey(pem).export({ format: 'der', type: 'spki' }).toString('base64');
}
const trustOf = (beat: Record<string, unknown> | undefined): Record<string, unknown> =>
  (beat?.['trust'] ?? {}) as Record<string, unknown>;

const keptTrust = async (): Promise<unknown> => (await sensor.state())['trust_state'];

async function running(): Promise<void> {
  await sensor.start();
  const { peer } = sensor;
  await peer.until('a stream', () => peer.sockets().length > 0 && sensor.beats().length > 0);
}

describe('renewal of a running Sensor', () => {
  it('should ask again with the same key when the answer is lost', async () => {
    await running();
    const { peer } = sensor;
    let lost = 0;
    peer.rule = ({ path }) => (path === '/sensors/renew' && lost++ === 0 ? 'lose' : 'serve');
    peer.sendAll({ type: 'refresh', what: ['certificate'] });
    await peer.until('two requests', () => peer.csrs.length === 3);
    expect(keyOf(peer.csrs[2])).toBe(keyOf(peer.csrs[1]));
    expect(keyOf(peer.csrs[1])).not.toBe(keyOf(peer.csrs[0]));
    const last = (): string | null | undefined => peer.requests.at(-1)?.fingerprint;
    await peer.until('the new certificate', () => last() === peer.issued[2]);
  });

  it('should fall back to the previous pair while the new one is refused, then renew anew', async () => {
    await running();
    const { peer } = sensor;
    const refused = () => peer.issued[1];
    peer.rule = ({ fingerprint }) =>
      fingerprint !== null && fingerprint === refused()
        ? { status: 401, code: 'certificate_unknown' }
        : 'serve';
    peer.sendAll({ type: 'refresh', what: ['certificate'] });
    await peer.until('the new one tried', () =>
      peer.requests.some(({ fingerprint }) => fingerprint === refused()),
    );
    await peer.until('a second renewal', () => peer.issued.length === 3);
    const renewals = peer.requests.filter(({ path }) => path === '/sensors/renew');
    expect(renewals.map(({ fingerprint }) => fingerprint)).toEqual([
      peer.issued[0],
      peer.issued[0],
    ]);
    expect(keyOf(peer.csrs[2])).not.toBe(keyOf(peer.csrs[1]));
    await peer.until('a heartbeat under the third', () => {
      const beat = peer.requests.findLast(({ path }) => path === '/sensors/heartbeat');
      return beat?.fingerprint === peer.issued[2];
    });
    await access(join(sensor.stateDir, 'client.prev.cert.pem'));
  });

  it('should follow the dates when the clock jumps, say so, and renew', async () => {
    await running();
    const { peer } = sensor;
    expect(trustOf(sensor.beats().at(-1))['state']).toBe('trusted');
    peer.rule = ({ path }) =>
      path === '/sensors/renew' ? { status: 503, code: 'store_unavailable' } : 'serve';
    sensor.aheadMs = 660 * HOUR_MS;
    const said = (state: string) => () => trustOf(sensor.beats().at(-1))['state'] === state;
    await peer.until('renewal_recommended', said('renewal_recommended'));
    await peer.until('a renewal', () =>
      peer.requests.some(({ path }) => path === '/sensors/renew'),
    );
    await expect.poll(keptTrust).toBe('renewal_recommended');
    sensor.aheadMs = 700 * HOUR_MS;
    await peer.until('renewal_due', said('renewal_due'));
    peer.lifetimeMs = 2_000 * HOUR_MS;
    peer.rule = () => 'serve';
    await peer.until('trusted again', said('trusted'));
    await expect.poll(keptTrust).toBe('trusted');
  });

  it('should keep its latest connection error across a restart', async () => {
    await running();
    const { peer } = sensor;
    peer.rule = ({ path }) => (path === '/sensors/heartbeat' ? 'lose' : 'serve');
    const before = sensor.beats().length;
    await peer.until('two lost heartbeats', () => sensor.beats().length > before + 1);
    await sensor.stop();
    const kept = (await sensor.state())['last_connection_error_at'];
    expect(Number.isNaN(Date.parse(String(kept)))).toBe(false);
    peer.rule = () => 'serve';
    peer.requests.length = 0;
    await running();
    expect(trustOf(sensor.beats()[0])['last_connection_error_at']).toBe(kept);
  });
});
