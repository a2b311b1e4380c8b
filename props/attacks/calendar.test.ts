// Attacks with the calendar: the days on which the clocks of people change, and the second that comes twice. Every window
// is counted in milliseconds of UTC, so that no zone, no change of summer time and no leap second makes one longer or
// shorter. invariant: I4; decision: D14
import { X509Certificate } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CLIENT_CERTIFICATE_TTL_MS } from '../../machines/limits.ts';
import { renewalWindow } from '../../machines/trust/certificate.rules.ts';
import { type ConsoleUnderTest, removeSharedKeys, startConsole } from './console.fixture.ts';
import { licensePayload } from './license-issuer.ts';
import {
  codeOf,
  enrollBody,
  eventOf,
  heartbeatBody,
  type KeyPair,
  makeKeys,
  nth,
  STREAM_ID,
} from './peer.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Zones with the instants at which their clocks change in 2027: by an hour, by half an hour, and never. */
const CHANGES: readonly (readonly [zone: string, atText: string])[] = [
  ['Europe/Berlin', '2027-03-28T01:00:00Z'],
  ['Europe/Berlin', '2027-10-31T01:00:00Z'],
  ['America/New_York', '2027-03-14T07:00:00Z'],
  ['America/New_York', '2027-11-07T06:00:00Z'],
  ['Australia/Lord_Howe', '2027-04-03T15:00:00Z'],
  ['Asia/Kolkata', '2027-03-28T01:00:00Z'],
];
const ZONE_BEFORE = process.env['TZ'];
let console: ConsoleUnderTest;
let keys: readonly KeyPair[];

function livesIn(zone: string | undefined): void {
  if (zone === undefined) delete process.env['TZ'];
  else process.env['TZ'] = zone;
}

beforeAll(async () => {
  keys = await makeKeys(2);
});
beforeEach(async () => {
  console = await startConsole();
});
afterEach(async () => {
  livesIn(ZONE_BEFORE);
  await console.stop();
});
afterAll(removeSharedKeys);

const enroll = (token: string, n: number) =>
  console.ask(null, '/sensors/enroll', enrollBody(token, `node-${n}`, nth(keys, n)));

describe('attack 30: the day on which the clocks change', () => {
  it('should really change them where there is summer time', () => {
    livesIn('Europe/Berlin');
    const offsetAt = (text: string) => new Date(text).getTimezoneOffset();
    expect([offsetAt('2027-03-28T00:59:59Z'), offsetAt('2027-03-28T01:00:00Z')]).toEqual([
      -60, -120,
    ]);
  });

  it.each(CHANGES)('should stretch no token and no certificate (%s, %s)', async (zone, text) => {
    livesIn(zone);
    const changeMs = Date.parse(text);
    const madeMs = changeMs - 7 * MINUTE_MS;
    console.holdAt(madeMs);
    const [early, late] = [await console.newToken(), await console.newToken()];
    console.holdAt(madeMs + 15 * MINUTE_MS - 1);
    const answer = await enroll(early, 0);
    expect(answer.status).toBe(201);
    const pem = String(answer.body['control_plane_certificate_pem']);
    const endMs = Date.parse(new X509Certificate(pem).validTo);
    // Certificates count in whole seconds.
    expect(Math.abs(endMs - (madeMs + 15 * MINUTE_MS + CLIENT_CERTIFICATE_TTL_MS))).toBeLessThan(
      1_001,
    );
    console.holdAt(madeMs + 15 * MINUTE_MS);
    expect(codeOf(await enroll(late, 1))).toEqual([410, 'token_expired']);
  });

  it.each(CHANGES)('should move no edge of renewal (%s, %s)', (zone, text) => {
    livesIn(zone);
    const windows = { recommendedMs: 72 * HOUR_MS, dueMs: 24 * HOUR_MS };
    for (const hours of [24, 72]) {
      // The change lies inside the window, at its edge, and at its end.
      for (const endMs of [0, 1, hours / 2, hours].map((h) => Date.parse(text) + h * HOUR_MS)) {
        const edgeMs = endMs - hours * HOUR_MS;
        const [before, after] =
          hours === 24 ? ['renewal_recommended', 'renewal_due'] : ['ok', 'renewal_recommended'];
        expect(renewalWindow(endMs, edgeMs - 1, windows)).toBe(before);
        expect(renewalWindow(endMs, edgeMs, windows)).toBe(after);
      }
    }
  });

  it('should end the grace of a license at its instant', async () => {
    const [zone, text] = ['Europe/Berlin', '2027-10-31T01:00:00Z'];
    livesIn(zone);
    const { secret } = await console.newKey(['license:write']);
    // An hour of local time comes twice around it.
    const endMs = Date.parse(text) + 30 * MINUTE_MS;
    const dates = { valid_until: text, grace_until: new Date(endMs).toISOString() };
    const envelope = console.issuer.sign(
      licensePayload(Date.now(), { ...dates, max_protected_nodes: 0 }),
    );
    const headers = { authorization: `Bearer ${secret}` };
    expect((await console.ask(null, '/api/v2/license', envelope, { headers })).status).toBe(200);
    console.holdAt(endMs - MINUTE_MS);
    expect((await enroll(await console.newToken(), 0)).status).toBe(201);
    console.holdAt(endMs);
    expect(codeOf(await enroll(await console.newToken(), 1))).toEqual([403, 'license_limit']);
  });
});

describe('attack 30: a leap second', () => {
  const lastMs = Date.parse('2027-06-30T23:59:59.000Z');

  it('should end no session and stretch no window by more than itself when a second comes twice', async () => {
    console.holdAt(lastMs - 15 * MINUTE_MS + 500);
    const token = await console.newToken();
    console.holdAt(lastMs + 499);
    expect((await enroll(token, 0)).status).toBe(201);
    const late = await console.newToken();
    // The clock steps back to the beginning of the second, as UTC does on most machines.
    console.travel(-999);
    expect(codeOf(await enroll(token, 1))).toEqual([409, 'token_consumed']);
    console.holdAt(lastMs + 499 + 15 * MINUTE_MS);
    expect(codeOf(await enroll(late, 1))).toEqual([410, 'token_expired']);
  });

  it('should keep a sensor well whose reports name the sixtieth second, and lose none of its events', async () => {
    const identity = await console.enroll('node', nth(keys, 0));
    const leap = '2016-12-31T23:59:60.500Z';
    const events = [
      { ...eventOf(1), observed_at: leap },
      { ...eventOf(2), observed_at: '2027-02-30T25:61:61Z' },
      eventOf(3),
    ];
    const answer = await console.ask(identity, '/sensors/heartbeat', {
      ...heartbeatBody(1, []),
      stream_id: STREAM_ID,
      sent_at: leap,
      events,
    });
    expect([answer.status, answer.body['trust_health']]).toEqual([200, 'healthy']);
    expect(answer.body['acknowledged_sequence']).toBe(1);
    const [batch] = console.batchesOf(identity.sensorId);
    expect(batch?.events.map(({ event_id: id }) => id)).toEqual(events.map((one) => one.event_id));
  });
});
