// The Sensor is killed again and again while numbered programs start all the time, and started again a little later. Its
// `ebpf` engine goes on meanwhile, so that not one of them is missing; of `procfs`, which ends with its Sensor, what is
// missing is counted. Every tenth time the gap is nearly the minute for which an engine goes on. PROPS_SEED replays the
// instants, ENGINE_KILLS shortens or lengthens the story. decision: D51; invariant: I19
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
  kill,
  onlySensor,
  startConsole,
  startSensor,
  stop,
} from './fleet.ts';
import { startMarks } from './marks.ts';
import {
  eventually,
  type Home,
  makeHome,
  type Program,
  processesOf,
  removeHome,
} from './programs.ts';
import { askClickhouse, embeddedClickhouse } from './stored.ts';

const KILLS = Number(process.env['ENGINE_KILLS'] ?? 20);
const RUN_MAX_MS = 6_000;
const GAP_MAX_MS = 3_000;
/** Of shorter gaps nothing is lost with `ebpf`. */
const PROMISED_MS = 60_000;
/** From the kill to the engine of the next Sensor. */
const LONG_GAP_MS = { least: 30_000, most: 55_000 };
const IMPATIENT_MS = 15_000;
const GIVE_UP_MS = 300_000;
const LOOK_MS = 50;
const MARK_PAUSE_MS = 25;
const TIMEOUT_MS = 600_000 + KILLS * 20_000;
type Counted = { readonly binary: string; readonly times: string };

const seed = Number(process.env['PROPS_SEED'] ?? 20_261_121);
let home: Home | null = null;
afterEach(async () => {
  if (home !== null) await removeHome(home);
});

const skip = isSkipped('sensor gap', missingForEbpf());
it.skipIf(skip).each(['ebpf', 'procfs'])(
  'should lose nothing uncounted, however often the Sensor of the engine %s is killed',
  { timeout: TIMEOUT_MS },
  async (kind) => {
    home = await makeHome();
    const at = home;
    const mark = `SG${kind}${process.pid}`;
    writeFileSync(join(at.sensorDir, 'sensor.yaml'), stringify({ engine: kind }), { mode: 0o600 });
    const running = await startConsole(at);
    const first = startSensor(at, { token: await createToken(at) });
    const { sensor_id } = await onlySensor(at, isHealthy);
    await eventually('its engine runs', () =>
      statusFile(at).engine.state === 'running' ? true : null,
    );
    const marks = startMarks(at, mark, MARK_PAUSE_MS);
    let state = seed >>> 0;
    const drawn = (most: number): number => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return (state / 2 ** 32) * most;
    };
    const { last: sensor, gapsMs } = await killAgainAndAgain(at, first, drawn);
    const longestMs = Math.max(...gapsMs);
    const lastMade = marks.made();
    await eventually('more marks', () => (marks.made() > lastMade + 20 ? true : null));
    await marks.stop();
    const made = marks.made();
    const access = embeddedClickhouse(at);
    const counted = () =>
      askClickhouse<Counted>(
        access,
        `SELECT process.binary AS binary, count() AS times FROM runtime_events FINAL
         WHERE event_kind = 'process_exec' AND process.binary LIKE {pattern: String}
         GROUP BY binary`,
        { pattern: `%/${mark}-%` },
      );
    await eventually('the last mark is stored', async () =>
      (await counted()).some(({ binary }) => binary.endsWith(`-${made - 1}`)) ? true : null,
    );
    const told = await counted();
    const missing = made - told.length;
    const lost = await eventually('the ledger is told and stored', async () => {
      const answer = await api(at, 'GET', `/api/v2/sensors/${sensor_id}/coverage`);
      const { losses } = answer.body as { losses: Readonly<Record<string, number>> };
      const all = (losses['kernel_lost'] ?? 0) + (losses['engine_lost'] ?? 0);
      return all >= missing ? { all } : null;
    });
    process.stderr.write(
      `seed ${seed}: ${KILLS} kills of the Sensor, ${kind}, ${gapsOf(gapsMs)}: ${made} programs, ${missing} missing, ${lost.all} counted\n`,
    );
    expect(told.filter(({ times }) => times !== '1')).toEqual([]);
    // A machine that needs longer for a start is told by the line above, and what it lost is counted.
    const isExact = kind === 'ebpf' && longestMs < PROMISED_MS;
    if (isExact) expect({ missing, ...lost }).toEqual({ missing: 0, all: 0 });
    expect(await stop(sensor)).toBe(0);
    await eventually('no engine is left', () =>
      processesOf(at.sensorDir).some(({ command }) => command.includes(at.sensorDir)) ? null : true,
    );
    expect(await stop(running)).toBe(0);
  },
);

/** Whether this Sensor says that its engine runs. */
function isWatching(at: Home, { pid }: Program): boolean {
  const { engine, ...status } = statusFile(at);
  return Reflect.get(status, 'pid') === pid && engine.state === 'running';
}

/** Kills the Sensor and starts it again; answers for how long each time nobody's engine was known to run. */
async function killAgainAndAgain(
  at: Home,
  first: Program,
  drawn: (most: number) => number,
): Promise<{ last: Program; gapsMs: readonly number[] }> {
  let sensor = first;
  const gapsMs: number[] = [];
  let [startedMs, slowestStartMs] = [performance.now(), 0];
  let unwatchedSinceMs: number | null = null;
  const unwatchedMs = () => (unwatchedSinceMs === null ? 0 : performance.now() - unwatchedSinceMs);
  const follow = async (isOver: () => boolean): Promise<void> => {
    for (;;) {
      if (unwatchedSinceMs !== null && isWatching(at, sensor)) {
        gapsMs.push(unwatchedMs());
        slowestStartMs = Math.max(slowestStartMs, performance.now() - startedMs);
        unwatchedSinceMs = null;
      }
      if (isOver()) return;
      if (unwatchedMs() > GIVE_UP_MS) expect.unreachable(`no engine runs\n${sensor.output()}`);
      await sleep(LOOK_MS);
    }
  };
  for (let cut = 0; cut < KILLS; cut += 1) {
    const isLong = cut % 10 === 9;
    const untilMs = performance.now() + drawn(RUN_MAX_MS);
    // One that starts may be killed, too, until so long nobody watched that the next might come too late.
    const most = isLong ? 0 : IMPATIENT_MS;
    await follow(() => performance.now() >= untilMs && unwatchedMs() <= most);
    await kill(sensor);
    unwatchedSinceMs ??= performance.now();
    const { least, most: longest } = LONG_GAP_MS;
    const longMs = least + drawn(longest - least) - slowestStartMs;
    await sleep(isLong ? Math.max(0, longMs) : drawn(GAP_MAX_MS));
    sensor = startSensor(at);
    startedMs = performance.now();
  }
  await follow(() => unwatchedSinceMs === null);
  return { last: sensor, gapsMs };
}

function gapsOf(gapsMs: readonly number[]): string {
  const over = (ms: number) => `${gapsMs.filter((gap) => gap >= ms).length} over ${ms / 1_000} s`;
  const longest = (Math.max(...gapsMs) / 1_000).toFixed(1);
  return `${gapsMs.length} gaps, the longest ${longest} s, ${over(LONG_GAP_MS.least)}, ${over(PROMISED_MS)}`;
}
