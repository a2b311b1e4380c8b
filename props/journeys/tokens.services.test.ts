// One token makes at most one identity: used, expired, guessed and revoked tokens are refused with their own codes, on the
// wire and by the program; fifty nodes that ask at the same instant with one token end with one certificate. invariant: I2
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { formatSecret, SECRET_RANDOM_BYTES } from '../../machines/trust/secret.rules.ts';
import { generateKeyPem } from '../../sensor/transport/signing-request.ts';
import { api, items } from './api.ts';
import { createToken, enroll, issueToken, type ListedSensor, startConsole, stop } from './fleet.ts';
import { enrollBody, post } from './peer.ts';
import { eventually, type Home, makeHome, type Program, removeHome } from './programs.ts';
import { askPostgres, embeddedPostgres } from './stored.ts';

const AT_ONCE = 50;
const EXIT_REFUSED = 6;
const TIMEOUT_MS = 900_000;

let home: Home;
let running: Program;
beforeAll(async () => {
  home = await makeHome({ ENROLLMENT_RETRY_MIN_MS: 200 });
  running = await startConsole(home);
});
afterAll(async () => {
  await stop(running);
  await removeHome(home);
});

type Refused = {
  readonly name: string;
  readonly code: string;
  readonly status: number;
  token(): Promise<string>;
};
const REFUSED: readonly Refused[] = [
  {
    name: 'used',
    code: 'token_consumed',
    status: 409,
    async token() {
      const token = await createToken(home);
      const body = await enrollBody(token, 'first-user', await generateKeyPem());
      expect(await post(home, { path: '/sensors/enroll', body })).toMatchObject({ status: 201 });
      return token;
    },
  },
  {
    name: 'expired',
    code: 'token_expired',
    status: 410,
    async token() {
      const { token_id, secret } = await issueToken(home, 1);
      await eventually('the token expires', async () => {
        const all = await items<{ token_id: string; status: string }>(
          home,
          '/api/v2/enrollment-tokens',
        );
        return all.find((one) => one.token_id === token_id)?.status === 'expired' ? true : null;
      });
      return secret;
    },
  },
  {
    name: 'guessed',
    code: 'token_invalid',
    status: 401,
    token: async () => formatSecret('enrollment', randomBytes(SECRET_RANDOM_BYTES)),
  },
  {
    name: 'revoked',
    code: 'token_invalid',
    status: 401,
    async token() {
      const { token_id, secret } = await issueToken(home);
      const answer = await api(home, 'DELETE', `/api/v2/enrollment-tokens/${token_id}`);
      expect(answer).toMatchObject({ status: 200, body: { status: 'revoked' } });
      return secret;
    },
  },
];

it.each(REFUSED)('should refuse a token that is $name', { timeout: TIMEOUT_MS }, async (one) => {
  const token = await one.token();
  const sensors = await items<ListedSensor>(home, '/api/v2/sensors');
  const body = await enrollBody(token, 'late-comer', await generateKeyPem());
  const stateDir = join(home.folder, `sensor-${one.name}`);
  mkdirSync(stateDir, { mode: 0o700 });

  const answer = await post(home, { path: '/sensors/enroll', body });
  const command = await enroll(home, token, { SERVICE_SENSOR_STATE_DIR: stateDir });

  expect(answer).toMatchObject({ status: one.status, body: { code: one.code } });
  expect(command).toMatchObject({ code: EXIT_REFUSED, stdout: '' });
  expect(command.output).toContain('token');
  expect(command.output).not.toContain(token);
  expect(await items<ListedSensor>(home, '/api/v2/sensors')).toHaveLength(sensors.length);
});

it('should make one certificate of fifty enrollments with one token', {
  timeout: TIMEOUT_MS,
}, async () => {
  const token = await createToken(home);
  const keys = await Promise.all(Array.from({ length: AT_ONCE }, generateKeyPem));
  const bodies = await Promise.all(keys.map((key) => enrollBody(token, 'race', key)));
  const certificates = () =>
    askPostgres<{ count: string }>(
      embeddedPostgres(home),
      'SELECT count(*) FROM sensor_certificates',
    );
  const [before] = await certificates();

  const answers = await Promise.all(
    bodies.map((body) => post(home, { path: '/sensors/enroll', body })),
  );

  const [winner, ...others] = answers.filter(({ status }) => status === 201);
  const losers = answers.filter(({ status }) => status !== 201);
  const named = await items<ListedSensor>(home, '/api/v2/sensors?node_name=race');
  const [after] = await certificates();
  expect(others).toEqual([]);
  expect(losers).toHaveLength(AT_ONCE - 1);
  for (const loser of losers)
    expect(loser).toMatchObject({ status: 409, body: { code: 'token_consumed' } });
  expect(named).toMatchObject([{ sensor_id: winner?.body['sensor_id'] }]);
  expect(Number(after?.count) - Number(before?.count)).toBe(1);
});

it('should give the same certificate again to the key that lost its answer', async () => {
  const token = await createToken(home);
  const body = await enrollBody(token, 'lost-answer', await generateKeyPem());

  const first = await post(home, { path: '/sensors/enroll', body });
  const again = await post(home, { path: '/sensors/enroll', body });

  const certificate = 'control_plane_certificate_pem';
  expect([first.status, again.status]).toEqual([201, 201]);
  expect(again.body['sensor_id']).toBe(first.body['sensor_id']);
  expect(again.body[certificate]).toBe(first.body[certificate]);
});
