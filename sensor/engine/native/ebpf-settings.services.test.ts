// What the engine is told to tell beyond the usual, or to leave out.
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeContainer } from './container-rig.ts';
import {
  hooked,
  linesOf,
  type Running,
  refusalOf,
  skipReason,
  startEngine,
  stopEngine,
  type Told,
  until,
} from './engine-rig.ts';

const refused = skipReason('settings of the ebpf engine');

let directory = '';
let engine: Running | null = null;
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'ebpf-settings-'));
  engine = null;
});
afterEach(async () => {
  if (engine !== null) await stopEngine(engine);
  rmSync(directory, { recursive: true, force: true });
});

async function start(...flags: string[]): Promise<Running> {
  engine = await startEngine(directory, ...flags);
  return engine;
}

const run = (script: string) => spawnSync('/bin/sh', ['-c', script]);

describe.skipIf(refused !== undefined)('what the ebpf engine is told to tell', () => {
  it('should keep to the cgroups it is told to keep to, and to those below them', async () => {
    const container = makeContainer(randomBytes(32).toString('hex'));
    const deep = path.join(container.path, 'a/b/c/d/e/f/g/h');
    const below = path.join(deep, 'i');
    mkdirSync(below, { recursive: true });
    const running = await start('--cgroup', deep);
    run('/bin/true outside');
    run(`echo $$ > ${below}/cgroup.procs; /bin/true inside`);
    await until(running.file, (all) =>
      all.some(({ body }) => body.process?.arguments === 'inside'),
    );
    await stopEngine(running);
    expect(linesOf(running.file).some(({ body }) => body.process?.arguments === 'outside')).toBe(
      false,
    );
    expect(Number(running.words.at(-1)?.['filtered'])).toBeGreaterThan(0);
    container.remove();
  });

  it('should tell the end of a connection, and whose it was, when it is asked to', async () => {
    const { file, words } = await start('--tell-close');
    const server = createServer((socket) => socket.resume().end());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const port = Number(Reflect.get(Object(server.address()), 'port'));
    const client = spawnSync('perl', [
      '-MIO::Socket::INET',
      '-e',
      `my $one = IO::Socket::INET->new("127.0.0.1:${port}"); close($one); sleep(1)`,
    ]);
    const sockOf = (told: Told) => told.body.args?.find((arg) => 'sock_arg' in arg)?.['sock_arg'];
    const isOf = (side: string) => (told: Told) => Reflect.get(Object(sockOf(told)), side) === port;
    const lines = await until(file, (all) =>
      ['sport', 'dport'].every((side) => hooked(all, 'tcp_close').some(isOf(side))),
    );
    const [connected] = hooked(lines, 'tcp_close').filter(isOf('dport'));
    expect(connected?.body.process.pid).toBe(client.pid);
    const [accepted] = hooked(lines, 'tcp_close').filter(isOf('sport'));
    expect(accepted?.body.process.pid).toBe(process.pid);
    expect(words.at(-1)?.['lost'] ?? 0).toBe(0);
    server.close();
  });

  it('should see of a longer watched path what a shorter one asks for', async () => {
    const inside = path.join(directory, 'inside');
    writeFileSync(inside, 'x');
    const { file } = await start('--watch-path', `${directory}/`, '--watch-write-path', inside);
    run(`cat ${inside}`);
    const lines = await until(file, (all) => hooked(all, 'security_file_open').some(isRead));
    function isRead(told: Told): boolean {
      const opened = Object(told.body.args?.[0]?.['file_arg']);
      return opened.path === inside && /O_RDONLY/.test(opened.flags);
    }
    expect(lines.filter(isRead)).toHaveLength(1);
  });

  it('should refuse to start with more than it can watch, and say so', () => {
    const many = Array.from({ length: 257 }, (_, at) => ['--watch-path', `/watched/${at}`]).flat();
    const long = ['--watch-path', `/${'x'.repeat(256)}`];
    for (const flags of [many, long]) {
      expect(refusalOf(...flags)).toMatch(/more than 256 paths|longer than 256/);
    }
    expect(refusalOf('--cgroup', '/nowhere')).toMatch(/no such cgroup/);
    expect(refusalOf('--cgroup', '/', '--exclude-cgroup', '/')).toMatch(/either/);
  });
});
