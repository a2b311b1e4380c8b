// The Sensor is killed again and again at random instants of its life, while it enrols, runs and renews. It always goes on
// as the same sensor with the same stream, and what was in its spool arrives. PROPS_SEED replays the instants.
// invariant: I1, I2, I5, I13
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { decodeLine } from '../../sensor/spool/journal.ts';
import { items } from './api.ts';
import {
  createToken,
  isHealthy,
  isSkipped,
  kill,
  type ListedSensor,
  missingForEngine,
  onlySensor,
  startConsole,
  startSensor,
  stop,
} from './fleet.ts';
import { startMarks } from './marks.ts';
import { eventually, type Home, makeHome, processesOf, removeHome } from './programs.ts';
import { askClickhouse, batchesOf, disorderOf, embeddedClickhouse } from './stored.ts';

const ENROLLING_NODES = 4;
const ENROLLING_KILLS_MAX = 8;
const ENROLLING_MAX_MS = 1_400;
const RUNNING_KILLS = 16;
const RENEWED_MIN = 2;
const RUNNING_MIN_MS = 300;
const RUNNING_MAX_MS = 5_000;
const TIMEOUT_MS = 900_000;
// A new certificate is asked for three seconds after each renewal.
const RENEWING = {
  HEARTBEAT_INTERVAL_MS: 2_000,
  HEARTBEAT_TIMEOUT_MS: 2_000,
  TRUST_ERROR_WINDOW_MS: 2_000,
  CLIENT_CERTIFICATE_TTL_MS: 600_000,
  RENEWAL_RECOMMENDED_MS: 597_000,
  RENEWAL_DUE_MS: 20_000,
  PREVIOUS_CERTIFICATE_OVERLAP_MS: 30_000,
  RENEWAL_RETRY_MIN_MS: 300,
};

const seed = Number(process.env['PROPS_SEED'] ?? 20_261_121);
let home: Home | null = null;
afterEach(async () => {
  if (home !== null) await removeHome(home);
});
const skip = isSkipped('sensor kill', missingForEngine());

it.skipIf(skip)(
  'should end with one identity however often its enrollment is cut',
  { timeout: TIMEOUT_MS },
  async () => {
    home = await makeHome();
    const at = home;
    const random = randomOf(seed);
    const running = await startConsole(at);
    const enrolled: string[] = [];
    let kills = 0;
    for (let node = 0; node < ENROLLING_NODES; node += 1) {
      const stateDir = join(at.folder, `sensor-${node}`);
      mkdirSync(stateDir, { mode: 0o700 });
      copyFileSync(join(at.sensorDir, 'sensor.yaml'), join(stateDir, 'sensor.yaml'));
      const token = await createToken(at);
      const start = () => startSensor(at, { token, env: { SERVICE_SENSOR_STATE_DIR: stateDir } });
      for (let cut = 0; cut < ENROLLING_KILLS_MAX && idOf(stateDir) === null; cut += 1) {
        const sensor = start();
        await sleep(random() * ENROLLING_MAX_MS);
        await kill(sensor);
        kills += 1;
      }
      const last = start();
      const sensorId = await eventually('it is enrolled', () => idOf(stateDir)).catch(
        (error: unknown) => expect.unreachable(`${error}\n${last.output()}`),
      );
      enrolled.push(sensorId);
      await eventually('it is heard of', async () => {
        const all = await items<ListedSensor>(at, '/api/v2/sensors');
        const own = all.find(({ sensor_id }) => sensor_id === sensorId);
        // The Console may still show the stream of the one that was killed.
        return runningPid(stateDir) === last.pid && own?.states?.stream === 'open' ? own : null;
      }).catch((error: unknown) => expect.unreachable(`${error}\n${last.output()}`));
      expect(await stop(last), last.output()).toBe(0);
    }
    process.stderr.write(`seed ${seed}: ${kills} kills while ${enrolled.length} nodes enrolled\n`);
    const listed = await items<ListedSensor>(at, '/api/v2/sensors');
    expect(kills).toBeGreaterThan(ENROLLING_NODES);
    expect(listed.map(({ sensor_id }) => sensor_id).sort()).toEqual([...enrolled].sort());
    expect(await stop(running)).toBe(0);
  },
);

it.skipIf(skip)(
  'should go on as itself, without a lost event, however often it is cut',
  { timeout: TIMEOUT_MS },
  async () => {
    home = await makeHome(RENEWING);
    const at = home;
    const random = randomOf(seed + 1);
    const running = await startConsole(at);
    const token = await createToken(at);
    let sensor = startSensor(at, { token });
    const { sensor_id: sensorId } = await onlySensor(at, isHealthy);
    const marks = startMarks(at, `KILL${process.pid}`, 20);
    const spooled = new Set<string>();
    const streams = new Set<string>();
    const certificates = new Set<string>();
    const certificateNow = () => readFileSync(join(at.sensorDir, 'client.cert.pem'), 'utf8');
    const cut = async (): Promise<void> => {
      await kill(sensor);
      readSpool(at, spooled, streams);
      certificates.add(certificateNow());
      expect(idOf(at.sensorDir)).toBe(sensorId);
      sensor = startSensor(at);
    };
    for (let done = 0; done < RUNNING_KILLS; done += 1) {
      await sleep(RUNNING_MIN_MS + random() * (RUNNING_MAX_MS - RUNNING_MIN_MS));
      await cut();
    }
    // On a busy machine it may have been killed each time before it came to renew.
    while (certificates.size <= RENEWED_MIN) {
      await eventually('it renews', () => (certificates.has(certificateNow()) ? null : true));
      await cut();
    }
    await marks.stop();
    const healthy = await onlySensor(at, (one) => one.states?.stream === 'open');
    const access = embeddedClickhouse(at);
    const missing = async (): Promise<string[]> => {
      const rows = await askClickhouse<{ event_id: string }>(
        access,
        'SELECT DISTINCT event_id FROM runtime_events',
      );
      const stored = new Set(rows.map(({ event_id }) => event_id));
      return [...spooled].filter((id) => !stored.has(id));
    };
    await eventually('what was spooled is stored', async () =>
      (await missing()).length === 0 ? true : null,
    ).catch(async () => expect(await missing()).toEqual([]));
    process.stderr.write(
      `seed ${seed}: ${RUNNING_KILLS} kills, ${spooled.size} spooled events, ${certificates.size} certificates\n`,
    );
    const batches = await batchesOf(access, sensorId);
    expect(healthy.sensor_id).toBe(sensorId);
    expect(spooled.size).toBeGreaterThan(RUNNING_KILLS);
    expect(certificates.size).toBeGreaterThan(RENEWED_MIN);
    expect([...streams]).toEqual([batches[0]?.stream_id]);
    expect(new Set(batches.map(({ stream_id }) => stream_id))).toEqual(streams);
    expect(disorderOf(batches, marks.slowestMs())).toEqual([]);
    expect(await stop(sensor)).toBe(0);
    const left = () =>
      processesOf(at.sensorDir).filter(({ command }) => command.includes(at.sensorDir));
    await eventually('no engine is left', () => (left().length === 0 ? true : null)).catch(() =>
      expect(left()).toEqual([]),
    );
    expect(await stop(running)).toBe(0);
  },
);

/** Collects the ids of the events that lie in the spool's file, and its stream. */
function readSpool(at: Home, events: Set<string>, streams: Set<string>): void {
  const file = readFileSync(join(at.sensorDir, 'events.jsonl'));
  for (const text of file.toString('latin1').split('\n')) {
    const line = decodeLine(Buffer.from(text, 'latin1'));
    if (line.kind === 'event') events.add(JSON.parse(line.json.toString()).event_id);
    if (line.kind === 'header') streams.add(line.header.streamId);
  }
}

/** The identity a state directory holds; null before it has one. */
function idOf(stateDir: string): string | null {
  const file = join(stateDir, 'sensor-state.json');
  if (!existsSync(join(stateDir, 'client.cert.pem')) || !existsSync(file)) return null;
  return JSON.parse(readFileSync(file, 'utf8')).sensor_id;
}

/** The process that last told its state there. */
function runningPid(stateDir: string): number | null {
  const file = join(stateDir, 'run', 'status.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).pid : null;
}

/** Numbers from 0 to 1 that a seed decides. */
function randomOf(from: number): () => number {
  let state = from >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
