// What the tests of the procfs engine share: the engine in a directory of its own, its words, and a look for its lines. It
// lies beside the engine's folder, of which every file is unpacked on a node.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openTraceRoot } from './procfs/trace-root.ts';

const ENGINE = fileURLToPath(new URL('./procfs/procfs-engine.ts', import.meta.url));
const DEADLINE_MS = 120_000;
const trace = process.getuid?.() === 0 ? await openTraceRoot() : { refused: 'not root' };
/** Where traces of one's own are made; '' where the engine cannot have any. */
export const INSTANCES = 'root' in trace ? `${trace.root}/instances` : '';

type Hello = {
  readonly mode: string;
  readonly pid: number;
  readonly disabled_hooks: { hook: string; reason: string; missing?: boolean }[];
};
export type Running = {
  readonly child: ChildProcessWithoutNullStreams;
  readonly hello: Hello;
  readonly file: string;
};
let directory = '';
let children: ChildProcessWithoutNullStreams[] = [];

export function beginDirectory(): string {
  directory = mkdtempSync(path.join(tmpdir(), 'procfs-'));
  children = [];
  return directory;
}

/** Ends every engine that still runs. */
export async function endDirectory(): Promise<void> {
  for (const child of children) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const ended = once(child, 'exit');
    child.stdin.end();
    await ended;
  }
  rmSync(directory, { recursive: true, force: true });
}

export async function start(...flags: string[]): Promise<Running> {
  return await startBy([], ...flags);
}

/** The same, by a command that becomes the engine. */
export async function startBy(before: readonly string[], ...flags: string[]): Promise<Running> {
  const file = path.join(directory, 'events.log');
  const own = ['node', ENGINE, '--export-filename', file, '--node-name', 'n1', ...flags];
  const [command = '', ...rest] = [...before, ...own];
  const child = spawn(command, rest);
  children.push(child);
  const output = createInterface(child.stdout);
  const [first] = await once(output, 'line', { signal: AbortSignal.timeout(120_000) });
  return { child, hello: JSON.parse(String(first)), file };
}

/** Asks again and again until the export holds a line with all the words; the deadline makes it a failure. */
export async function lineWith(file: string, ...words: string[]): Promise<string> {
  const deadline = Date.now() + DEADLINE_MS;
  while (Date.now() < deadline) {
    const found = readFileSync(file, 'utf8')
      .split('\n')
      .find((line) => words.every((word) => line.includes(word)));
    if (found?.endsWith('}')) return found;
    await wait(10);
  }
  throw new Error(`the export never held a line with ${words.join(' and ')}`);
}

export function wordsOf({ child }: Pick<Running, 'child'>): Record<string, unknown>[] {
  const words: Record<string, unknown>[] = [];
  createInterface(child.stdout).on('line', (line) => words.push(JSON.parse(line)));
  return words;
}
