// The real engine with what an operator asks of it, as the Sensor starts it.
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { normalise } from '../pipeline/normalise.ts';
import { createProcessCache } from '../pipeline/process-cache.ts';
import { type EbpfConfig, NO_EBPF_CONFIG } from './ebpf-config.ts';
import { createEngineLauncher, type EngineRun } from './engine-launcher.ts';
import { hooked, skipReason, type Told, until } from './native/engine-rig.ts';

const refused = skipReason('settings of the ebpf engine');
let directory = '';
let cgroup = '';
let run: EngineRun | undefined;

function cgroupRoot(): string {
  const mounts = readFileSync('/proc/self/mounts', 'utf8').split('\n');
  return mounts.find((line) => line.split(' ')[2] === 'cgroup2')?.split(' ')[1] ?? '';
}
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'ebpf-settings-'));
  cgroup = path.join(cgroupRoot(), `service-sensor-settings-${randomBytes(6).toString('hex')}`);
  mkdirSync(cgroup);
});
afterEach(async () => {
  run?.endInput();
  await run?.gone;
  run = undefined;
  rmdirSync(cgroup);
  rmSync(directory, { recursive: true, force: true });
});

/** The export of an engine that said hello. */
async function start(asked: Partial<EbpfConfig>): Promise<string> {
  const file = path.join(directory, 'events.log');
  const ebpf = { ...NO_EBPF_CONFIG, ...asked };
  const launcher = createEngineLauncher(path.join(directory, 'state'), 'ebpf', { ebpf });
  await launcher.unpack();
  const { promise: hello, resolve } = Promise.withResolvers<string>();
  run = launcher.launch({
    exportFile: file,
    nodeName: 'n1',
    onLine: resolve,
    onErrorLine: (line) => process.stderr.write(`${line}\n`),
  });
  expect(await Promise.race([hello, run.gone])).toContain('"engine":"ebpf"');
  return file;
}
const shell = (script: string) => spawnSync('/bin/sh', ['-c', script]);
const pathsOf = (lines: readonly Told[]) =>
  hooked(lines, 'security_file_open').map(({ body }) => {
    return Object(body.args?.[0]?.['file_arg']).path as string;
  });
const has = (lines: readonly Told[], words: string) =>
  lines.some(({ body }) => body.process?.arguments === words);

describe.skipIf(refused !== undefined)('ebpf engine, as an operator asks', () => {
  it('should tell of the paths that were added and of its own, and of nothing in a cgroup left out', async () => {
    const own = path.join(directory, 'keys', 'a');
    const other = path.join(directory, 'other');
    mkdirSync(path.dirname(own));
    for (const one of [own, other]) writeFileSync(one, 'x');
    const file = await start({
      watchPaths: [path.join(directory, 'keys/')],
      excludeCgroups: [cgroup],
    });
    shell(`cat ${other} ${own}; cat /etc/shadow`);
    shell(`echo $$ > ${cgroup}/cgroup.procs; cat ${own}; /bin/true inside`);
    shell('/bin/true outside');
    const lines = await until(file, (found) => has(found, 'outside'));
    expect(pathsOf(lines).filter((one) => one === own)).toHaveLength(1);
    expect(pathsOf(lines)).toContain('/etc/shadow');
    expect(pathsOf(lines)).not.toContain(other);
    expect(has(lines, 'inside')).toBe(false);
  });

  it('should keep to the cgroups it is given', async () => {
    const file = await start({ cgroups: [cgroup] });
    shell('/bin/true outside');
    shell(`echo $$ > ${cgroup}/cgroup.procs; /bin/true inside`);
    const lines = await until(file, (found) => has(found, 'inside'));
    expect(has(lines, 'outside')).toBe(false);
  });

  it('should tell the end of a connection as what it is', async () => {
    const file = await start({ tellClose: true });
    const server = createServer((socket) => socket.resume().end());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as { port: number };
    const script = `exec 3<>/dev/tcp/127.0.0.1/${port}; cat <&3; exec 3>&-`;
    await once(spawn('/bin/bash', ['-c', script], { stdio: 'ignore' }), 'close');
    server.close();
    const ofServer = (one: Told) => JSON.stringify(one.body.args).includes(`"dport":${port}`);
    const lines = await until(file, (found) => hooked(found, 'tcp_close').some(ofServer));
    expect(hooked(lines, 'tcp_close').filter(ofServer)).toHaveLength(1);
    const text = readFileSync(file, 'utf8').split('\n');
    const line = text.find((one) => one.includes('tcp_close') && one.includes(`"dport":${port}`));
    const context = { sensorId: 's', cache: createProcessCache() };
    expect(normalise(line ?? '', context)).toMatchObject({
      ok: true,
      event: { event_kind: 'network_close', severity: 'info', network: { protocol: 'tcp' } },
    });
  });
});
