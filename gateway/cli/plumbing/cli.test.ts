// The command line by example, in this process against the real listener: what is printed where, and how it ends.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pc from 'picocolors';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { signLicense } from '../../../actors/license/envelope-signature.ts';
import { licensePayload } from '../../../props/attacks/license-issuer.ts';
import { batchOf } from '../../live/live-hub.fixture.ts';
import {
  type Listening,
  listenWithFixture,
} from '../../operator-plane/plumbing/listening.fixture.ts';
import {
  LICENSE_KEY,
  NOW_MS,
  sensorIdOf,
  storedEvent,
} from '../../operator-plane/plumbing/operator-plane.fixture.ts';
import { saveContext } from './context-file.ts';
import { runProgram } from './program.ts';
import { wordsOf } from './words.fixture.ts';

let live: Listening;
let home: string;
let env: Record<string, string>;

beforeAll(async () => {
  live = await listenWithFixture();
  home = mkdtempSync(join(tmpdir(), 'cli-'));
});
afterAll(async () => {
  await live.close();
  rmSync(home, { recursive: true, force: true });
});
beforeEach(() => {
  const { state } = live.fixture;
  state.sensors.clear();
  state.tokens.clear();
  state.events.length = 0;
  env = { XDG_CONFIG_HOME: home };
  saveContext(env, 'local', {
    url: live.url,
    token: live.fixture.addKey(['admin']),
    ca_pem: live.caPem,
  });
});

type Answers = { readonly answer?: string; readonly signal?: AbortSignal; onOut?: () => void };

async function run(line: string, more: Answers = {}) {
  const out: string[] = [];
  const err: string[] = [];
  const code = await runProgram(wordsOf(line), {
    env,
    terminal: {
      out: (text) => {
        out.push(text);
        more.onOut?.();
      },
      talk: (text) => void err.push(text),
      isInteractive: more.answer !== undefined,
      colors: pc.createColors(false),
    },
    now: () => NOW_MS + 90_000,
    signal: more.signal ?? new AbortController().signal,
    ask: async () => more.answer ?? '',
  });
  return { code, out, err: err.join('\n') };
}

describe('the context file', () => {
  it('should be readable by its owner only', () => {
    expect(statSync(join(home, 'service', 'config.yaml')).mode & 0o777).toBe(0o600);
  });

  it('should give way to the environment', async () => {
    env['SERVICE_TOKEN'] = 'svck_wrong';

    const { code, err } = await run('sensors list');

    expect(code).toBe(4);
    expect(err).toContain('set SERVICE_TOKEN');
  });

  it('should be named when it is absent or broken', async () => {
    env = { XDG_CONFIG_HOME: join(home, 'nowhere') };
    expect(await run('sensors list')).toMatchObject({
      code: 2,
      err: expect.stringContaining('service-console quickstart'),
    });
    const broken = join(home, 'broken');
    env = { XDG_CONFIG_HOME: broken };
    mkdirSync(join(broken, 'service'), { recursive: true });
    writeFileSync(join(broken, 'service', 'config.yaml'), 'current: [');
    expect((await run('sensors list')).code).toBe(2);
  });
});

describe('sensors', () => {
  it('should be a borderless table with upper-case heads', async () => {
    live.fixture.addSensor(1);
    live.fixture.addSensor(2);

    const { code, out } = await run('sensors list');

    expect(code).toBe(0);
    expect(out).toHaveLength(3);
    expect(out[0]).toMatch(/^NAME +ID +HEALTH +TRUST +STREAM +ENGINE +HEARD +AGE$/);
    expect(out[1]).toMatch(/^node-0001 +0{8}-.+ healthy +trusted +closed +unknown +- +90s$/);
  });

  it.each([
    ['json', (text: string) => JSON.parse(text)],
    ['yaml', (text: string) => parse(text)],
    ['jsonl', (text: string) => text.split('\n').map((line) => JSON.parse(line))],
  ])('should print %s', async (format, read) => {
    live.fixture.addSensor(1);
    live.fixture.addSensor(2);

    const { out } = await run(`sensors list -o ${format}`);

    expect(read(out.join('\n'))).toMatchObject([
      { node_name: 'node-0001' },
      { node_name: 'node-0002' },
    ]);
  });

  it('should print names for other programs, and talk on stderr when there are none', async () => {
    const none = await run('sensors list');
    live.fixture.addSensor(1);
    const some = await run('sensors list -o name');

    expect(none).toMatchObject({ code: 0, out: [], err: expect.stringContaining('tokens create') });
    expect(some.out).toEqual([sensorIdOf(1)]);
    expect((await run('sensors list --no-headers')).out).toHaveLength(1);
  });

  it('should follow cursors past one page', async () => {
    for (let i = 1; i <= 620; i += 1) live.fixture.addSensor(i);

    expect((await run('sensors list -o name')).out).toHaveLength(620);
  });

  it('should show what each policy did, and would have done', async () => {
    const loaded = [
      { name: 'keep-out', state: 'enforcing', acted: 2, would_have_acted: 0 },
      { name: 'watch', state: 'monitoring', acted: 0, would_have_acted: 3, reason: 'unsigned' },
    ];
    const sensorId = live.fixture.addSensor(1);
    const { sensors } = live.fixture.state;
    const facts = { engine: { kind: 'ebpf', mode: 'ring', loaded_policies: loaded } };
    sensors.set(sensorId, { ...sensors.get(sensorId), facts } as never);

    const text = (await run('sensors get node-0001')).out.join('\n');
    expect(text).toMatch(/^ENGINE-MODE +ring$/m);
    expect(text).toMatch(
      /^POLICIES +keep-out enforcing, acted 2 times\n +watch monitoring, would have acted 3 times, unsigned$/m,
    );
  });

  it('should be found by name, or end with 5', async () => {
    live.fixture.addSensor(1);

    expect(JSON.parse((await run('sensors get node-0001 -o json')).out.join(''))).toMatchObject({
      sensor_id: sensorIdOf(1),
    });
    expect(await run('sensors get node-0009')).toMatchObject({ code: 5, out: [] });
    const problem = await run(`sensors get ${sensorIdOf(9)} -o json`);
    expect(problem.code).toBe(5);
    expect(JSON.parse(problem.out.join(''))).toMatchObject({ status: 404, code: 'not_found' });
  });

  it('should be revoked only with a yes, and stay revoked', async () => {
    live.fixture.addSensor(1);
    const line = 'sensors revoke node-0001 --reason stolen';

    expect(await run(line)).toMatchObject({ code: 2, err: expect.stringContaining('--yes') });
    expect(await run(line, { answer: 'node-0002' })).toMatchObject({ code: 2 });
    expect(live.fixture.state.sensors.get(sensorIdOf(1))?.revokedAtMs).toBeNull();
    expect(await run(line, { answer: 'node-0001' })).toMatchObject({
      code: 0,
      out: [sensorIdOf(1)],
    });
    const again = await run('sensors reenroll node-0001');
    expect(again).toMatchObject({ code: 6, err: expect.stringContaining('tokens create') });
  });
});

describe('tokens', () => {
  it('should print the secret alone on stdout', async () => {
    const { code, out, err } = await run('tokens create --note rack --ttl 60');

    expect(code).toBe(0);
    expect(out).toEqual([expect.stringMatching(/^svce_[0-9A-Za-z]{49}$/)]);
    expect(err).toMatch(/sh -c "\$\(curl [\s\S]*install --url /);
    expect(err).not.toContain(out[0]);
    expect((await run('tokens list')).out[1]).toMatch(/enroll +usable +rack/);
    const [id = ''] = (await run('tokens list -o name')).out;
    expect((await run(`tokens revoke ${id}`)).out).toEqual([id]);
    expect((await run('tokens list -o json')).out.join('')).toContain('"status": "revoked"');
    expect((await run('tokens create --ttl soon')).code).toBe(2);
  });
});

describe('events', () => {
  it('should be one readable line each, without control bytes of a node', async () => {
    live.fixture.state.events.push(
      storedEvent(1, {
        process: { exec_id: 'x', pid: 7, binary: '/tmp/\u001b[2Jevil', arguments: '-a\nb' },
        severity: 'critical',
      }),
    );

    const { out } = await run('events search');

    expect(out).toEqual([
      '11:59:59.000 node-0001        process_exec     /tmp/\\x1b[2Jevil -a\\x0ab',
    ]);
  });

  it('should filter by kind, severity, time, text and process', async () => {
    const { events } = live.fixture.state;
    events.push(storedEvent(1), storedEvent(2, { event_kind: 'dns_query' }), storedEvent(5_000));

    expect((await run('events search -e dns_query -o name')).out).toHaveLength(1);
    expect((await run('events search --since 1h -o name')).out).toHaveLength(2);
    expect((await run('events search --processes ^/usr/bin/false -o name')).out).toHaveLength(0);
    expect((await run('events search --processes [')).code).toBe(2);
    expect((await run('events search -e nonsense')).code).toBe(2);
  });

  it('should tail the last ones in order and then new ones from the live channel, each once', async () => {
    const { events } = live.fixture.state;
    events.push(storedEvent(3), storedEvent(2));
    const stop = new AbortController();
    const { promise: shown, resolve } = Promise.withResolvers<void>();
    let count = 0;
    const tail = run('events tail -o jsonl', {
      signal: stop.signal,
      onOut: () => {
        count += 1;
        if (count === 2) {
          live.publish(batchOf([storedEvent(2), storedEvent(1)]));
        }
        if (count === 3) resolve();
      },
    });
    await shown;
    stop.abort();

    const { code, out } = await tail;

    expect(code).toBe(0);
    expect(out.map((line) => JSON.parse(line).message)).toEqual(['event 3', 'event 2', 'event 1']);
  });
});

describe('a command', () => {
  it('should end with 7 when nothing listens, 2 when it is not known, 0 when help was asked', async () => {
    env['SERVICE_CONSOLE_URL'] = 'https://localhost:1';
    expect(await run('sensors list')).toMatchObject({
      code: 7,
      err: expect.stringContaining('quickstart'),
    });
    expect((await run('sensors lst')).code).toBe(2);
    expect((await run('sensors list -o xml')).code).toBe(2);
    expect((await run('sensors list --help')).code).toBe(0);
    expect((await run('version')).out).toEqual([expect.stringMatching(/^\d+\.\d+\.\d+$/)]);
  });

  it('should end with 7 when the Console shows another CA', async () => {
    const { XDG_CONFIG_HOME = '' } = env;
    saveContext({ XDG_CONFIG_HOME }, 'other', { url: live.url, token: 'svck_x' });

    expect(await run('sensors list')).toMatchObject({
      code: 7,
      err: expect.stringMatching(/not trusted/),
    });
  });

  it('should end with 124 at its timeout', async () => {
    const { sensors: registry } = live.fixture.relational;
    const listBriefly = registry.listBriefly;
    Object.assign(registry, { listBriefly: () => new Promise(() => {}) });

    expect((await run('sensors list --timeout 0.2')).code).toBe(124);
    Object.assign(registry, { listBriefly });
  });

  it('should find what is wrong as doctor', async () => {
    const good = await run('doctor');
    env['SERVICE_CONSOLE_URL'] = 'https://localhost:1';
    const bad = await run('doctor');

    expect(good.out.join('\n')).toMatch(/✓ api key +accepted/);
    expect(good.out.join('\n')).toMatch(/✓ postgresql/);
    expect(bad.code).toBe(1);
    expect(bad.out.join('\n')).toMatch(/✗ tls +nothing listens/);
  });

  it('should run from its plain JavaScript entry', async () => {
    const script = fileURLToPath(new URL('../service-console.js', import.meta.url));
    const child = spawn(process.execPath, [script, 'sensors', 'list'], {
      env: { PATH: process.env['PATH'], XDG_CONFIG_HOME: join(home, 'nowhere') },
    });
    let said = '';
    child.stderr.on('data', (chunk) => {
      said += chunk;
    });

    const [code] = await once(child, 'close');

    expect(code).toBe(2);
    expect(said).toMatch(/^error: no Console is known/);
  });
});

describe('license', () => {
  const bundle = (more: Parameters<typeof licensePayload>[1] = {}) => {
    const signed = signLicense(licensePayload(NOW_MS, more), LICENSE_KEY);
    if (!signed.ok) throw new Error(signed.detail);
    const file = join(home, 'license.json');
    writeFileSync(file, JSON.stringify(signed.envelope));
    return file;
  };

  it('should be imported from a file and shown with its timeline', async () => {
    expect((await run('license show')).err).toContain('No license was imported');

    const { code, out, err } = await run(`license import '${bundle()}'`);

    expect({ code, err }).toEqual({ code: 0, err: 'The license was verified and is in force.' });
    expect(out[0]).toMatch(/^PHASE +valid$/);
    expect(out.join('\n')).toMatch(/^VALID +2026-02-28T.+ to 2026-03-31T.+ {2}<- now$/m);
    const shown = await run('license show -o json');
    expect(JSON.parse(shown.out.join('\n'))).toMatchObject({ phase: 'valid' });
  });

  it('should say what is refused', async () => {
    const bent = bundle({ plan: 'x' });
    writeFileSync(bent, readFileSync(bent, 'utf8').replace('"plan":"x"', '"plan":"y"'));

    expect(await run(`license import '${bent}'`)).toMatchObject({ code: 2, out: [] });
    writeFileSync(bent, 'no JSON');
    expect((await run(`license import '${bent}'`)).err).toContain('is not JSON');
    expect((await run(`license import '${join(home, 'absent')}'`)).code).toBe(2);
  });
});
