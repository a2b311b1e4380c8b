// Coverage and the rest of what sensors tell beside events, over the API and the command line, on the real listener.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pc from 'picocolors';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { saveContext } from '../../cli/plumbing/context-file.ts';
import { EXIT } from '../../cli/plumbing/exit.ts';
import { runProgram } from '../../cli/plumbing/program.ts';
import { type Listening, listenWithFixture } from '../plumbing/listening.fixture.ts';
import { NOW_MS, sensorIdOf } from '../plumbing/operator-plane.fixture.ts';

const HOUR_MS = 3_600_000;
const [ONE, TWO] = [sensorIdOf(1), sensorIdOf(2)];
const NONE = {
  ...{ seen: 0, kernel_lost: 0, engine_lost: 0, reader_skipped: 0, pipeline_dropped: 0 },
  ...{ spool_discarded: 0, console_refused: 0 },
};
let live: Listening;
let home: string;

beforeAll(async () => {
  live = await listenWithFixture();
  const { fixture } = live;
  for (const index of [1, 2]) fixture.addSensor(index);
  const { telemetry, relational } = fixture.stored;
  const base = { streamId: 'a'.repeat(32), reportedAtMs: NOW_MS, ...NONE };
  await telemetry.telemetry.insert({
    coverage: [
      {
        ...base,
        sensorId: ONE,
        nodeName: 'one',
        hourMs: NOW_MS - HOUR_MS,
        seen: 99_999,
        kernel_lost: 1,
      },
      { ...base, sensorId: ONE, nodeName: 'one', hourMs: NOW_MS, seen: 10 },
      {
        ...base,
        sensorId: ONE,
        nodeName: 'one',
        hourMs: NOW_MS - 48 * HOUR_MS,
        seen: 7,
        engine_lost: 7,
      },
      { ...base, sensorId: TWO, nodeName: 'two', hourMs: NOW_MS, spool_discarded: 3, seen: 1 },
    ],
    resources: [],
    flows: [
      {
        ...{ sensorId: ONE, firstSeenAtMs: NOW_MS - 9_000, lastSeenAtMs: NOW_MS - 1_000 },
        ...{ reportedAtMs: NOW_MS, protocol: 'tcp', direction: 'outbound', port: 443 },
        ...{ remoteIp: '192.0.2.7', domain: 'example.org', binary: '/usr/bin/curl' },
        ...{ containerId: '', connections: 4 },
      },
    ],
  });
  const items = Array.from({ length: 3 }, (_, at) => ({ protocol: 'tcp', ip: '::', port: at }));
  await relational.inventory.put({
    ...{ sensorId: ONE, section: 'listening_services', hash: 'f'.repeat(64), items },
    nowMs: NOW_MS,
  });
  home = mkdtempSync(join(tmpdir(), 'cli-telemetry-'));
  saveContext({ XDG_CONFIG_HOME: home }, 'local', {
    ...{ url: live.url, token: fixture.addKey(['admin']), ca_pem: live.caPem },
  });
});
afterAll(async () => {
  await live.close();
  rmSync(home, { recursive: true, force: true });
});

async function get(path: string) {
  const headers = { authorization: `Bearer ${live.fixture.addKey(['sensors:read'])}` };
  const answer = await live.fixture.app.inject({ method: 'GET', url: `/api/v2${path}`, headers });
  return { status: answer.statusCode, body: answer.json() };
}

async function run(...argv: readonly string[]) {
  const [out, err]: [string[], string[]] = [[], []];
  const code = await runProgram(argv, {
    env: { XDG_CONFIG_HOME: home },
    terminal: {
      out: (text) => void out.push(text),
      talk: (text) => void err.push(text),
      isInteractive: false,
      colors: pc.createColors(false),
    },
    now: () => NOW_MS,
    signal: new AbortController().signal,
    ask: async () => '',
  });
  return { code, out, err: err.join('\n') };
}

describe('coverage', () => {
  it('should tell the hours of a sensor and where it lost what', async () => {
    const { status, body } = await get(`/sensors/${ONE}/coverage`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ seen: 100_009, lost: 1, losses: { kernel_lost: 1 } });
    expect(body.coverage).toBeCloseTo(100_009 / 100_010, 12);
    expect(body.hours).toMatchObject([
      { hour: new Date(NOW_MS - HOUR_MS).toISOString(), lost: 1 },
      { hour: new Date(NOW_MS).toISOString(), lost: 0, coverage: 1 },
    ]);
    const long = await get(`/sensors/${ONE}/coverage?from=now-3d&to=now-1d`);
    expect(long.body).toMatchObject({ seen: 7, lost: 7, coverage: 0.5 });
  });

  it('should page over the fleet', async () => {
    const first = await get('/coverage?limit=1');
    expect(first.body.items).toMatchObject([{ sensor_id: ONE, lost: 1 }]);
    const next = await get(`/coverage?limit=1&cursor=${first.body.next_cursor}`);
    expect(next.body).toMatchObject({
      items: [{ sensor_id: TWO, lost: 3, coverage: 0.25 }],
      next_cursor: null,
    });
  });

  it('should say that there was nothing rather than that all was well', async () => {
    const { body } = await get(`/sensors/${TWO}/coverage?from=now-9d&to=now-8d`);
    expect(body).toMatchObject({ seen: 0, lost: 0, coverage: null, hours: [] });
  });

  it('should refuse a time that is none, and a sensor that is none', async () => {
    expect(await get(`/sensors/${ONE}/coverage?from=2026-02-31T00:00:00Z`)).toMatchObject({
      status: 422,
      body: { errors: [{ pointer: '/query/from' }] },
    });
    for (const what of ['coverage', 'flows', 'resources', 'baselines', 'inventory/packages']) {
      expect((await get(`/sensors/${sensorIdOf(9)}/${what}`)).status).toBe(404);
    }
  });

  it('should be shown on the command line, and never rounded up to the whole', async () => {
    const fleet = await run('sensors', 'coverage');
    expect(fleet.out.join('\n')).toMatch(new RegExp(`^${TWO} +1 +3 +25.000%`, 'm'));
    const hours = await run('sensors', 'coverage', ONE);
    expect(hours.out.join('\n')).toMatch(/99999 +1 +99.999% +1 /);
    expect(hours.out.join('\n')).toMatch(/ 10 +0 +100% /);
    expect((await run('sensors', 'coverage', ONE, '--from', 'yesterday')).code).not.toBe(EXIT.ok);
  });
});

describe('what a node holds and does', () => {
  it('should list flows', async () => {
    const { body } = await get(`/sensors/${ONE}/flows`);
    expect(body.items).toMatchObject([{ domain: 'example.org', connections: 4, port: 443 }]);
    const { out } = await run('sensors', 'flows', ONE);
    expect(out.join('\n')).toMatch(/outbound +tcp +example.org +443 +4 +\/usr\/bin\/curl/);
  });

  it('should page over an inventory section', async () => {
    const first = await get(`/sensors/${ONE}/inventory/listening_services?limit=2`);
    expect(first.body).toMatchObject({
      total: 3,
      node_total: null,
      items: [{ port: 0 }, { port: 1 }],
    });
    const { body } = await get(
      `/sensors/${ONE}/inventory/listening_services?limit=2&cursor=${first.body.next_cursor}`,
    );
    expect(body).toMatchObject({ items: [{ port: 2 }], next_cursor: null });
    const { out, err } = await run('sensors', 'services', ONE);
    expect(out).toHaveLength(4);
    expect(err).toBe('');
  });

  it('should say of a section that the node told in part how many there are', async () => {
    await live.fixture.stored.relational.inventory.put({
      ...{ sensorId: ONE, section: 'processes', hash: 'e'.repeat(64), nodeTotal: 7_000 },
      ...{ items: [{ pid: 1, command: 'init' }], nowMs: NOW_MS },
    });
    const { body } = await get(`/sensors/${ONE}/inventory/processes`);
    expect(body).toMatchObject({ total: 1, node_total: 7_000 });
    const { out, err } = await run('sensors', 'processes', ONE);
    expect(out.join('\n')).toMatch(/^1 +init/m);
    expect(err).toBe('The node has 7000, too many to tell: these are 1.');
  });
});
