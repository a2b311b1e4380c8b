// Policies in the kernel: what they kill, what they only count, and that there is no moment without one while a version
// takes the place of another.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parsePolicy } from '../../../actors/runtime/parse-policy.ts';
import { sentenceOfRefusal } from '../../../machines/policy/located.ts';
import { normalise } from '../../pipeline/normalise.ts';
import { createProcessCache } from '../../pipeline/process-cache.ts';
import { compileFile, compilePolicy } from '../policy/compile-policy.ts';
import { type Running, skipReason, startEngine, stopEngine, until } from './engine-rig.ts';

const refused = skipReason('policies in the kernel');

const DEADLINE_MS = 120_000;
const WRITES = `open F, ">>", $ARGV[0]; syswrite F, "1"; syswrite F, "2"; exit 0`;
type Word = Readonly<Record<string, unknown>>;

let directory = '';
let watched = '';
let engine: Running | null = null;
let revision = 0;
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'policy-'));
  watched = path.join(directory, 'secret');
  engine = null;
  revision = 0;
});
afterEach(async () => {
  if (engine !== null) await stopEngine(engine);
  rmSync(directory, { recursive: true, force: true });
});

const policyFile = () => path.join(directory, 'policies');

function put(...texts: string[]): void {
  const compiled = texts.map((text) => {
    const result = parsePolicy(text);
    if (!result.ok) throw new Error(result.refusals.map(sentenceOfRefusal).join('\n'));
    return compilePolicy(result.policy, createHash('sha256').update(text).digest('hex'));
  });
  revision += 1;
  const next = `${policyFile()}.new`;
  writeFileSync(next, compileFile(revision, compiled), { mode: 0o600 });
  renameSync(next, policyFile());
}

/** The words of the engine since it read this revision, once it has. */
async function inForce(): Promise<Word[]> {
  const deadline = Date.now() + DEADLINE_MS;
  for (;;) {
    const words = engine?.words ?? [];
    const end = words.findLastIndex((word) => word['revision'] === revision);
    const start = words.slice(0, end).findLastIndex((word) => word['policy'] === undefined);
    if (end >= 0) return words.slice(start + 1, end + 1);
    if (Date.now() > deadline) throw new Error(`never read: ${JSON.stringify(words.slice(-9))}`);
    await wait(10);
  }
}

async function start(...texts: string[]): Promise<Word[]> {
  put(...texts);
  engine = await startEngine(directory, '--policy-file', policyFile());
  return await inForce();
}

async function swap(...texts: string[]): Promise<Word[]> {
  put(...texts);
  engine?.child.stdin.write('policies\n');
  return await inForce();
}

const noWrites = (message: string, mode = 'enforce') => `apiVersion: cilium.io/v1alpha1
kind: TracingPolicy
metadata: {name: no-writes}
spec:
  options: [{name: policy-mode, value: ${mode}}]
  kprobes:
    - call: sys_write
      syscall: true
      message: ${message}
      tags: [integrity]
      args: [{index: 0, type: fd, label: file}, {index: 2, type: size_t}]
      selectors:
        - matchArgs: [{index: 0, operator: Equal, values: [${watched}]}]
          matchActions: [{action: Sigkill}]
`;
const attack = () => spawnSync('perl', ['-e', WRITES, watched]);
const written = () => readFileSync(watched, 'utf8');

/** What the engine counts of a policy, as soon as it counts that much. */
async function counted(name: string, key: string, least: number): Promise<Word> {
  const deadline = Date.now() + DEADLINE_MS;
  for (;;) {
    const word = engine?.words.findLast((one) => one['policy'] === name);
    if (word !== undefined && Number(word[key]) >= least) return word;
    if (Date.now() > deadline) throw new Error(`never counted: ${JSON.stringify(word)}`);
    await wait(20);
  }
}

/** Until the engine has said so of its file. */
async function said(reason: RegExp): Promise<void> {
  const deadline = Date.now() + DEADLINE_MS;
  while (engine?.words.some((word) => reason.test(String(word['reason']))) !== true) {
    if (Date.now() > deadline) throw new Error(`never said: ${reason}`);
    await wait(10);
  }
}

describe.skipIf(refused !== undefined)('policies of the ebpf engine', () => {
  it('should kill who writes to a watched path before its second write, and tell it', async () => {
    expect(await start(noWrites('hands off'))).toMatchObject([
      { policy: 'no-writes', state: 'enforcing', reason: '' },
      { policies: 1 },
    ]);
    const { signal, pid } = attack();
    expect(signal).toBe('SIGKILL');
    expect(written().length).toBeLessThan(2);
    const isIt = (body: object) => 'policy_name' in body;
    const lines = await until(path.join(directory, 'events.log'), (all) =>
      all.some(({ body }) => isIt(body)),
    );
    expect(lines.filter(({ body }) => isIt(body))).toMatchObject([
      {
        kind: 'process_kprobe',
        body: {
          process: { pid },
          function_name: '__x64_sys_write',
          args: [{ file_arg: { path: watched }, label: 'file' }, { size_arg: '1' }],
          action: 'KPROBE_ACTION_SIGKILL',
          policy_name: 'no-writes',
          message: 'hands off',
          tags: ['integrity'],
        },
      },
    ]);
    expect(await counted('no-writes', 'signals', 1)).toMatchObject({ signals: 1, matched: 1 });
    const text = readFileSync(path.join(directory, 'events.log'), 'utf8').split('\n');
    const line = text.find((one) => one.includes('policy_name')) ?? '';
    const normal = normalise(line, { sensorId: 's', cache: createProcessCache() });
    expect(normal).toMatchObject({ ok: true });
  });

  it('should count what it would have killed where it only monitors', async () => {
    await start(noWrites('seen', 'monitor'));
    expect(attack().status).toBe(0);
    expect(written()).toBe('12');
    expect(await counted('no-writes', 'monitored_signals', 2)).toMatchObject({
      state: 'monitoring',
      monitored_signals: 2,
      signals: 0,
    });
    const lines = await until(path.join(directory, 'events.log'), (all) =>
      all.some(({ body }) => 'policy_name' in body),
    );
    const told = lines.find(({ body }) => 'policy_name' in body)?.body;
    expect(told).toMatchObject({
      action: 'KPROBE_ACTION_POST',
      tags: ['integrity', 'monitored.sigkill'],
    });
    const text = readFileSync(path.join(directory, 'events.log'), 'utf8').split('\n');
    const line = text.find((one) => one.includes('policy_name')) ?? '';
    expect(normalise(line, { sensorId: 's', cache: createProcessCache() })).toMatchObject({
      event: { policy: { name: 'no-writes', action: 'monitored.sigkill' } },
    });
  });

  it('should leave no gap while one version takes the place of another under load', async () => {
    await start(noWrites('version 0'));
    let isOver = false;
    let killed = 0;
    const survivors: unknown[] = [];
    const attackers = [0, 1].map(async () => {
      while (!isOver) {
        const child = spawn('perl', ['-e', WRITES, watched], { stdio: 'ignore' });
        const [code, signal] = await once(child, 'exit');
        if (signal === 'SIGKILL') killed += 1;
        else survivors.push([code, signal]);
      }
    });
    const other = (version: number) => noWrites('x').replace('no-writes', `other-${version}`);
    for (let version = 1; version <= 40; version += 1) {
      // Alone, or with others before it: its place among the rules is another each time.
      const others = Array.from({ length: version % 4 }, (_, i) => `${other(i)}# ${version}\n`);
      const set = others.map((text) => text.replace(watched, '/nowhere'));
      expect(await swap(...set, noWrites(`version ${version}`))).toContainEqual(
        expect.objectContaining({ policy: 'no-writes', state: 'enforcing', reason: '' }),
      );
    }
    isOver = true;
    await Promise.all(attackers);
    expect(survivors).toEqual([]);
    expect(killed).toBeGreaterThan(10);
    expect(written().length).toBeLessThan(2);
    const last = await counted('no-writes', 'signals', killed);
    expect(last['signals_failed']).toBe(0);
  });

  it('should stop acting when its policy is removed, and begin again when it is back', async () => {
    await start(noWrites('one'));
    expect(attack().signal).toBe('SIGKILL');
    expect(await swap()).toMatchObject([{ policies: 0, reason: '' }]);
    expect(attack().status).toBe(0);
    await swap(noWrites('two'));
    expect(attack().signal).toBe('SIGKILL');
  });

  it('should keep the version before of a policy that this kernel cannot carry out', async () => {
    await start(noWrites('one'));
    const impossible = noWrites('two').replace('sys_write', 'sys_nowhere');
    const lonely = impossible.replace('no-writes', 'lonely');
    expect(await swap(impossible, lonely)).toMatchObject([
      {
        policy: 'no-writes',
        state: 'enforcing',
        reason: expect.stringMatching(/sys_enter_nowhere; the version before stays in force/),
      },
      { policy: 'lonely', state: 'failed', reason: expect.stringContaining('no tracepoint') },
      { policies: 2 },
    ]);
    expect(attack().signal).toBe('SIGKILL');
  });

  it('should keep the set before when the file is torn or can be read by others', async () => {
    await start(noWrites('one'));
    writeFileSync(policyFile(), 'policies 1 9\npolicy x enforce d\n', { mode: 0o600 });
    engine?.child.stdin.write('policies\n');
    await said(/torn/);
    expect(attack().signal).toBe('SIGKILL');
    put();
    spawnSync('chmod', ['644', policyFile()]);
    engine?.child.stdin.write('policies\n');
    await said(/not this user's alone/);
    expect(attack().signal).toBe('SIGKILL');
  });

  it('should fit by binary, capability, namespace, number and field, and send other signals', async () => {
    const words = await start(`apiVersion: cilium.io/v1alpha1
kind: TracingPolicy
metadata: {name: finer}
spec:
  tracepoints:
    - subsystem: sched
      event: sched_process_exec
      args: [{index: 4, type: string}, {index: 5}]
      selectors:
        - matchArgs: [{args: [0], operator: Postfix, values: [/${path.basename(directory)}/tool]}]
          matchCapabilities: [{type: Effective, operator: In, values: [CAP_SYS_ADMIN]}]
          matchNamespaces: [{namespace: Pid, operator: In, values: [host_ns]}]
          matchPIDs: [{operator: NotIn, values: [1], isNamespacePID: true}]
          matchActions: [{action: Signal, argSig: 15}]
  kprobes:
    - call: sys_lseek
      args: [{index: 1, type: long}, {index: 2, type: int}]
      selectors:
        - matchBinaries: [{operator: NotPostfix, values: [/perl]}]
          matchArgs: [{index: 1, operator: Equal, values: ["-4242"]}]
          matchActions: [{action: Sigkill}]
        - matchArgs: [{index: 1, operator: InRange, values: ["-5000:-4000"]}]
          matchActions: [{action: NoPost}]
        - matchArgs: [{index: 1, operator: LT, values: ["-5000"]}]
`);
    expect(words[0]).toMatchObject({ state: 'enforcing', reason: '' });
    spawnSync('cp', ['/usr/bin/sleep', path.join(directory, 'tool')]);
    expect(spawnSync(path.join(directory, 'tool'), ['5']).signal).toBe('SIGTERM');
    const seek = (by: number) =>
      spawnSync('perl', ['-e', `sysseek(STDIN, ${by}, 1); exit 3`], { input: '' });
    for (const by of [-4242, -4300, -6000]) expect(seek(by).status).toBe(3);
    const lines = await until(path.join(directory, 'events.log'), (all) =>
      all.some(({ body }) => body.function_name === '__x64_sys_lseek'),
    );
    const args = lines.flatMap(({ body }) =>
      body.function_name === '__x64_sys_lseek' ? [body.args] : [],
    );
    expect(args).toEqual([[{ long_arg: '-6000' }, { int_arg: 1 }]]);
    expect(lines.find(({ kind }) => kind === 'process_tracepoint')?.body).toMatchObject({
      subsys: 'sched',
      event: 'sched_process_exec',
      action: 'KPROBE_ACTION_SIGNAL',
    });
  });
});
