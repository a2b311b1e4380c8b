import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { diskExport } from '../export-files.ts';
import { parseExportHead } from '../export-head.ts';
import { createExportReader } from '../export-reader.ts';
import { type Running, skipReason, startEngine, startLoad, stopEngine } from './engine-rig.ts';

const DEADLINE_MS = 120_000;
const refused = skipReason('ebpf engine, its export');

let directory = '';
let file = '';
let running: Running | undefined;
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'ebpf-export-'));
  file = path.join(directory, 'events.log');
});
afterEach(async () => {
  if (running !== undefined) await stopEngine(running);
  running = undefined;
  rmSync(directory, { recursive: true, force: true });
});

async function read(cursor: unknown, linesMax: number) {
  const reader = createExportReader({ path: file, files: diskExport, cursor });
  try {
    return await reader.read(linesMax);
  } finally {
    await reader.close();
  }
}
const wordOf = ({ words }: Running, name: string) => Number(words.at(-1)?.[name]);

/** Until the engine says so; it says it every few seconds. */
async function met(what: () => boolean): Promise<void> {
  const deadline = Date.now() + DEADLINE_MS;
  while (!what()) {
    if (Date.now() > deadline) throw new Error('never met');
    await wait(20);
  }
}

describe.skipIf(refused !== undefined)('ebpf engine, its export', () => {
  it('should say which lines stood before each file, so that a reader counts what it never read', async () => {
    const flags = ['--export-file-max-size-mb', '0.05', '--export-file-max-backups', '2'];
    let first: Awaited<ReturnType<typeof read>> | undefined;
    let count = 0;
    for (let life = 0; life < 2; life += 1) {
      const engine = await startEngine(directory, ...flags);
      running = engine;
      await met(() => wordOf(engine, 'written') > 10);
      first ??= await read(undefined, 10);
      const load = startLoad(`counted-${life}`);
      const before = wordOf(engine, 'written');
      await met(() => wordOf(engine, 'written') > before + 1_000);
      load.kill();
      await stopEngine(engine);
      count += wordOf(engine, 'written');
    }
    const rest = await read(JSON.parse(JSON.stringify(first?.cursor)), 1_000_000);
    expect(rest).toMatchObject({ malformed: 0 });
    expect(rest.isSkippedUnknown).toBeUndefined();
    expect(rest.skippedLines).toBeGreaterThan(1_000);
    expect((first?.cursor?.line ?? 0) + rest.skippedLines + rest.lines.length).toBe(count);
  });

  it('should begin a file anew of which a crash left nothing but a part of its head', async () => {
    writeFileSync(file, '{"export_info":{"lines_bef');
    running = await startEngine(directory);
    await stopEngine(running);
    const [head = '', ...lines] = readFileSync(file, 'utf8').split('\n');
    expect(parseExportHead(head)).toMatchObject({ linesBefore: 0, linesBeforeRun: 0 });
    expect(lines[0]).toMatch(/^\{"process_exec"/);
  });

  it('should count what another boot left as no part of its own run', async () => {
    const run = '00000000-0000-0000-0000-000000000000 2026-01-01T00:00:00.000000000Z';
    const info = { lines_before: '40', run, lines_before_run: '7' };
    writeFileSync(file, `${JSON.stringify({ export_info: info })}\n{}\n\n{"torn`);
    running = await startEngine(directory, '--export-file-max-size-mb', '0.001');
    await stopEngine(running);
    const begun = parseExportHead(readFileSync(file, 'utf8').split('\n')[0] ?? '');
    expect(begun?.linesBeforeRun).toBe(42);
    expect(begun?.run).not.toBe(run);
  });
});
