import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { diskExport } from '../export-files.ts';
import { parseExportHead } from '../export-head.ts';
import { createExportReader } from '../export-reader.ts';

const ENGINE = fileURLToPath(new URL('./procfs-engine.ts', import.meta.url));
let directory = '';
let file = '';
let child: ChildProcessWithoutNullStreams | null = null;
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'procfs-export-'));
  file = path.join(directory, 'events.log');
});
afterEach(async () => {
  await stop();
  rmSync(directory, { recursive: true, force: true });
});

/** Its words, which go on to come. */
async function start(...flags: string[]): Promise<Record<string, unknown>[]> {
  child = spawn('node', [ENGINE, '--export-filename', file, '--mode', 'polling', ...flags]);
  const words: Record<string, unknown>[] = [];
  const output = createInterface(child.stdout).on('line', (line) => words.push(JSON.parse(line)));
  await once(output, 'line', { signal: AbortSignal.timeout(120_000) });
  return words;
}
async function stop(): Promise<void> {
  if (child === null) return;
  const ended = once(child, 'close');
  child.stdin.end();
  child = null;
  await ended;
}
/** Until a file of the export holds it; the deadline makes it a failure. */
async function written(words: string): Promise<void> {
  const deadline = Date.now() + 5_000;
  const has = (name: string): boolean => {
    try {
      return readFileSync(path.join(directory, name), 'utf8').includes(words);
    } catch {
      return false; // it was renamed meanwhile
    }
  };
  while (!readdirSync(directory).some(has)) {
    if (Date.now() > deadline) throw new Error(`the export never held ${words}`);
    await wait(10);
  }
}
async function read(cursor: unknown, linesMax: number) {
  const reader = createExportReader({ path: file, files: diskExport, cursor });
  try {
    return await reader.read(linesMax);
  } finally {
    await reader.close();
  }
}

describe('export of the procfs engine', () => {
  it('should say which lines stood before each file, so that a reader counts what it never read', async () => {
    const sizes = ['--export-file-max-size-mb', '0.004', '--export-file-max-backups', '2'];
    let count = 0;
    let first: Awaited<ReturnType<typeof read>> | undefined;
    // Nobody reads while three of them write one after the other, and each finds the lines of those before it.
    for (let life = 0; life < 3; life += 1) {
      const words = await start(...sizes);
      first ??= await read(undefined, 3);
      for (let n = 0; n < 6; n += 1) {
        const sleeper = spawn('sleep', [`35.${life}${n}`]);
        await written(`"35.${life}${n}"`);
        sleeper.kill();
      }
      await stop();
      count += Number(words.at(-1)?.['written']);
    }
    const rest = await read(JSON.parse(JSON.stringify(first?.cursor)), 100_000);
    expect(rest).toMatchObject({ malformed: 0 });
    expect(rest.isSkippedUnknown).toBeUndefined();
    expect(rest.skippedLines).toBeGreaterThan(20);
    expect((first?.lines.length ?? 0) + rest.skippedLines + rest.lines.length).toBe(count);
  });

  it('should begin a file anew of which a crash left nothing but a part of its head', async () => {
    for (const torn of ['{"exp', '{"export_info":{"lines_bef']) {
      writeFileSync(file, torn);
      await start();
      const [head = '', ...lines] = readFileSync(file, 'utf8').split('\n');
      expect(parseExportHead(head)).toMatchObject({ linesBefore: 0, linesBeforeRun: 0 });
      expect(lines[0]).toMatch(/^\{"(?:process_exec|rate_limit_info)"/);
      await stop();
    }
  });

  it('should begin another run when somebody removed what it wrote', async () => {
    await start('--export-file-max-size-mb', '0.001');
    const head = () => parseExportHead(readFileSync(file, 'utf8').split('\n')[0] ?? '');
    const sleeper = spawn('sleep', ['36.1']);
    await written('"36.1"');
    const before = head();
    expect(before?.linesBefore).toBeGreaterThan(0);
    for (const name of readdirSync(directory)) rmSync(path.join(directory, name));
    sleeper.kill();
    await written('export_info');
    const after = head();
    expect(after).toMatchObject({ linesBefore: 0, linesBeforeRun: 0 });
    expect(after?.run).not.toBe(before?.run);
  });

  it('should count what another boot left as no part of its own run', async () => {
    const run = '00000000-0000-0000-0000-000000000000 2026-01-01T00:00:00.000000000Z';
    const info = { lines_before: '40', run, lines_before_run: '7' };
    writeFileSync(file, `${JSON.stringify({ export_info: info })}\n{}\n\n{"torn`);
    await start('--export-file-max-size-mb', '0.001');
    const [head = ''] = readFileSync(file, 'utf8').split('\n');
    const begun = parseExportHead(head);
    expect(begun).toMatchObject({ linesBefore: 42, linesBeforeRun: 42 });
    expect(begun?.run).not.toBe(run);
  });
});
