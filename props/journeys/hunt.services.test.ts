// A hunt on a real node: steps of an exercise are done by hand beside a running Sensor, and the exercise scores itself; a
// saved search tells of them; what they did is investigated and leaves as an archive that is verified without the Console.
// decision: D142, D143, D146
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { api } from './api.ts';
import {
  createToken,
  endOf,
  isHealthy,
  isSkipped,
  missingForEngine,
  onlySensor,
  startConsole,
  startSensor,
} from './fleet.ts';
import {
  eventually,
  type Home,
  makeHome,
  removeHome,
  startCommand,
  startProgram,
} from './programs.ts';

const TIMEOUT_MS = 900_000;
const WAIT_MS = 240_000;
const SENSOR = 'sensor/cli/service-sensor.js';
const CONSOLE = 'gateway/cli/service-console.js';

type Exercise = {
  readonly exercise_id: string;
  readonly state: string;
  readonly seen: number;
  readonly expected: number;
  readonly results: readonly {
    readonly step: string;
    readonly missed_because: string | null;
    readonly detected_after_ms: number | null;
  }[];
};

let home: Home | null = null;
afterEach(async () => {
  if (home !== null) await removeHome(home);
});

it.skipIf(isSkipped('hunt', missingForEngine()))(
  'should score what was done, tell of it, and leave as an archive that verifies by itself',
  { timeout: TIMEOUT_MS },
  async () => {
    home = await makeHome({ STREAM_TICK_MS: 200 });
    const at = home;
    await startConsole(at);
    startSensor(at, { token: await createToken(at) });
    const { sensor_id: id } = await onlySensor(at, isHealthy);
    const ask = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
      const answer = await api(at, method, `/api/v2${path}`, body);
      expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
      return answer.body as T;
    };
    const steps = ['whoami', 'masquerade', 'decode'].map((step) => ({ step }));
    const plan = { name: 'drill', window_secs: 3_600, sensor_ids: [id], steps };
    const { exercise_id: exercise } = await ask<Exercise>('POST', '/exercises', plan);
    const search = await ask<{ search_id: string }>('POST', '/saved-searches', {
      ...{ search_name: 'drill', filter: { q: 'arguments~"service-exercise"' } },
      ...{ threshold: 1, window_secs: 3_600 },
    });
    await ask('POST', `/exercises/${exercise}/start`);
    for (const step of ['whoami', 'masquerade']) {
      const ran = await endOf(startProgram(SENSOR, ['exercise', 'run', step], { env: at.env }));
      expect(ran.code, ran.output).toBe(0);
    }
    const look = () => ask<Exercise>('GET', `/exercises/${exercise}`);
    await eventually('both are seen', async () => ((await look()).seen === 2 ? 1 : null), WAIT_MS);
    await ask('POST', `/exercises/${exercise}/end`);
    const scored = await eventually(
      'the exercise is scored',
      async () => {
        const one = await look();
        return one.state === 'scored' ? one : null;
      },
      WAIT_MS,
    );
    expect(scored).toMatchObject({ seen: 2, expected: 3 });
    const resultOf = (step: string) => scored.results.find((one) => one.step === step);
    expect(resultOf('whoami')?.detected_after_ms).toBeGreaterThanOrEqual(0);
    expect(resultOf('decode')?.missed_because).toBe('not_collected');

    const told = await eventually(
      'the saved search tells of it',
      async () => {
        const path = `/saved-searches/${search.search_id}`;
        const one = await ask<{ last_alert_id: string | null; crossings: number }>('GET', path);
        return one.last_alert_id === null ? null : one;
      },
      WAIT_MS,
    );
    expect(told.crossings).toBe(1);

    const made = await ask<{ investigation_id: string }>('POST', '/investigations', {
      name: 'drill',
    });
    const run = (...words: readonly string[]) =>
      endOf(startProgram(CONSOLE, ['investigations', ...words], { env: at.env }));
    const query = ['-q', 'arguments~"service-exercise"', '--note', 'what was done'];
    const added = await run('add', made.investigation_id, ...query);
    expect(added.code, added.output).toBe(0);
    const file = join(at.folder, 'case.tar.gz');
    const exported = await run('export', made.investigation_id, '--file', file);
    expect(exported.code, exported.output).toBe(0);
    const verified = await run('verify', file);
    expect(verified.output).toContain('as they were exported');
    const folder = join(at.folder, 'opened');
    mkdirSync(folder);
    const openssl = await endOf(
      startCommand(
        'sh',
        [
          '-c',
          `tar xzf "$1" --strip-components=1 -C "$2" && cd "$2" &&
           openssl pkeyutl -verify -pubin -inkey public-key.pem -rawin -in manifest.json \
             -sigfile manifest.sig`,
          ...['sh', file, folder],
        ],
        { env: at.env },
      ),
    );
    expect(openssl.output).toContain('Verified Successfully');
  },
);
