// A wrong clock on either side ends no identity: the Sensor goes on asking, keeps its events, and recovers by itself when
// the clock is right again. decision: D67; invariant: I12
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeSensor, type RunningSensor } from './running-sensor.ts';

const FORTY_DAYS_MS = 40 * 86_400_000;
const EXPIRED = { status: 401, code: 'certificate_expired' } as const;

const statusOf = async (): Promise<Readonly<Record<string, unknown>>> =>
  JSON.parse(await readFile(join(sensor.stateDir, 'run', 'status.json'), 'utf8'));
const stateOf = async (): Promise<unknown> => (await statusOf())['state'];
const disputeOf = async (): Promise<unknown> => (await statusOf())['clock_dispute'];
/** The words of the log about clocks. */
const saidOfClocks = (): readonly string[] =>
  sensor.warnings.filter((text) => text.includes('clock'));

let sensor: RunningSensor;
beforeEach(async () => {
  sensor = await makeSensor();
});
afterEach(() => sensor.close());

describe('a clock that is wrong', () => {
  it('should end nothing when it is the Console’s', async () => {
    const { peer } = sensor;
    await sensor.start();
    await peer.until('it runs', () => sensor.beats().length >= 2 && peer.sockets().length === 1);

    peer.takesStreams = false;
    let refused = 0;
    peer.rule = () => {
      refused += 1;
      return EXPIRED;
    };
    for (const socket of peer.sockets()) socket.terminate();
    await sensor.addLines(0, 3);
    await peer.until('it asks again and again', () => refused >= 4);
    // The clock that the peer shows is right and explains nothing: what the certificate says alone is told.
    const sentence =
      /^the Console's clock is off by at least 5 min( \d+ s)?: it takes this node's certificate for expired or not yet valid$/;
    await expect.poll(disputeOf, { timeout: 90_000 }).toMatch(sentence);
    await expect.poll(saidOfClocks, { timeout: 90_000 }).toEqual([expect.stringMatching(sentence)]);
    expect(await stateOf()).toBe('running');

    peer.rule = () => 'serve';
    peer.takesStreams = true;
    await expect.poll(disputeOf, { timeout: 90_000 }).toBeNull();
    const expected = sensor.idsOf(0, 3);
    await peer.until('what was kept arrives', () => {
      const ids = new Set(peer.batches.flatMap((batch) => batch.ids));
      return expected.every((id) => ids.has(id));
    });
  });

  it('should be told by its amount where the Console shows its clock', async () => {
    const { peer } = sensor;
    peer.lifetimeMs = 2_000;
    sensor.aheadMs = -3_600_000;
    await sensor.start();
    await peer.until('it runs', () => sensor.beats().length >= 2);
    peer.rule = () => EXPIRED;
    const sentence =
      /^the Console's clock is off by (59 min 5\d s|1 h( \d s)?), ahead of this node's: it takes this node's certificate for expired$/;
    await expect.poll(disputeOf, { timeout: 90_000 }).toMatch(sentence);
    expect(await stateOf()).toBe('running');
    peer.rule = () => 'serve';
    await expect.poll(disputeOf, { timeout: 90_000 }).toBeNull();
  });

  it('should hold it back only as long as its own clock is ahead', async () => {
    const { peer } = sensor;
    await sensor.start();
    await peer.until('it runs', () => sensor.beats().length >= 2);
    const enrolled = peer.requests.filter(({ path }) => path === '/sensors/enroll').length;

    // Far ahead: the certificate is over by the node's clock, and the Console says the same.
    peer.rule = () => EXPIRED;
    sensor.aheadMs = FORTY_DAYS_MS;
    await expect.poll(stateOf, { timeout: 90_000 }).toBe('awaiting_reenrollment');
    peer.rule = () => 'serve';
    const before = sensor.beats().length;
    sensor.aheadMs = 0;
    await peer.until('it goes on', () => sensor.beats().length >= before + 2);
    // It renewed in its own time, perhaps; a new identity it never asked for.
    expect(peer.requests.filter(({ path }) => path === '/sensors/enroll')).toHaveLength(enrolled);
  });

  it('should end nothing when the certificate of the enrollment is over and a renewed one is not', async () => {
    const { peer } = sensor;
    await sensor.start();
    await peer.until('it runs', () => sensor.beats().length >= 2 && peer.sockets().length === 1);
    peer.lifetimeMs = 2 * FORTY_DAYS_MS;
    peer.sendAll({ type: 'refresh', what: ['certificate'] });
    await peer.until('it renewed', () => peer.issued.length === 2);
    const renewed = peer.issued[1];
    await peer.until('it uses what it got', () => peer.requests.at(-1)?.fingerprint === renewed);

    // The days have come at which the first certificate would have ended; an answer is lost, and the Console is wrong.
    sensor.aheadMs = FORTY_DAYS_MS;
    let asked = 0;
    peer.rule = () => {
      asked += 1;
      return asked % 2 === 0 ? 'lose' : EXPIRED;
    };
    await peer.until('it asks again and again', () => asked >= 4);
    peer.rule = () => 'serve';
    const before = sensor.beats().length;
    await peer.until('it goes on', () => sensor.beats().length >= before + 2, 20_000);
    expect(await stateOf()).toBe('running');
    expect(peer.requests.at(-1)?.fingerprint).toBe(renewed);
  });
});
