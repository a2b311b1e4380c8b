// What is usual for a program, from a running node to whoever asks for it: habits that a Sensor has learned lie in
// `process_baselines` and are shown, an unusual deed lies in `anomaly_scores` and is shown with its event, a usual one is
// not in the way, and a Sensor that starts again knows what it knew. decision: D47
import { type ChildProcess, spawn } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { items } from './api.ts';
import {
  createToken,
  endOf,
  isHealthy,
  isSkipped,
  missingForEngine,
  onlySensor,
  startConsole,
  startSensor,
  status,
  stop,
} from './fleet.ts';
import { eventually, type Home, makeHome, removeHome, startProgram } from './programs.ts';
import { askClickhouse, embeddedClickhouse } from './stored.ts';

const TIMEOUT_MS = 900_000;
const INTERVALS = {
  STREAM_TICK_MS: 200,
  BASELINE_WARM_UP_MS: 5_000,
  BASELINE_SAVE_INTERVAL_MS: 1_000,
  BASELINE_TELL_INTERVAL_MS: 1_000,
  INVENTORY_INTERVAL_MS: 1_000,
};
/** So far apart that they are no burst. */
const PAUSE_MS = 150;
const USUAL_TIMES = 40;
const UNUSUAL_FROM = 0.7;

type Usual = { readonly name: string; readonly weight: number };
type Baseline = {
  readonly binary: string;
  readonly is_warm: boolean;
  readonly children: readonly Usual[];
  readonly users: readonly Usual[];
};
type Score = { readonly event_id: string; readonly binary: string; readonly score: number };
type Event = {
  readonly event_id: string;
  readonly message: string;
  readonly anomaly_score?: number;
};

let home: Home | null = null;
let worker: ChildProcess | null = null;
afterEach(async () => {
  worker?.kill('SIGKILL');
  if (home !== null) await removeHome(home);
});

it.skipIf(isSkipped('habits', missingForEngine()))(
  'should be learned on the node and shown at the Console, with what departs from them',
  { timeout: TIMEOUT_MS },
  async () => {
    home = await makeHome(INTERVALS);
    const at = home;
    const running = await startConsole(at);
    const first = startSensor(at, { token: await createToken(at) });
    const { sensor_id: id } = await onlySensor(at, isHealthy);
    const path = (name: string): string => join(at.folder, name);
    for (const [name, program] of [
      ['worker', '/bin/sh'],
      ['tool', '/bin/true'],
      ['intruder', '/bin/true'],
      ['latecomer', '/bin/true'],
    ] as const) {
      // Copies, not links: a process that began before the engine is known by its file.
      copyFileSync(program, path(name));
    }
    const child = spawn(path('worker'), ['-c', 'while read -r name; do "$name"; done'], {
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    worker = child;
    const run = (name: string) => child.stdin.write(`${path(name)}\n`);
    for (let time = 0; time < USUAL_TIMES; time += 1) {
      run('tool');
      await sleep(PAUSE_MS);
    }
    await sleep(INTERVALS.BASELINE_WARM_UP_MS);
    run('tool');

    const learned = await eventually('the habits of the worker are shown', async () => {
      const all = await items<Baseline>(at, `/api/v2/sensors/${id}/baselines?limit=500`);
      const own = all.find(({ binary }) => binary === path('worker'));
      return own?.is_warm === true ? own : null;
    });
    expect(learned.children.map(({ name }) => name)).toEqual([path('tool')]);
    expect(learned.children[0]?.weight).toBeGreaterThanOrEqual(USUAL_TIMES / 2);
    expect(learned.users.map(({ name }) => name)).toEqual(['0']);
    const access = embeddedClickhouse(at);
    const rows = await askClickhouse<{ children: readonly Usual[] }>(
      access,
      `SELECT children FROM process_baselines FINAL
       WHERE sensor_id = {id: String} AND binary = {binary: String} AND NOT is_removed`,
      { id, binary: path('worker') },
    );
    expect(rows.map(({ children }) => children.map(({ name }) => name))).toEqual([[path('tool')]]);

    run('tool');
    run('intruder');
    await judged(at, id, path('intruder'));
    const odd = await scoresOf(at, id);
    expect(odd.map(({ binary }) => binary)).not.toContain(path('tool'));
    const stored = await askClickhouse<{ binary: string; times: string }>(
      access,
      `SELECT binary, uniqExact(event_id) AS times FROM anomaly_scores
       WHERE sensor_id = {id: String} AND score >= ${UNUSUAL_FROM} AND startsWith(binary, {folder: String})
       GROUP BY binary`,
      { id, folder: at.folder },
    );
    expect(stored).toEqual([{ binary: path('intruder'), times: '1' }]);
    const shown = await endOf(
      startProgram('gateway/cli/service-console.ts', ['sensors', 'scores', id], { env: at.env }),
    );
    expect(shown.output).toContain(path('intruder'));

    expect(await stop(first)).toBe(0);
    const again = startSensor(at);
    // What the Console knows of the engine may still be what the one before said.
    await eventually('the engine of the Sensor runs again', async () => {
      const { live } = await status(at);
      return live?.pid === again.pid && live.engine?.state === 'running' ? live : null;
    });
    run('latecomer');
    await judged(at, id, path('latecomer'));
    expect(await stop(again)).toBe(0);
    expect(await stop(running)).toBe(0);
  },
);

/** Its exec is among the scores that are shown, and its event says in which respect it is unusual. */
async function judged(at: Home, id: string, binary: string): Promise<void> {
  const score = await eventually(`${binary} is judged`, async () => {
    const own = (await scoresOf(at, id)).find((one) => one.binary === binary);
    return own ?? null;
  });
  const query = new URLSearchParams({ from: 'now-1h', binary, event_kind: 'process_exec' });
  const [event] = await items<Event>(at, `/api/v2/events?${query}`);
  expect(event).toMatchObject({ event_id: score.event_id, anomaly_score: score.score });
  expect(event?.message).toContain('unusual: children');
}

function scoresOf(at: Home, id: string): Promise<readonly Score[]> {
  const query = new URLSearchParams({ from: 'now-1h', at_least: `${UNUSUAL_FROM}`, limit: '500' });
  return items<Score>(at, `/api/v2/sensors/${id}/anomaly-scores?${query}`);
}
