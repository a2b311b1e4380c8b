import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { RuntimeEvent } from '../../../machines/wire/event.ts';
import { parserOfValue } from '../../../machines/wire/parse.ts';
import { engineLossOf } from '../../pipeline/engine-loss.ts';
import { normalise } from '../../pipeline/normalise.ts';
import { createProcessCache } from '../../pipeline/process-cache.ts';
import { parseExportHead } from '../export-head.ts';
import { makeContainer } from './container-rig.ts';
import {
  hooked,
  linesOf,
  type Running,
  skipReason,
  startEngine,
  stopEngine,
  type Told,
  until,
} from './engine-rig.ts';

const refused = skipReason('ebpf engine');

const ATTACKER = fileURLToPath(new URL('./attacker.pl', import.meta.url));
const RESOLVER = '127.9.9.9';
let directory = '';
let engines: Running[] = [];
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'ebpf-'));
  chmodSync(directory, 0o755);
  engines = [];
});
afterEach(async () => {
  for (const engine of engines) await stopEngine(engine);
  rmSync(directory, { recursive: true, force: true });
});

async function start(...flags: string[]): Promise<Running> {
  const running = await startEngine(directory, ...flags);
  engines.push(running);
  return running;
}

/** Answers every question with one address. */
async function startResolver(): Promise<Socket> {
  const socket = createSocket('udp4');
  socket.on('message', (question, from) => {
    const answer = Buffer.concat([
      question,
      Buffer.from('c00c000100010000003c0004cb007107', 'hex'),
    ]);
    answer.writeUInt16BE(0x8180, 2);
    answer.writeUInt16BE(1, 6);
    socket.send(answer, from.port, from.address);
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.bind(53, RESOLVER, resolve);
  });
  return socket;
}

async function startServer(): Promise<{ server: Server; port: number }> {
  const server = createServer((socket) => socket.resume().end());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  return { server, port: typeof address === 'object' && address !== null ? address.port : 0 };
}

const args = (told: Told | undefined) => told?.body.args ?? [];
const sockOf = (told: Told | undefined) =>
  args(told).find((arg) => 'sock_arg' in arg)?.['sock_arg'];

describe.skipIf(refused !== undefined)('ebpf engine, an intruder in a container', () => {
  const id = randomBytes(32).toString('hex');
  let lines: Told[] = [];
  let running: Running;
  let port = 0;
  let exportText = '';

  beforeAll(async () => {
    const own = mkdtempSync(path.join(tmpdir(), 'ebpf-attack-'));
    chmodSync(own, 0o755);
    const watched = path.join(own, 'secret.txt');
    writeFileSync(watched, 'x');
    const raising = path.join(own, 'raising');
    copyFileSync('/usr/bin/id', raising);
    chmodSync(raising, 0o4755);
    const container = makeContainer(id);
    const resolver = await startResolver();
    const { server, port: opened } = await startServer();
    port = opened;
    running = await startEngine(own, '--watch-path', watched);
    const attacker = spawn('perl', [
      ATTACKER,
      container.path,
      watched,
      `${port}`,
      RESOLVER,
      raising,
    ]);
    attacker.stderr.on('data', (text) => process.stdout.write(String(text)));
    const [code] = await once(attacker, 'exit');
    expect(code).toBe(7);
    await until(running.file, (all) =>
      all.some(({ kind, body }) => kind === 'process_exit' && body.process.pid === attacker.pid),
    );
    await stopEngine(running, 'SIGTERM');
    lines = linesOf(running.file).filter(({ body }) => body.process?.docker === id.slice(0, 31));
    exportText = readFileSync(running.file, 'utf8');
    server.close();
    resolver.close();
    container.remove();
    rmSync(own, { recursive: true });
  });

  it('should say what it is and that it lost nothing', () => {
    expect(running.hello).toMatchObject({ engine: 'ebpf' });
    expect(running.words.at(-1)).toMatchObject({ lost: 0 });
    expect(running.child.exitCode).toBe(0);
  });

  it('should tell a shell of a few milliseconds, its child and their parents', () => {
    const shell = lines.find(
      ({ kind, body }) => kind === 'process_exec' && body.process.arguments?.startsWith('-c "id '),
    );
    expect(shell?.body.process).toMatchObject({ binary: '/bin/sh', flags: 'execve clone' });
    expect(shell?.body.parent?.binary).toBe('/usr/bin/perl');
    const child = lines.find(
      ({ kind, body }) =>
        kind === 'process_exec' && body.process.parent_exec_id === shell?.body.process.exec_id,
    );
    expect(child?.body.process.binary).toBe('/usr/bin/id');
    const ends = lines.filter(
      ({ kind, body }) =>
        kind === 'process_exit' && body.process.exec_id === shell?.body.process.exec_id,
    );
    expect(ends).toHaveLength(1);
  });

  it('should tell the connection with both of its ends', () => {
    expect(hooked(lines, 'tcp_connect').map(sockOf)).toEqual([
      expect.objectContaining({ daddr: '127.0.0.1', dport: port, sport: expect.any(Number) }),
    ]);
  });

  it('should tell the open of a watched file, by what was opened', () => {
    const opens = hooked(lines, 'security_file_open').map((one) => args(one)[0]?.['file_arg']);
    expect(opens).toEqual([
      {
        path: expect.stringMatching(/secret\.txt$/),
        flags: expect.stringContaining('O_RDONLY'),
        permission: '-rw-r--r--',
      },
    ]);
  });

  it('should tell the name that was asked for and the address that was answered', () => {
    const [asked, answered] = [hooked(lines, 'udp_sendmsg'), hooked(lines, 'udp_recvmsg')];
    expect(asked).toHaveLength(1);
    expect(answered).toHaveLength(1);
    expect(sockOf(asked[0])).toMatchObject({ daddr: RESOLVER, dport: 53 });
    expect(args(asked[0])).toContainEqual({ string_arg: 'evil.example', label: 'dns_name' });
    expect(args(answered[0])).toContainEqual({ string_arg: '203.0.113.7', label: 'dns_address' });
  });

  it('should tell attempts on the kernel and on another process', () => {
    expect(args(hooked(lines, '__x64_sys_init_module')[0])).toEqual([
      { size_arg: '16', label: 'length' },
    ]);
    expect(args(hooked(lines, 'bpf_prog_load')[0])).toContainEqual({
      bpf_attr_arg: expect.objectContaining({ InsnCnt: 2, ProgName: 'intruder' }),
    });
    expect(args(hooked(lines, '__x64_sys_ptrace')[0])[0]).toMatchObject({
      string_arg: 'PTRACE_ATTACH',
    });
    // What only looks at what there is is not told.
    expect(hooked(lines, '__x64_sys_bpf').map(args)).toEqual([
      [
        { bpf_cmd_arg: 'BPF_MAP_CREATE', label: 'command' },
        { bpf_map_arg: { MaxEntries: 1, MapName: 'stolen' } },
      ],
      [
        { bpf_cmd_arg: 'BPF_OBJ_PIN', label: 'command' },
        { string_arg: '/sys/fs/bpf/hidden', label: 'path' },
      ],
      [{ bpf_cmd_arg: 'BPF_99', label: 'command' }],
    ]);
  });

  it('should tell privileges that were given up and such that a program raised', () => {
    const ids = hooked(lines, '__x64_sys_setuid').map(
      (one) => args(one)[0]?.['process_credentials_arg'],
    );
    expect(ids).toHaveLength(2);
    expect(ids[0]).toMatchObject({ uid: 65_534, euid: 65_534, caps: { effective: [] } });
    const raised = hooked(lines, 'commit_creds');
    expect(raised[0]?.body.process.binary).toMatch(/raising$/);
    expect(args(raised[0])[0]).toMatchObject({
      process_credentials_arg: { uid: 65_534, euid: 0 },
    });
    const exec = lines.find(
      ({ kind, body }) => kind === 'process_exec' && body.process.binary.endsWith('/raising'),
    );
    expect(exec?.body.process.binary_properties).toEqual({ setuid: 0 });
  });

  it('should tell the end of every fork of a storm, and how it ended itself', () => {
    const exits = lines.filter(({ kind }) => kind === 'process_exit');
    const forks = exits.filter(
      ({ body }) => body.process.flags.includes('clone') && !body.process.flags.includes('execve'),
    );
    expect(forks).toHaveLength(51);
    expect(forks.filter(({ body }) => body.signal === 'SIGKILL')).toHaveLength(1);
    expect(exits.at(-1)?.body).toMatchObject({ status: 7 });
  });

  it('should write lines the normaliser takes, each with an id of its own', () => {
    const context = { sensorId: 's', cache: createProcessCache() };
    const check = parserOfValue(RuntimeEvent);
    const ids = new Set<string>();
    const kinds = new Set<string>();
    const messages: string[] = [];
    const [head = '', ...texts] = exportText.trim().split('\n');
    expect(parseExportHead(head)?.linesBefore).toBe(0);
    for (const line of texts) {
      const result = normalise(line, context);
      if (!result.ok) throw new Error(`${result.refused}: ${line}`);
      expect(check(result.event).ok).toBe(true);
      ids.add(result.event.event_id);
      if (line.includes(id.slice(0, 31))) kinds.add(result.event.event_kind);
      messages.push(result.event.message);
      // What the engine loads for itself is nobody's attempt.
      if (result.event.event_kind === 'bpf_program_load') {
        expect(result.event.process?.pid).not.toBe(running.child.pid);
      }
    }
    expect(messages).toContainEqual(expect.stringMatching(/ loaded a BPF program: .*intruder$/));
    expect(messages).toContainEqual(expect.stringMatching(/ called bpf\(\): .*hidden$/));
    expect(ids.size).toBe(texts.length);
    expect([...kinds].sort()).toEqual([
      'bpf_program_load',
      'dns_query',
      'file_open',
      'kernel_module_load',
      'network_connect',
      'privilege_change',
      'process_exec',
      'process_exit',
      'process_ptrace',
    ]);
  });
});

describe.skipIf(refused !== undefined)('ebpf engine', () => {
  const run = (script: string) => spawnSync('/bin/sh', ['-c', script]);

  it('should tell who accepts and who listens', async () => {
    const { file } = await start();
    const { server, port } = await startServer();
    spawnSync('perl', ['-MIO::Socket::INET', '-e', `IO::Socket::INET->new("127.0.0.1:${port}")`]);
    const lines = await until(file, (all) => hooked(all, 'inet_csk_accept').some(isMine));
    function isMine(told: Told): boolean {
      return Reflect.get(Object(sockOf(told)), 'sport') === port;
    }
    expect(hooked(lines, 'inet_csk_listen_start').filter(isMine)).toHaveLength(1);
    for (const told of hooked(lines, 'inet_csk_accept').filter(isMine)) {
      expect(told.body.process.pid).toBe(process.pid);
    }
    server.close();
  });

  it('should name a watched file by where it lies, however it was asked for', async () => {
    const watched = path.join(directory, 'kept');
    writeFileSync(watched, 'x');
    const { file } = await start('--watch-path', watched);
    run(`cd ${directory}; cat kept; ln -s kept other; cat other; cat /proc/self/root/${watched}`);
    const lines = await until(file, (all) => hooked(all, 'security_file_open').length >= 3);
    for (const told of hooked(lines, 'security_file_open')) {
      expect(args(told)[0]?.['file_arg']).toMatchObject({ path: watched });
    }
  });

  it('should write what the kernel still holds before it ends', async () => {
    const running = await start();
    run('i=0; while [ $i -lt 300 ]; do /bin/true drained-$i; i=$((i+1)); done');
    await stopEngine(running, 'SIGTERM');
    const told = linesOf(running.file).filter(({ body }) =>
      body.process?.arguments?.startsWith('drained-'),
    );
    expect(told.filter(({ kind }) => kind === 'process_exec')).toHaveLength(300);
    expect(told.filter(({ kind }) => kind === 'process_exit')).toHaveLength(300);
  });

  it('should go on after it was killed, with whole lines and nothing left in the kernel', async () => {
    const first = await start();
    run('/bin/true before');
    await until(first.file, (all) => all.some(({ body }) => body.process?.arguments === 'before'));
    await stopEngine(first, 'SIGKILL');
    writeFileSync(first.file, '{"torn', { flag: 'a' });
    const second = await start();
    run('/bin/true after');
    const text = () => readFileSync(second.file, 'utf8');
    const deadline = Date.now() + 10_000;
    while (!text().includes('"arguments":"after"') && Date.now() < deadline) run('true');
    const broken = text()
      .trim()
      .split('\n')
      .filter((line) => !line.endsWith('}'));
    expect(broken).toEqual(['{"torn']);
    expect(text().match(/"process_exec":\{"process":\{[^}]*"arguments":"after"/g)).toHaveLength(1);
  });

  it('should count what a ring that is too small cannot hold, in its words and in a line', async () => {
    const running = await start('--ring-kib', '4');
    // Stopped, it reads nothing while the kernel goes on.
    running.child.kill('SIGSTOP');
    run('i=0; while [ $i -lt 50 ]; do /bin/true; i=$((i+1)); done');
    running.child.kill('SIGCONT');
    await stopEngine(running, 'SIGTERM');
    const lost = Number(running.words.at(-1)?.['lost']);
    const told = linesOf(running.file)
      .filter(({ kind }) => kind === 'rate_limit_info')
      .map(({ kind, body }) => engineLossOf(JSON.stringify({ [kind]: body })));
    expect(lost).toBeGreaterThan(0);
    expect(told.reduce((sum, one) => sum + (one.kernel_lost ?? 0), 0)).toBe(lost);
    expect(told.reduce((sum, one) => sum + (one.engine_lost ?? 0), 0)).toBe(0);
  });

  it('should rotate by renaming and keep no more backups than it may', async () => {
    const running = await start(
      '--export-file-max-size-mb',
      '0.02',
      '--export-file-max-backups',
      '2',
    );
    for (let round = 0; round < 8; round += 1) {
      run(`i=0; while [ $i -lt 10 ]; do /bin/true rotated-${round}; i=$((i+1)); done`);
      await until(running.file, (all) =>
        all.some(({ body }) => body.process?.arguments === `rotated-${round}`),
      );
    }
    await stopEngine(running);
    const backups = readdirSync(directory).filter((name) => name.startsWith('events-'));
    expect(backups).toHaveLength(2);
    for (const name of backups)
      expect(name).toMatch(/^events-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}\.log$/);
    expect(linesOf(running.file).length).toBeGreaterThan(0);
  });

  it('should write one line whatever a program is called with', async () => {
    const running = await start();
    run(String.raw`/bin/true hostile "$(printf 'a\nb"\\\001\377\355\240\200')" "" end`);
    const lines = await until(running.file, (all) =>
      all.some(({ body }) => body.process?.arguments?.startsWith('hostile')),
    );
    const told = lines.find(({ body }) => body.process?.arguments?.startsWith('hostile'));
    expect(told?.body.process.arguments).toBe(
      'hostile "a\nb"\\\u0001\ufffd\ufffd\ufffd\ufffd" "" end',
    );
  });
});
