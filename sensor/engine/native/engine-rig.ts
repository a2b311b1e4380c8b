// What the engine's tests share: the program in a directory of its own, its words, and its export as parsed lines.
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseExportHead } from '../export-head.ts';

/** What is committed, or another build of it. */
const ENGINE =
  process.env['ENGINE_PROGRAM'] ?? fileURLToPath(new URL('./ebpf-engine-x86_64', import.meta.url));
const DEADLINE_MS = 120_000;

export type Told = { readonly kind: string; readonly body: Body; readonly time: string };
type Process = {
  readonly pid: number;
  readonly exec_id: string;
  readonly binary: string;
  readonly arguments?: string;
  readonly flags: string;
  readonly docker?: string;
  readonly parent_exec_id?: string;
  readonly binary_properties?: Record<string, unknown>;
};
type Body = {
  readonly process: Process;
  readonly parent?: Process;
  readonly function_name?: string;
  readonly args?: Record<string, unknown>[];
  readonly signal?: string;
  readonly status?: number;
  readonly number_of_dropped_process_events?: string;
  readonly number_of_kernel_dropped_events?: string;
};
export type Running = {
  readonly child: ChildProcessWithoutNullStreams;
  readonly file: string;
  readonly hello: {
    readonly engine: string;
    readonly disabled_hooks: { hook: string; reason: string; missing?: boolean }[];
  };
  /** Its words so far, parsed. */
  readonly words: Record<string, unknown>[];
};

/** Why the engine cannot run here, or nothing. It is started once, with an input that ends at once. */
export function whyNotHere(scratch: string): string | undefined {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'it is built for x86-64 Linux';
  if (process.getuid?.() !== 0) return 'it needs root';
  if (!existsSync('/sys/kernel/btf/vmlinux')) return 'the kernel has no BTF';
  const file = path.join(scratch, 'probe.log');
  const tried = spawnSync(ENGINE, ['--export-filename', file], { input: '', encoding: 'utf8' });
  return tried.status === 0 ? undefined : `it ended with ${tried.status}: ${tried.stderr}`;
}

/** The same, said aloud for the tests that are left out then; a reason of the caller's own comes second. */
export function skipReason(what: string, own?: (scratch: string) => string | undefined) {
  const scratch = mkdtempSync(path.join(tmpdir(), 'ebpf-probe-'));
  const reason = whyNotHere(scratch) ?? own?.(scratch);
  rmSync(scratch, { recursive: true });
  if (reason !== undefined) process.stdout.write(`${what}: skipped: ${reason}\n`);
  return reason;
}

/** What it says against these flags; '' when it takes them. */
export function refusalOf(...flags: string[]): string {
  return spawnSync(ENGINE, ['--probe', ...flags], { encoding: 'utf8' }).stderr;
}

export async function startEngine(directory: string, ...flags: string[]): Promise<Running> {
  return await launchEngine(directory, ...flags).hello;
}

/** The engine as soon as it is a process; it says hello when it watches and the export is its own. */
export function launchEngine(directory: string, ...flags: string[]) {
  return launchBy([], directory, ...flags);
}

/** The same, by a command that becomes the engine. */
export function launchBy(before: readonly string[], directory: string, ...flags: string[]) {
  const file = path.join(directory, 'events.log');
  const [command = ENGINE, ...rest] = [...before, ENGINE];
  const child = spawn(command, [
    ...rest,
    ...['--export-filename', file, '--node-name', 'n1'],
    ...flags,
  ]);
  const words: Record<string, unknown>[] = [];
  const output = createInterface(child.stdout);
  output.on('line', (line) => words.push(JSON.parse(line)));
  const first = once(output, 'line', { signal: AbortSignal.timeout(120_000) });
  const hello = first.then(([line]) => ({ child, file, words, hello: JSON.parse(String(line)) }));
  return { child, words, hello };
}

/** How many tracepoints a process holds programs at. */
export function attachedOf(pid: number | undefined): number {
  const links = readdirSync(`/proc/${pid}/fd`).map((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`);
    } catch {
      return '';
    }
  });
  return links.filter((link) => link.includes('perf_event')).length;
}

export async function stopEngine(running: Running, how: 'SIGTERM' | 'SIGKILL' | 'input' = 'input') {
  const { child } = running;
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'close');
  if (how === 'input') child.stdin.end();
  else child.kill(how);
  await ended;
}

/** Every whole line of an export and its backups but their heads, oldest first. A line that is not JSON throws. */
export function linesOf(file: string): Told[] {
  const { dir, name, ext } = path.parse(file);
  const backups = readdirSync(dir).filter((one) => one.startsWith(`${name}-`));
  const texts = [...backups.sort(), `${name}${ext}`].map((one) =>
    readFileSync(path.join(dir, one), 'utf8'),
  );
  const lines = texts.flatMap((text) => text.slice(0, text.lastIndexOf('\n') + 1).split('\n'));
  return lines.filter((line) => line !== '' && parseExportHead(line) === undefined).map(parseLine);
}

function parseLine(line: string): Told {
  const { node_name: _, time, ...rest } = JSON.parse(line);
  const kind = Object.keys(rest)[0] ?? '';
  return { kind, body: rest[kind], time };
}

/** Looks again and again until the export holds what is asked for; the deadline makes it a failure. */
export async function until(file: string, met: (lines: Told[]) => boolean): Promise<Told[]> {
  const deadline = Date.now() + DEADLINE_MS;
  for (;;) {
    const lines = linesNow(file);
    if (met(lines)) return lines;
    if (Date.now() > deadline) throw new Error(`never met: ${JSON.stringify(lines.slice(-20))}`);
    await wait(20);
  }
}

/** None while a file of it is being renamed. */
function linesNow(file: string): Told[] {
  try {
    return linesOf(file);
  } catch (error) {
    if (Object(error).code === 'ENOENT') return [];
    throw error;
  }
}

export function hooked(lines: readonly Told[], name: string): Told[] {
  return lines.filter(({ body }) => body.function_name === name);
}

/** Execs of numbered programs, without end. */
export function startLoad(mark: string) {
  const loop = `i=0; while :; do /bin/true ${mark}-$i; i=$((i+1)); done`;
  return spawn('/bin/sh', ['-c', loop], { stdio: 'ignore' });
}

/** Opens of numbered files, round and round, and numbered names asked for, as fast as can be. It begins at a word on its
 * input, and says one when it is well under way. */
export async function prepareBusy(directory: string, files: number) {
  const program = fileURLToPath(new URL('./busy.pl', import.meta.url));
  const child = spawn('perl', [program, directory, String(files)]);
  await once(child.stdout, 'data', { signal: AbortSignal.timeout(120_000) });
  return child;
}

/** The numbers of the mark's programs, in the order in which they were told, by kind. */
export function numbersOf(lines: readonly Told[], mark: string, kind: string): number[] {
  return lines
    .filter((one) => one.kind === kind && !one.body.process.flags?.includes('procFS'))
    .map(({ body }) => body.process.arguments ?? '')
    .filter((words) => words.startsWith(`${mark}-`))
    .map((words) => Number(words.slice(mark.length + 1)));
}

/** From one number to another, both included. */
export const range = (from: number, to: number) =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, at) => from + at);
