// The engine is killed a hundred times while programs start all the time. Nothing is told twice, what began unseen is
// counted at the Console and was really unseen for no longer than told, and every restart is counted. PROPS_SEED replays
// the instants, ENGINE_KILLS shortens the story. decision: D44
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { api } from './api.ts';
import { missingForEbpf, statusFile } from './ebpf.ts';
import {
  createToken,
  isHealthy,
  isSkipped,
  onlySensor,
  startConsole,
  startSensor,
  stop,
} from './fleet.ts';
import { startMarks } from './marks.ts';
import { eventually, type Home, makeHome, processesOf, removeHome } from './programs.ts';
import { askClickhouse, embeddedClickhouse } from './stored.ts';

const KILLS = Number(process.env['ENGINE_KILLS'] ?? 100);
const RUN_MAX_MS = 800;
const TIMEOUT_MS = 900_000;
// A hundred failures would be far over the cap of the real window.
const INTERVALS = {
  ENGINE_RESTART_BACKOFF_MIN_MS: 50,
  ENGINE_RESTART_BACKOFF_MAX_MS: 50,
  ENGINE_RESTART_WINDOW_MS: 100,
};
type Counted = { readonly binary: string; readonly times: string; readonly ids: string };

const seed = Number(process.env['PROPS_SEED'] ?? 20_261_121);
let home: Home | null = null;
afterEach(async () => {
  if (home !== null) await removeHome(home);
});

const skip = isSkipped('engine kill', missingForEbpf());
it.skipIf(skip).each(['ebpf', 'procfs'])(
  'should tell nothing twice and count what it could not see, however often the engine %s is killed',
  { timeout: TIMEOUT_MS },
  async (kind) => {
    home = await makeHome(INTERVALS);
    const at = home;
    const mark = `EK${kind}${process.pid}`;
    const config = stringify({ intervals: INTERVALS, engine: kind });
    writeFileSync(join(at.sensorDir, 'sensor.yaml'), config, { mode: 0o600 });
    const running = await startConsole(at);
    const sensor = startSensor(at, { token: await createToken(at) });
    await onlySensor(at, isHealthy);
    const marks = startMarks(at, mark, 10);
    let state = seed >>> 0;
    for (let kill = 1; kill <= KILLS; kill += 1) {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      await sleep((state / 2 ** 32) * RUN_MAX_MS);
      process.kill(enginePid(at, kind), 'SIGKILL');
      await eventually(`it runs again after kill ${kill}`, () => {
        const { engine } = statusFile(at);
        return engine.restarts === kill && engine.state === 'running' ? true : null;
      }).catch((error: unknown) => expect.unreachable(`${error}\n${sensor.output()}`));
    }
    const lastMade = marks.made();
    await eventually('more marks', () => (marks.made() > lastMade + 20 ? true : null));
    await marks.stop();
    const made = marks.made();
    const access = embeddedClickhouse(at);
    const pattern = `%/${mark}-%`;
    const counted = () =>
      askClickhouse<Counted>(
        access,
        `SELECT process.binary AS binary, count() AS times, uniqExact(event_id) AS ids
         FROM runtime_events FINAL
         WHERE event_kind = 'process_exec' AND process.binary LIKE {pattern: String}
         GROUP BY binary`,
        { pattern },
      );
    await eventually('the last mark is stored', async () =>
      (await counted()).some(({ binary }) => binary.endsWith(`-${made - 1}`)) ? true : null,
    );
    const told = await counted();
    const [losses] = await askClickhouse<{ sum: string; times: string }>(
      access,
      `SELECT sum(occurrences) AS sum, count() AS times FROM runtime_events FINAL
       WHERE event_kind = 'engine_loss'`,
    );
    const missing = made - told.length;
    process.stderr.write(
      `seed ${seed}: ${KILLS} kills, ${made} programs, ${missing} unseen, ` +
        `${losses?.sum} told as lost in ${losses?.times} events\n`,
    );
    expect(told.filter(({ times }) => times !== '1')).toEqual([]);
    expect(Number(losses?.sum)).toBeGreaterThanOrEqual(missing);
    expect(Number(losses?.times)).toBeGreaterThanOrEqual(KILLS);
    expect(statusFile(at).pipeline.engine_lost).toBeGreaterThanOrEqual(missing);
    const { sensor_id } = await onlySensor(at, isHealthy);
    await eventually('the ledger is told and stored', async () => {
      const answer = await api(at, 'GET', `/api/v2/sensors/${sensor_id}/coverage`);
      const { losses: stored } = answer.body as { losses: Readonly<Record<string, number>> };
      const all = (stored['kernel_lost'] ?? 0) + (stored['engine_lost'] ?? 0);
      return all >= Number(losses?.sum) ? true : null;
    });
    expect(statusFile(at).engine).toMatchObject({ kind, restarts: KILLS });
    expect(told.length).toBeGreaterThan(KILLS);
    expect(await stop(sensor)).toBe(0);
    expect(await stop(running)).toBe(0);
  },
);

/** The engine that runs under the home's Sensor. */
function enginePid(at: Home, kind: string): number {
  const program = join(at.sensorDir, 'engine', 'v1.7.0', `${kind}-engine`);
  const engines = processesOf(at.sensorDir).filter(({ command }) =>
    command.split(' ').some((word) => word.startsWith(program)),
  );
  expect(engines).toHaveLength(1);
  return engines[0]?.pid ?? 0;
}
