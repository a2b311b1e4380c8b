// Tetragon as the engine, against a peer that speaks its 1.7 service and writes its export. What is proven here is this
// Sensor's half; a real Tetragon needs kprobes and was not run.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createEngineLauncher, type EngineRun } from '../../sensor/engine/engine-launcher.ts';
import { diskExport } from '../../sensor/engine/export-files.ts';
import { createExportReader } from '../../sensor/engine/export-reader.ts';
import { bpfDirOf } from '../../sensor/engine/tetragon/flags.ts';
import { createTetragon, type Tetragon } from '../../sensor/engine/tetragon/tetragon.ts';
import { normalise } from '../../sensor/pipeline/normalise.ts';
import { createProcessCache } from '../../sensor/pipeline/process-cache.ts';
import { makePeerBundle, type PeerBundle } from './tetragon-bundle.ts';

const isRoot = process.getuid?.() === 0;
if (!isRoot) process.stdout.write('tetragon: skipped, the engine runs as root only\n');

let stateDir = '';
let peer: PeerBundle;
let runs: EngineRun[] = [];
let others: ChildProcess[] = [];
let lines: Record<string, unknown>[] = [];
let errors: string[] = [];
let heard: () => void = () => undefined;

beforeEach(() => {
  stateDir = mkdtempSync(path.join(tmpdir(), 'tetragon-'));
  peer = makePeerBundle();
  mkdirSync(path.join(stateDir, 'compiled-policies'));
  [runs, others, lines, errors] = [[], [], [], []];
});
afterEach(async () => {
  for (const run of runs) run.kill();
  await Promise.all(runs.map(({ gone }) => gone));
  for (const other of others) other.kill('SIGKILL');
  peer.remove();
  rmSync(stateDir, { recursive: true, force: true });
});

const exportFile = () => path.join(stateDir, 'engine', 'export', 'events.log');
const tetragonOf = async (one: PeerBundle = peer): Promise<Tetragon> =>
  createTetragon(stateDir, await one.settings(), { host: one.host });

async function start(tetragon: Tetragon): Promise<EngineRun> {
  const reason = (await tetragon.whyNot()) ?? (await tetragon.prepare());
  if (reason !== undefined) throw new Error(reason);
  const run = tetragon.launch({
    exportFile: exportFile(),
    nodeName: 'node-1',
    onLine: (line) => {
      lines.push(JSON.parse(line) as Record<string, unknown>);
      heard();
    },
    onErrorLine: (line) => {
      errors.push(line);
      heard();
    },
  });
  runs.push(run);
  return run;
}

/** Waits, as lines come in, until one of those behind `from` fits. */
async function lineThat(
  fits: (line: Record<string, unknown>) => boolean,
  from = 0,
): Promise<Record<string, unknown>> {
  for (;;) {
    const found = lines.slice(from).find(fits);
    if (found !== undefined) return found;
    await new Promise<void>((resolve) => {
      heard = resolve;
    });
  }
}
const hello = (from = 0) => lineThat((line) => line['engine'] === 'tetragon', from);
const policiesThat = (expected: readonly (readonly [string, string])[]) => {
  const wanted = JSON.stringify(expected);
  const isIt = (listed: unknown): boolean =>
    Array.isArray(listed) &&
    JSON.stringify(listed.map(({ name, state }) => [name, state])) === wanted;
  return lineThat((line) => isIt(line['policies']), lines.length);
};
const story = async () => (await peer.order({ do: 'story' }))['story'] as string[];

const policy = (name: string, spec = 'x: 1') =>
  `apiVersion: cilium.io/v1alpha1\nkind: TracingPolicy\nmetadata:\n  name: ${name}\nspec:\n  ${spec}\n`;
const put = (name: string, yaml: string) =>
  writeFileSync(path.join(stateDir, 'compiled-policies', `${name}.yaml`), yaml);

describe.skipIf(!isRoot)('tetragon', () => {
  it('should be started with flags that open no port, and say hello when its service answers', async () => {
    const run = await start(await tetragonOf());
    expect(await hello()).toMatchObject({ engine: 'tetragon', version: '1.7.0' });
    const { argv } = (await peer.order({ do: 'story' })) as { argv: string[] };
    const value = (flag: string) =>
      argv.find((one) => one.startsWith(`--${flag}=`))?.slice(flag.length + 3);
    expect(value('server-address')).toBe(`unix://${stateDir}/run/tetragon.sock`);
    for (const port of ['health-server', 'pprof', 'gops'])
      expect(value(`${port}-address`)).toBe('');
    expect(value('metrics-server')).toBe('');
    expect(value('export-filename')).toBe(exportFile());
    expect(value('bpf-lib')).toContain(stateDir);
    expect(argv.every((one) => one.startsWith('--'))).toBe(true);
    run.endInput();
    expect(await run.gone).toBe('it ended with 0');
    expect(run.hasEnded()).toBe(true);
    expect(errors).toEqual([]);
  });

  it('should have its export read through rotations, half lines and more of them than are kept', async () => {
    await start(await tetragonOf());
    await hello();
    const reader = createExportReader({ path: exportFile(), cursor: undefined, files: diskExport });
    const pids: unknown[] = [];
    let skipped = 0;
    const read = async () => {
      const batch = await reader.read(10_000);
      skipped += batch.skippedLines + batch.malformed;
      for (const line of batch.lines) {
        const result = normalise(line, { sensorId: 's', cache: createProcessCache() });
        pids.push(result.ok ? result.event.process?.pid : line);
      }
    };
    for (let round = 0; round < 14; round += 1) {
      await peer.order({ do: 'write', from: 100 + round * 10, count: 9 });
      await peer.order({ do: 'write half', from: 109 + round * 10 });
      await read();
      await peer.order({ do: 'write rest', from: 109 + round * 10 });
      await peer.order({ do: 'rotate' });
    }
    await read();
    await reader.close();
    expect(pids).toEqual(Array.from({ length: 140 }, (_, at) => 100 + at));
    expect(skipped).toBe(0);
  });

  it('should tell what its kernel side lost, and what it cannot tell', async () => {
    peer.remove();
    peer = makePeerBundle('v1.7.0', 7);
    await start(await tetragonOf());
    const said = await hello();
    expect(JSON.stringify(said['disabled_hooks'])).toContain('tetragon/loss_counters');
    expect(await lineThat((line) => line['alive'] === true)).toEqual({
      ...{ alive: true, lost: 7, untold: { kernel_lost: 7, engine_lost: 0 } },
    });
  });

  it('should take its losses from its metrics when an address for them is named', async () => {
    peer.remove();
    peer = makePeerBundle('v1.7.0', 7);
    const free = createServer().listen(0, '127.0.0.1');
    await once(free, 'listening');
    const address = free.address();
    const metricsAddress = `127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
    free.close();
    await once(free, 'close');
    const settings = { ...(await peer.settings()), metricsAddress };
    await start(createTetragon(stateDir, settings, { host: peer.host }));
    expect((await hello())['disabled_hooks']).toEqual([]);
    expect(await lineThat((line) => line['alive'] === true)).toEqual({
      ...{ alive: true, lost: 12, untold: { kernel_lost: 7, engine_lost: 5 } },
    });
  });

  it('should keep the policies: load, change mode, replace without a gap, remove', async () => {
    put('a', policy('a'));
    put('b', policy('b'));
    await start(await tetragonOf());
    await policiesThat([
      ['a', 'enforcing'],
      ['b', 'enforcing'],
    ]);
    put('a', policy('a', 'options: [{name: policy-mode, value: monitor}]\n  x: 1'));
    put('b', policy('b', 'x: 2'));
    await policiesThat([
      ['a', 'monitoring'],
      ['b', 'enforcing'],
    ]);
    const { policies } = await lineThat((line) => 'policies' in line, lines.length);
    expect(policies).toMatchObject([
      { name: 'a', counts: { signals: 0, monitored_signals: 3, monitored_refusals: 1 } },
      { name: 'b', counts: { signals: 2, refusals: 4, monitored_signals: 0 } },
    ]);
    rmSync(path.join(stateDir, 'compiled-policies', 'a.yaml'));
    await policiesThat([['b', 'enforcing']]);
    expect(await story()).toEqual([
      ...['load a', 'load b', 'mode a 2'],
      ...['load b-next', 'unload b', 'load b', 'unload b-next', 'unload a'],
    ]);
  });

  it('should keep the old version in force when Tetragon cannot load the new one', async () => {
    put('a', policy('a'));
    await start(await tetragonOf());
    await policiesThat([['a', 'enforcing']]);
    put('a', policy('a', 'call: no_such_call'));
    put('c', policy('c', 'call: no_such_call'));
    put('d', 'kind: Pod');
    await policiesThat([
      ['d', 'rejected'],
      ['a', 'enforcing, new one rejected'],
      ['c', 'rejected'],
    ]);
    // What was never loaded is removed all the same, so that it does not stay listed as broken.
    expect(await story()).toEqual(['load a', 'unload a-next', 'unload c']);
    const told = errors.filter((line) => line.includes('refused'));
    expect(told).toHaveLength(3);
    expect(told.join()).toContain('no_such_call not found in BTF');
    put('a', policy('a', 'x: 3'));
    rmSync(path.join(stateDir, 'compiled-policies', 'd.yaml'));
    await policiesThat([
      ['a', 'enforcing'],
      ['c', 'rejected'],
    ]);
  });

  it('should leave in force what it took, while the file is one that is not taken', async () => {
    put('a', policy('a'));
    await start(await tetragonOf());
    await policiesThat([['a', 'enforcing']]);
    const file = path.join(stateDir, 'compiled-policies', 'a.yaml');
    chmodSync(file, 0o620);
    put('b', policy('other'));
    await policiesThat([
      ['a', 'enforcing, new one rejected'],
      ['b', 'rejected'],
    ]);
    const told = errors.filter((line) => line.includes('refused')).join();
    expect(told).toContain('a is refused: it can be written by others');
    expect(told).toContain('b is refused: metadata.name: must be b');
    expect(await story()).toEqual(['load a']);
  });

  it('should load what was accepted by itself at its next start, and start without it when that fails', async () => {
    put('a', policy('a'));
    const tetragon = await tetragonOf();
    const first = await start(tetragon);
    await policiesThat([['a', 'enforcing']]);
    first.endInput();
    await first.gone;
    const kept = path.join(stateDir, 'engine', 'tetragon', 'policies', 'a.yaml');
    expect(readFileSync(kept, 'utf8')).toBe(policy('a'));
    const second = await start(tetragon);
    await policiesThat([['a', 'enforcing']]);
    expect(await story()).toEqual(['load a']);
    second.endInput();
    await second.gone;
    writeFileSync(kept, policy('a', 'call: no_such_call'));
    const third = await start(tetragon);
    expect(await third.gone).toMatch(/it ended with 1: Failed to execute tetragon: .*no_such_call/);
    expect(existsSync(kept)).toBe(false);
    await start(tetragon);
    await policiesThat([['a', 'enforcing']]);
  });

  it('should not be started beside another Tetragon, and leave that one alone', async () => {
    const program = path.join(peer.peerDir, 'tetragon');
    copyFileSync('/bin/sleep', program);
    const foreign = spawn(program, ['60']);
    others.push(foreign);
    await once(foreign, 'spawn');
    writeFileSync(peer.host.pidFile, String(foreign.pid));
    const tetragon = await tetragonOf();
    expect(await tetragon.whyNot()).toBe(
      `another Tetragon runs on this node (process ${foreign.pid}, ${peer.host.pidFile}); two cannot`,
    );
    await tetragon.prepare();
    await tetragon.clearAway();
    expect(foreign.exitCode ?? foreign.signalCode).toBeNull();
    foreign.kill('SIGKILL');
    await once(foreign, 'exit');
    expect(await tetragon.whyNot()).toBeUndefined();
  });

  it('should be started when its pid file names a program that is no Tetragon', async () => {
    writeFileSync(peer.host.pidFile, String(process.pid));
    await start(await tetragonOf());
    await hello();
  });

  it('should end the one that a killed Sensor left behind, and its programs with it', async () => {
    const left = await start(await tetragonOf());
    await hello();
    const tetragon = await tetragonOf();
    await start(tetragon);
    expect(await left.gone).toBe('it ended with 0');
    await hello(lines.length);
    const maps = path.join(peer.host.bpfFileSystem, bpfDirOf(stateDir));
    expect(existsSync(maps)).toBe(true);
    await tetragon.clearAway();
    await runs[1]?.gone;
    expect(existsSync(maps)).toBe(false);
  });

  it('should be refused when it is another version', async () => {
    peer.remove();
    peer = makePeerBundle('v1.8.0');
    const run = await start(await tetragonOf());
    expect(await run.gone).toMatch(/Tetragon v1\.8\.0; this Sensor speaks 1\.7/);
    expect(lines).toEqual([]);
  });

  it.each([
    ['no bundle is named', { bundle: null }, /no bundle is named/],
    [
      'nothing is pinned',
      { sha256: null },
      /no SHA-256 is pinned.* that of the bundle is [0-9a-f]{64}$/,
    ],
    ['another one is pinned', { sha256: 'a'.repeat(64) }, /another one is pinned/],
    ['it is not there', { bundle: '/nowhere' }, /cannot be read/],
  ])('should say why not when %s', async (_, settings, reason) => {
    const tetragon = createTetragon(
      stateDir,
      { ...(await peer.settings()), ...settings },
      { host: peer.host },
    );
    expect(await tetragon.whyNot()).toMatch(reason);
    expect(existsSync(path.join(stateDir, 'engine'))).toBe(false);
  });

  it.each([
    ['typeInformation', /BTF/],
    ['kprobes', /kprobes/],
  ] as const)('should say why not when the kernel has no %s', async (place, reason) => {
    const host = { ...peer.host, [place]: '/nowhere' };
    expect(await createTetragon(stateDir, await peer.settings(), { host }).whyNot()).toMatch(
      reason,
    );
  });

  it('should be preferred when it works, and passed over once it was given up', async () => {
    const launcher = createEngineLauncher(stateDir, 'auto', { tetragon: await tetragonOf() });
    expect(await launcher.unpack()).toBe(true);
    expect(launcher.passedOver()).toEqual([]);
    const run = launcher.launch({
      exportFile: exportFile(),
      nodeName: 'node-1',
      onLine: (line) => {
        lines.push(JSON.parse(line) as Record<string, unknown>);
        heard();
      },
      onErrorLine: () => undefined,
    });
    runs.push(run);
    await hello();
    expect(await run.memoryBytes()).toBeGreaterThan(1_000_000);
    run.endInput();
    await run.gone;
    launcher.fallBack('it went silent');
    await launcher.unpack();
    expect(launcher.passedOver()[0]).toEqual({
      hook: 'engine/tetragon',
      reason: 'it failed again and again: it went silent',
    });
  });

  it('should be what is insisted on, or nothing', async () => {
    const host = { ...peer.host, kprobes: '/nowhere' };
    const tetragon = createTetragon(stateDir, await peer.settings(), { host });
    await expect(createEngineLauncher(stateDir, 'tetragon', { tetragon }).unpack()).rejects.toThrow(
      'engine/tetragon: this kernel has no kprobes',
    );
  });
});
