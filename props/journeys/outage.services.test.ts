// The Console is killed under load: what the node saw meanwhile waits in the spool and arrives when the Console is back,
// once by event_id and in order on each channel; no runtime event is ever in PostgreSQL. invariant: I1, I5, I6, I15
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import {
  createToken,
  enroll,
  isHealthy,
  isSkipped,
  kill,
  missingForEngine,
  onlySensor,
  startConsole,
  startSensor,
  status,
  stop,
} from './fleet.ts';
import { listedMarks, startMarks, wrongMarks } from './marks.ts';
import { eventually, type Home, makeHome, removeHome } from './programs.ts';
import {
  askClickhouse,
  batchesOf,
  disorderOf,
  embeddedClickhouse,
  embeddedPostgres,
  tablesWithEvents,
} from './stored.ts';

const OUTAGE_MS = 10_000;
const MARK_PAUSE_MS = 40;
const TIMEOUT_MS = 900_000;

let home: Home | null = null;
afterEach(async () => {
  if (home !== null) await removeHome(home);
});

const skip = isSkipped('outage', missingForEngine());

it.skipIf(skip)(
  'should deliver every event of an outage of the Console, once and in order',
  { timeout: TIMEOUT_MS },
  async () => {
    home = await makeHome({
      HEARTBEAT_INTERVAL_MS: 5_000,
      HEARTBEAT_TIMEOUT_MS: 5_000,
      TRUST_ERROR_WINDOW_MS: 5_000,
    });
    const at = home;
    const word = `OUTAGE${process.pid}`;
    let running = await startConsole(at);
    expect(await enroll(at, await createToken(at))).toMatchObject({ code: 0 });
    const sensor = startSensor(at);
    const before = await onlySensor(at, isHealthy);
    const marks = startMarks(at, word, MARK_PAUSE_MS);
    await eventually('marks flow', async () =>
      (await listedMarks(at, word)).size > 20 ? true : null,
    );

    await kill(running);
    const killedAt = marks.made();
    await sleep(OUTAGE_MS);
    const spooled = await status(at);
    const backAt = marks.made();
    running = await startConsole(at);
    const after = await onlySensor(at, isHealthy);
    const healthyAt = marks.made();
    await eventually('marks go on', () => (marks.made() > healthyAt + 20 ? true : null));
    await marks.stop();

    const last = marks.made() - 1;
    const found = await eventually(
      'the last mark arrives',
      async () => {
        const marked = await listedMarks(at, word);
        return wrongMarks(marked, 0, last).length === 0 ? marked : null;
      },
      30_000,
    ).catch(() => listedMarks(at, word));
    expect(backAt - killedAt).toBeGreaterThan(50);
    expect(Number(spooled.live?.spool?.depth)).toBeGreaterThan(0);
    expect(wrongMarks(found, 0, last)).toEqual([]);
    expect(after.sensor_id).toBe(before.sensor_id);
    expect(sensor.isRunning()).toBe(true);

    const access = embeddedClickhouse(at);
    const [counted] = await askClickhouse<{ marks: string }>(
      access,
      `SELECT uniqExact(event_id) AS marks FROM runtime_events
       WHERE event_kind = 'process_exec' AND position(process.binary, {word: String}) > 0`,
      { word: `/${word}-` },
    );
    expect(Number(counted?.marks)).toBe(last + 1);
    const batches = await batchesOf(access, before.sensor_id);
    expect(new Set(batches.map(({ stream_id }) => stream_id)).size).toBe(1);
    expect(disorderOf(batches, marks.slowestMs())).toEqual([]);
    expect(await tablesWithEvents(embeddedPostgres(at), access, word)).toEqual([]);
    expect(await stop(sensor)).toBe(0);
    expect(await stop(running)).toBe(0);
  },
);
