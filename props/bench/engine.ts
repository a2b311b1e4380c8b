// What watching costs: a storm of programs and a compile, without an engine, under each engine of this program, and under
// bpftrace asked for the same execs, exits and forks, in turn and in the same run. Needs root. `node props/bench/engine.ts
// [rounds] [programs]`
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseExportHead } from '../../sensor/engine/export-head.ts';
import { cpuSecondsOf, rssKibOf } from './process-stats.ts';

const ROUNDS = Number(process.argv[2] ?? 3);
const PROGRAMS = Number(process.argv[3] ?? 2_000);
const SOURCES = 12;
const READY_MS = 30_000;
const QUIET_MS = 2_500;
const ROOT = join(import.meta.dirname, '../..');
const BPFTRACE =
  'tracepoint:sched:sched_process_exec { printf("exec %d %s\\n", pid, str(args->filename)); }' +
  ' tracepoint:sched:sched_process_exit { printf("exit %d\\n", pid); }' +
  ' tracepoint:sched:sched_process_fork { printf("fork %d %d\\n", pid, args->child_pid); }';
// Two at a time: each program is a fork, an exec and an exit.
const STORM =
  'for $n (1..2) { unless (fork) { for (1..$ARGV[0]) { $p = fork; exec "/bin/true" unless $p; waitpid $p, 0 } exit } }' +
  ' 1 while wait != -1';

type Watcher = { readonly name: string; command(file: string): readonly string[] };
type Figures = {
  stormMs: number;
  stormCpuMs: number;
  compileCpuMs: number;
  cpuMs: number;
  rssKib: number;
  told: number;
  lost: number;
};

const WATCHERS: readonly Watcher[] = [
  { name: 'none', command: () => [] },
  {
    name: 'ebpf',
    command: (file) => [
      join(ROOT, 'sensor/engine/native/ebpf-engine-x86_64'),
      ...exportFlags(file),
    ],
  },
  {
    name: 'procfs',
    command: (file) => [
      process.execPath,
      join(ROOT, 'sensor/engine/procfs/procfs-engine.ts'),
      ...exportFlags(file),
    ],
  },
  { name: 'bpftrace', command: (file) => ['bpftrace', '-o', file, '-e', BPFTRACE] },
];

const folder = mkdtempSync(join(tmpdir(), 'bench-engine-'));
try {
  for (let at = 0; at < SOURCES; at += 1) {
    const include =
      '#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n';
    writeFileSync(join(folder, `${at}.c`), `${include}int f${at}(int a) { return a * ${at}; }\n`);
  }
  const found = WATCHERS.filter(
    ({ name }) => name !== 'bpftrace' || spawnSync('bpftrace', ['--version']).status === 0,
  );
  const figures = new Map<string, Figures[]>(found.map(({ name }) => [name, []]));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const watcher of found) figures.get(watcher.name)?.push(await measure(watcher, round));
  }
  print(figures);
} finally {
  rmSync(folder, { recursive: true });
}

function exportFlags(file: string): string[] {
  return ['--export-filename', file, '--export-file-max-size-mb', '200', '--node-name', 'bench'];
}

async function measure(watcher: Watcher, round: number): Promise<Figures> {
  const file = join(folder, `${watcher.name}-${round}.log`);
  const [program = '', ...words] = watcher.command(file);
  const child = program === '' ? null : spawn(program, words, { stdio: ['pipe', 'pipe', 'pipe'] });
  let said = '';
  child?.stdout?.on('data', (text) => {
    said += String(text);
  });
  if (child !== null) await ready(child, () => said + textOf(file));
  const before = child === null ? 0 : cpuSecondsOf(child.pid ?? 0);
  const toldBefore = toldIn(file);
  const storm = timed('perl', ['-e', STORM, String(PROGRAMS)]);
  const compile = timed('sh', ['-c', `cd ${folder} && for f in *.c; do gcc -O2 -c $f; done`]);
  await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
  const cpuMs = child === null ? 0 : (cpuSecondsOf(child.pid ?? 0) - before) * 1_000;
  const rssKib = child === null ? 0 : rssKibOf(child.pid ?? 0);
  if (child !== null) await stop(child);
  const lost = Number(/.*"lost":(\d+)/s.exec(said)?.[1] ?? 0) + lostOfBpftrace(said + textOf(file));
  const told = toldIn(file) - toldBefore;
  const watched = { stormMs: storm.wallMs, stormCpuMs: storm.cpuMs, compileCpuMs: compile.cpuMs };
  return { ...watched, cpuMs, rssKib, told, lost };
}

/** bpftrace leaves out what it had no room for and says how many. */
function lostOfBpftrace(text: string): number {
  return [...text.matchAll(/Lost (\d+) events/g)].reduce((sum, [, lost]) => sum + Number(lost), 0);
}

async function ready(child: ChildProcess, said: () => string): Promise<void> {
  const deadline = Date.now() + READY_MS;
  while (!/"engine"|Attaching/.test(said())) {
    if (child.exitCode !== null || Date.now() > deadline) throw new Error(`not ready: ${said()}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  // What was there before has been told, and bpftrace, which does not say so, watches.
  await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
}

async function stop(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGINT');
  await ended;
}

/** Wall time, and CPU time of it and its children: what hooks cost in the kernel is theirs. */
function timed(program: string, words: readonly string[]): { wallMs: number; cpuMs: number } {
  const began = performance.now();
  const script = 'TIMEFORMAT="%3U %3S"; time "$@"';
  const all = ['-c', script, 'bash', program, ...words];
  const { status, stderr } = spawnSync('bash', all, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program}: ${stderr}`);
  const [user = 0, system = 0] = (stderr.trim().split('\n').at(-1) ?? '').split(' ').map(Number);
  return { wallMs: performance.now() - began, cpuMs: (user + system) * 1_000 };
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** Lines in an export and what was rotated away from it. */
function toldIn(file: string): number {
  const stem = file.slice(folder.length + 1, -'.log'.length);
  const texts = readdirSync(folder).filter((one) => one.startsWith(stem) && one.endsWith('.log'));
  const lines = texts.flatMap((one) => textOf(join(folder, one)).split('\n').slice(0, -1));
  return lines.filter((line) => parseExportHead(line) === undefined).length;
}

function print(figures: ReadonlyMap<string, readonly Figures[]>): void {
  const median = (values: readonly number[]) =>
    values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
  const of = (name: string, key: keyof Figures) =>
    median((figures.get(name) ?? []).map((one) => one[key]));
  console.log(
    `${ROUNDS} rounds, medians; a storm of ${2 * PROGRAMS} programs, ${SOURCES} compiles`,
  );
  console.log(
    '| engine | programs/s | storm CPU ms | compile CPU ms | lines | lost | CPU ms | CPU ms per 1,000 lines | RSS MiB |',
  );
  console.log('| --- | --- | --- | --- | --- | --- | --- | --- | --- |');
  for (const name of figures.keys()) {
    const [stormMs, told, cpuMs] = [of(name, 'stormMs'), of(name, 'told'), of(name, 'cpuMs')];
    const cells = [
      ...[((2 * PROGRAMS) / (stormMs / 1_000)).toFixed(0), of(name, 'stormCpuMs').toFixed(0)],
      ...[of(name, 'compileCpuMs').toFixed(0), told, of(name, 'lost'), cpuMs.toFixed(0)],
      ...[told === 0 ? '-' : ((cpuMs / told) * 1_000).toFixed(1)],
      (of(name, 'rssKib') / 1_024).toFixed(1),
    ];
    console.log(`| ${name} | ${cells.join(' | ')} |`);
  }
}
