// Revoking a Sensor takes effect at once and for good: on the open stream, on a connection that was open before, on a TLS
// session from before; the Sensor says so, stops forwarding, and no token brings the identity back. invariant: I3, I12
import { afterEach, expect, it } from 'vitest';
import { slackOf } from '../yardstick.ts';
import { api, items } from './api.ts';
import {
  createToken,
  enroll,
  isHealthy,
  isSkipped,
  type ListedSensor,
  missingForEngine,
  onlySensor,
  startConsole,
  startSensor,
  status,
  stop,
} from './fleet.ts';
import { listedMarks, mark, startMarks } from './marks.ts';
import { HARMLESS, identityOf, keepAliveAgent, post } from './peer.ts';
import { eventually, type Home, makeHome, processesOf, removeHome } from './programs.ts';

const AT_ONCE_MS = 1_000;
const TIMEOUT_MS = 900_000;

let home: Home | null = null;
afterEach(async () => {
  if (home !== null) await removeHome(home);
});

const skip = isSkipped('revocation', missingForEngine());

it.skipIf(skip)('should end every way in within a second', { timeout: TIMEOUT_MS }, async () => {
  home = await makeHome({ HEARTBEAT_INTERVAL_MS: 5_000, HEARTBEAT_TIMEOUT_MS: 5_000 });
  const at = home;
  const word = `REVOKE${process.pid}`;
  const running = await startConsole(at);
  expect(await enroll(at, await createToken(at))).toMatchObject({ code: 0 });
  let sensor = startSensor(at);
  const { sensor_id: sensorId } = await onlySensor(at, isHealthy);
  const marks = startMarks(at, word, 100);
  await eventually('marks flow', async () =>
    (await listedMarks(at, word)).size > 3 ? true : null,
  );

  // Two ways in from before: a connection that stays open, and the ticket of a TLS session.
  const pair = identityOf(at);
  const agent = keepAliveAgent();
  const opened = await post(at, { ...HARMLESS, pair, agent });
  expect(opened).toMatchObject({ status: 200 });
  expect(await post(at, { ...HARMLESS, pair, agent })).toMatchObject({
    status: 200,
    isReused: true,
  });
  const session = opened.session ?? Buffer.alloc(0);
  expect(await post(at, { ...HARMLESS, pair, session })).toMatchObject({
    status: 200,
    isResumed: true,
  });

  const slackMs = await slackOf(() => api(at, 'GET', `/api/v2/sensors/${sensorId}`));
  const revokedAt = Date.now();
  const revoked = await api(at, 'POST', `/api/v2/sensors/${sensorId}/revoke`, { reason: 'stolen' });
  const [kept, resumed, fresh] = await Promise.all([
    post(at, { ...HARMLESS, pair, agent }),
    post(at, { ...HARMLESS, pair, session }),
    post(at, { ...HARMLESS, pair }),
  ]);
  const streamClosed = await eventually('the stream is closed', async () => {
    const answer = await api(at, 'GET', `/api/v2/sensors/${sensorId}`);
    return (answer.body as ListedSensor).states?.stream === 'open' ? null : answer.body;
  });
  const tookMs = Date.now() - revokedAt;
  agent.destroy();

  const refused = { status: 403, body: { code: 'sensor_revoked' } };
  expect(revoked).toMatchObject({ status: 200, body: { trust_health: 'revoked' } });
  expect(kept).toMatchObject({ ...refused, isReused: true });
  expect(resumed).toMatchObject({ ...refused, isResumed: true });
  expect(fresh).toMatchObject(refused);
  expect(streamClosed).toMatchObject({ trust_state: 'trust_revoked', trust_health: 'revoked' });
  expect(tookMs).toBeLessThan(AT_ONCE_MS + slackMs);

  // The Sensor learns it, says it, and forwards nothing any more.
  await eventually('the Sensor says revoked', async () =>
    (await status(at)).identity?.trust_state === 'trust_revoked' ? true : null,
  );
  expect((await status(at)).summary).toMatch(/revoked/);
  const arrived = (await listedMarks(at, word)).size;
  await mark(at, `${word}-late`, 1);
  await marks.stop();
  await eventually('nothing is collected any more', async () => {
    const isCollecting = processesOf(at.folder).some(({ command }) =>
      /(?:procfs|ebpf)-engine/.test(command),
    );
    return (await status(at)).live?.state === 'revoked' && !isCollecting ? true : null;
  });
  await stop(sensor);
  sensor = startSensor(at);
  await sensor.prints(/revoked/);
  expect((await status(at)).identity?.trust_state).toBe('trust_revoked');
  expect((await listedMarks(at, word)).size).toBe(arrived);
  expect(await listedMarks(at, `${word}-late`)).toEqual(new Map());
  await stop(sensor);

  // Final: it stays in the list, and there is no way back.
  expect(await items<ListedSensor>(at, '/api/v2/sensors')).toMatchObject([
    { sensor_id: sensorId, trust_health: 'revoked' },
  ]);
  expect(await api(at, 'POST', `/api/v2/sensors/${sensorId}/reenroll`, {})).toMatchObject({
    status: 409,
    body: { code: 'sensor_is_revoked' },
  });
  expect(await stop(running)).toBe(0);
});
