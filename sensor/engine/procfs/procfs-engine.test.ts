import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RuntimeEvent } from '../../../machines/wire/event.ts';
import { parserOfValue } from '../../../machines/wire/parse.ts';
import { engineLossOf } from '../../pipeline/engine-loss.ts';
import { normalise } from '../../pipeline/normalise.ts';
import { createProcessCache } from '../../pipeline/process-cache.ts';
import { parseExportHead } from '../export-head.ts';
import {
  beginDirectory,
  endDirectory,
  INSTANCES,
  lineWith,
  start,
  wordsOf,
} from '../procfs-rig.ts';

const canTrace = INSTANCES !== '';
if (!canTrace)
  process.stdout.write('procfs engine: tracefs examples skipped (they need root and tracefs)\n');

let directory = '';
beforeEach(() => {
  directory = beginDirectory();
});
afterEach(endDirectory);

/** The bytes a file of the process may have; more of them are refused. */
function limitFiles(pid: number, bytes: string): void {
  const { status } = spawnSync('/usr/bin/prlimit', [`--pid=${pid}`, `--fsize=${bytes}:unlimited`]);
  if (status !== 0) throw new Error('prlimit cannot limit the engine');
}
async function openConnection(): Promise<number> {
  const server = createServer((socket) => socket.end());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const script = `require('net').connect(${port},'127.0.0.1').resume().on('close',()=>setTimeout(()=>0,1500))`;
  const client = spawn('node', ['-e', script]);
  await once(client, 'exit');
  server.close();
  return port;
}

describe('procfs engine, polling', () => {
  it('should say what it cannot see, and see what stays', async () => {
    const { hello, file } = await start('--mode', 'polling');
    expect(hello).toMatchObject({ mode: 'polling' });
    expect(hello.disabled_hooks.some(({ reason }) => reason.includes('short-lived'))).toBe(true);
    const sleeper = spawn('sleep', ['30.25']);
    await lineWith(file, '"process_exec"', '"arguments":"30.25"', `"pid":${sleeper.pid}`);
    sleeper.kill();
    await lineWith(file, '"process_exit"', `"pid":${sleeper.pid}`);
  });

  it('should write lines the normaliser takes, owner-only, with those that were there before', async () => {
    const { file } = await start('--mode', 'polling');
    await lineWith(file, `"pid":${process.pid}`, 'procFS auid');
    const context = { sensorId: 's', cache: createProcessCache() };
    const check = parserOfValue(RuntimeEvent);
    const [head = '', ...lines] = readFileSync(file, 'utf8').trim().split('\n');
    expect(parseExportHead(head)?.linesBefore).toBe(0);
    for (const line of lines) {
      const result = normalise(line, context);
      expect(result.ok && check(result.event).ok).toBe(true);
    }
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('should take a title written over the arguments for no arguments', async () => {
    const script = "process.title = 'titled'; console.log('ready'); process.stdin.resume()";
    const titled = spawn('node', ['-e', script, 'x'.repeat(300)]);
    await once(titled.stdout, 'data');
    const { file } = await start('--mode', 'polling');
    const line = await lineWith(file, '"process_exec"', `"pid":${titled.pid},`);
    const ended = once(titled, 'exit');
    titled.kill();
    await ended;
    expect(JSON.parse(line).process_exec.process).not.toHaveProperty('arguments');
  });

  it('should rotate by renaming and keep no more backups than it may', async () => {
    await start(
      '--mode',
      'polling',
      '--export-file-max-size-mb',
      '0.001',
      '--export-file-max-backups',
      '2',
    );
    for (let n = 0; n < 4; n += 1) {
      const sleeper = spawn('sleep', [`31.${n}`]);
      const deadline = Date.now() + 5_000;
      const all = () =>
        readdirSync(directory).map((name) => {
          try {
            return readFileSync(path.join(directory, name), 'utf8');
          } catch {
            return ''; // it was renamed meanwhile
          }
        });
      while (!all().some((text) => text.includes(`"31.${n}"`)) && Date.now() < deadline)
        await wait(10);
      sleeper.kill();
    }
    const backups = readdirSync(directory).filter((name) => name.startsWith('events-'));
    expect(backups).toHaveLength(2);
    for (const name of backups)
      expect(name).toMatch(/^events-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}\.log$/);
  });

  it('should name a rotated file after all others, also when the clock was set back', async () => {
    const future = 'events-2099-01-01T00-00-00.000.log';
    writeFileSync(path.join(directory, future), '{}\n');
    await start('--mode', 'polling', '--export-file-max-size-mb', '0.001');
    const deadline = Date.now() + 5_000;
    const backups = () => readdirSync(directory).filter((name) => name.startsWith('events-'));
    for (let n = 0; backups().length < 2 && Date.now() < deadline; n += 1) {
      const sleeper = spawn('sleep', [`32.${n}`]);
      await wait(100);
      sleeper.kill();
    }
    expect(backups().sort().slice(0, 2)).toEqual([future, 'events-2099-01-01T00-00-00.001.log']);
  });

  it('should write again after a rotation that failed', async () => {
    const { child } = await start('--mode', 'polling', '--export-file-max-size-mb', '0.001');
    const away = `${directory}.away`;
    const failed = once(createInterface(child.stderr), 'line', {
      signal: AbortSignal.timeout(120_000),
    });
    renameSync(directory, away);
    const first = spawn('sleep', ['33.1']);
    const [line] = await failed.finally(() => renameSync(away, directory));
    expect(String(line)).toContain('export_write_failed');
    first.kill();
    const second = spawn('sleep', ['33.25']);
    const deadline = Date.now() + 3_000;
    const holds = () =>
      readdirSync(directory)
        .map((name) => readFileSync(path.join(directory, name), 'utf8'))
        .some((text) => text.includes('"33.25"'));
    while (!holds() && Date.now() < deadline) await wait(10);
    second.kill();
    expect(holds()).toBe(true);
  });

  it('should tell what the disk refused until the disk takes it, and count every refused line', async () => {
    const { child, hello, file } = await start('--mode', 'polling');
    const words: { lost: number }[] = [];
    createInterface(child.stdout).on('line', (line) => words.push(JSON.parse(line)));
    // Room for the beginning of a line, for none as a whole: this write fails as on a full disk, also for root.
    limitFiles(hello.pid, String(statSync(file).size + 40));
    const sleepers = [0, 1, 2, 3].map((n) => spawn('sleep', [`34.${n}`]));
    const deadline = Date.now() + 10_000;
    const lost = () => words.at(-1)?.lost ?? 0;
    const met = async (what: () => boolean) => {
      while (!what() && Date.now() < deadline) await wait(10);
    };
    await met(() => lost() >= sleepers.length);
    const heard = words.length;
    await met(() => words.length > heard);
    limitFiles(hello.pid, 'unlimited');
    const ended = once(child, 'exit');
    child.stdin.end();
    await ended;
    for (const sleeper of sleepers) sleeper.kill();
    const lines = readFileSync(file, 'utf8').split('\n');
    const told = lines.map(engineLossOf).map((one) => one.engine_lost ?? 0);
    expect(lost()).toBeGreaterThanOrEqual(sleepers.length);
    expect(told.reduce((sum, one) => sum + one, 0)).toBe(lost());
  });

  it('should stop by itself when its standard input ends', async () => {
    const { child } = await start('--mode', 'polling');
    const ended = once(child, 'exit');
    child.stdin.end();
    expect(await ended).toEqual([0, null]);
  });
});

describe.skipIf(!canTrace)('procfs engine, tracefs', () => {
  it('should see a process of a millisecond within 200 ms, with its parent', async () => {
    const { hello, file } = await start();
    expect(hello.mode).toBe('tracefs');
    const startedAt = Date.now();
    const shell = spawnSync('sh', ['-c', 'id; :']);
    const line = JSON.parse(await lineWith(file, '"process_exec"', '/id"', `"pid":${shell.pid}`));
    expect(Date.now() - startedAt).toBeLessThan(200);
    expect(line.process_exec.parent.pid).toBe(shell.pid);
    await lineWith(file, '"process_exit"', '/id"');
  });

  it('should tell a connection with both ports', async () => {
    const { file } = await start();
    const port = await openConnection();
    const connect = JSON.parse(await lineWith(file, 'tcp_connect', `"dport":${port}`));
    const [{ sock_arg: sock }] = connect.process_kprobe.args;
    expect(sock).toMatchObject({ saddr: '127.0.0.1', daddr: '127.0.0.1', dport: port });
    expect(sock.sport).toBeGreaterThan(0);
    const accept = JSON.parse(await lineWith(file, 'inet_csk_accept', `"sport":${port}`));
    expect(accept.process_kprobe.process.pid).toBe(process.pid);
    await lineWith(file, 'inet_csk_listen_start', `"sport":${port}`);
  });

  it.each(['SIGTERM', 'stdin'] as const)(
    'should leave no trace instance behind on %s',
    async (how) => {
      const { child, hello } = await start();
      const mine = () =>
        readdirSync(INSTANCES).filter((name) => name.startsWith(`service-sensor-${hello.pid}-`));
      expect(mine()).toHaveLength(1);
      const ended = once(child, 'exit');
      if (how === 'SIGTERM') child.kill('SIGTERM');
      else child.stdin.end();
      expect(await ended).toEqual([0, null]);
      expect(mine()).toHaveLength(0);
    },
  );

  it('should remove the instance of an engine that was killed', async () => {
    const first = await start();
    const ended = once(first.child, 'exit');
    first.child.kill('SIGKILL');
    await ended;
    const left = readdirSync(INSTANCES).filter((name) =>
      name.startsWith(`service-sensor-${first.hello.pid}-`),
    );
    expect(left).toHaveLength(1);
    await start();
    expect(readdirSync(INSTANCES)).not.toContain(left[0]);
  });

  it('should not be fooled by a line break in a file name', async () => {
    const { file } = await start();
    const forged = `a\n<...>-1 [000] ..... 9.000000: sched_process_exec: filename=forged`;
    const place = path.join(directory, 'made', forged);
    mkdirSync(path.dirname(place), { recursive: true });
    copyFileSync('/bin/true', place);
    spawnSync(place);
    const line = JSON.parse(
      await lineWith(file, '"process_exec"', 'filename=forged', '"flags":"execve clone'),
    );
    expect(line.process_exec.process.binary).toBe(place);
    expect(readFileSync(file, 'utf8')).not.toContain('"binary":"forged');
  });
});

describe.skipIf(!canTrace)('procfs engine, beside another', () => {
  /** The numbers of the programs, in the order in which they were told; of who was there before, the end alone. */
  function numbersOf(file: string, kind: 'process_exec' | 'process_exit'): string[] {
    return readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line.startsWith(`{"${kind}"`))
      .map((line) => JSON.parse(line)[kind].process)
      .filter(({ flags }) => kind === 'process_exit' || !String(flags).includes('procFS'))
      .map(({ binary }) => /\/short-(\d+)$/.exec(String(binary))?.[1])
      .filter((number) => number !== undefined);
  }

  it('should see at once, write when it may, and have each event told by one of the two', async () => {
    // Each by a name of its own, which the trace tells: arguments are gone with so short a life.
    const names = Array.from({ length: 1_600 }, (_, at) => path.join(directory, `short-${at}`));
    for (const name of names) symlinkSync('/bin/true', name);
    let running = await start();
    const { file } = running;
    let words = wordsOf(running);
    const list = path.join(directory, 'list');
    writeFileSync(list, `${names.join('\n')}\n`);
    const loop = 'while read one; do "$one"; done <"$1"';
    const load = spawn('/bin/sh', ['-c', loop, 'load', list], { stdio: 'ignore' });
    let isLoaded = false;
    const loaded = once(load, 'exit').then(() => {
      isLoaded = true;
    });
    await lineWith(file, '"process_exec"', '/short-50"');
    for (let handovers = 0; handovers === 0 || !isLoaded; handovers += 1) {
      const next = await start('--beside');
      expect(next.hello).toEqual({ attached: 3 });
      const nextWords = wordsOf(next);
      const ended = once(running.child, 'close');
      running.child.stdin.end();
      await ended;
      const last = words.at(-1);
      expect(last).toMatchObject({ lost: 0 });
      next.child.stdin.write(
        `told since ${last?.['told_since']}: ${last?.['told_last']}\ntake over after ${last?.['told_until']}\n`,
      );
      const hello = expect.poll(() => nextWords[0], { timeout: 60_000 });
      await hello.toMatchObject({ engine: 'procfs', mode: 'tracefs' });
      [running, words] = [next, nextWords];
    }
    await loaded;
    await lineWith(file, '"process_exit"', '/short-1599"');
    const all = names.map((_, at) => String(at));
    expect(numbersOf(file, 'process_exec')).toEqual(all);
    expect(numbersOf(file, 'process_exit')).toEqual(all);
  });
});
