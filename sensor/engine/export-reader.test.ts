import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EXPORT_HEAD_BYTES, EXPORT_LINE_MAX_BYTES } from '../../machines/limits.ts';
import { diskExport } from './export-files.ts';
import { createExportReader, type ExportBatch } from './export-reader.ts';

let directory = '';
let live = '';
let rotations = 0;
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'export-'));
  live = path.join(directory, 'events.log');
  rotations = 0;
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const line = (n: number, text = '') => `{"n":${n},"text":"${text}"}`;
const append = (...lines: string[]) =>
  appendFileSync(live, lines.map((one) => `${one}\n`).join(''));
function backupName(): string {
  rotations += 1;
  return path.join(
    directory,
    `events-2026-01-01T00-00-00.${String(rotations).padStart(3, '0')}.log`,
  );
}
function rotate(): string {
  const backup = backupName();
  renameSync(live, backup);
  return backup;
}
/** One read by a reader that lives only for it, as after a crash. */
async function readOnce(cursor: unknown, max = 100): Promise<ExportBatch> {
  const reader = createExportReader({ path: live, cursor, files: diskExport });
  try {
    return await reader.read(max);
  } finally {
    await reader.close();
  }
}

describe('export reader', () => {
  it('should give nothing and no cursor when there is no export yet', async () => {
    expect(await readOnce(undefined)).toEqual({
      lines: [],
      cursor: undefined,
      skippedLines: 0,
      malformed: 0,
    });
  });

  it('should wait for the end of a torn last line', async () => {
    append(line(1));
    appendFileSync(live, '{"n":2');
    const reader = createExportReader({ path: live, cursor: undefined, files: diskExport });
    expect((await reader.read(9)).lines).toEqual([line(1)]);
    expect((await reader.read(9)).lines).toEqual([]);
    appendFileSync(live, '}\n');
    expect((await reader.read(9)).lines).toEqual(['{"n":2}']);
    await reader.close();
  });

  it('should read a rotated file to its end and go on with the newer ones', async () => {
    append(line(1));
    const reader = createExportReader({ path: live, cursor: undefined, files: diskExport });
    await reader.read(9);
    append(line(2));
    rotate();
    append(line(3));
    rotate();
    append(line(4));
    expect((await reader.read(9)).lines).toEqual([line(2), line(3), line(4)]);
    await reader.close();
  });

  it('should find its place again by inode when the file was rotated while nobody read', async () => {
    append(line(1), line(2));
    const first = await readOnce(undefined, 1);
    rotate();
    append(line(3));
    const then = await readOnce(JSON.parse(JSON.stringify(first.cursor)));
    expect(then).toMatchObject({ lines: [line(2), line(3)], skippedLines: 0, malformed: 0 });
  });

  it('should count a loss and go on with the oldest line when its file is gone', async () => {
    append(line(1), line(2));
    const { cursor } = await readOnce(undefined, 1);
    const backup = rotate();
    append(line(3));
    rmSync(backup);
    expect(await readOnce(cursor)).toMatchObject({ lines: [line(3)], skippedLines: 1 });
  });

  it('should not take another file for its own when the inode was given away', async () => {
    append(line(1), line(2));
    const { cursor } = await readOnce(undefined, 1);
    writeFileSync(live, `${line(7)}\n${line(8)}\n`); // same inode, other content, longer than the offset
    expect(await readOnce(cursor)).toMatchObject({ lines: [line(7), line(8)], skippedLines: 1 });
  });

  it('should start again when the file was truncated under it', async () => {
    append(line(1), line(2));
    const reader = createExportReader({ path: live, cursor: undefined, files: diskExport });
    await reader.read(9);
    truncateSync(live, 0);
    append(line(3));
    expect((await reader.read(9)).lines).toEqual([line(3)]);
    await reader.close();
  });

  it('should read the file again when its end went back and was written anew, as after a power loss', async () => {
    append(line(1), line(2), line(3));
    const { cursor } = await readOnce(undefined);
    truncateSync(live, `${line(1)}\n`.length);
    append(line(4), line(5), line(6));
    const after = await readOnce(cursor);
    expect(after.lines).toEqual([line(1), line(4), line(5), line(6)]);
    expect((await readOnce(after.cursor)).lines).toEqual([]);
  });

  it('should not read the same file again at every start once it was read again', async () => {
    for (const text of ['', 'x'.repeat(EXPORT_HEAD_BYTES)]) {
      rmSync(live, { force: true });
      append(line(1, text), line(2), line(3));
      const { cursor } = await readOnce(undefined);
      truncateSync(live, `${line(1, text)}\n`.length);
      append(line(4), line(5));
      const after = await readOnce(cursor);
      expect(after.lines).toEqual([line(1, text), line(4), line(5)]);
      expect((await readOnce(after.cursor)).lines).toEqual([]);
    }
  });

  it('never loses a line that is there after power losses took the unsynced end of the export', async () => {
    const percent = fc.integer({ min: 0, max: 100 });
    const step = fc.oneof(
      fc.record({ do: fc.constant('append' as const), count: fc.integer({ min: 1, max: 9 }) }),
      fc.record({ do: fc.constant('rotate' as const) }),
      fc.record({ do: fc.constant('read' as const), max: fc.integer({ min: 1, max: 30 }) }),
      fc.record({
        do: fc.constant('power' as const),
        kept: percent,
        zeros: percent,
        rotates: fc.boolean(),
      }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40, size: 'max' }), async (steps) => {
        rmSync(directory, { recursive: true, force: true });
        directory = mkdtempSync(path.join(tmpdir(), 'export-'));
        live = path.join(directory, 'events.log');
        append(line(0));
        let written = 0;
        let stored: unknown;
        const got = new Set<string>();
        let reader = createExportReader({ path: live, cursor: stored, files: diskExport });
        const take = async (max: number): Promise<number> => {
          const batch = await reader.read(max);
          for (const one of batch.lines) got.add(one);
          stored = JSON.parse(JSON.stringify(batch.cursor));
          return batch.lines.length;
        };
        for (const one of steps) {
          if (one.do === 'append') {
            for (let n = 0; n < one.count; n += 1) {
              written += 1;
              append(line(written, 'x'.repeat(EXPORT_HEAD_BYTES / 2)));
            }
          } else if (one.do === 'rotate') {
            rotate();
            append();
          } else if (one.do === 'read') await take(one.max);
          else {
            await reader.close();
            const whole = readFileSync(live);
            const kept = Math.floor((whole.length * one.kept) / 100);
            const zeros = Math.floor(((whole.length - kept) * one.zeros) / 100);
            writeFileSync(live, whole.subarray(0, kept));
            // An engine that begins ends what was torn.
            appendFileSync(live, Buffer.concat([Buffer.alloc(zeros), Buffer.from('\n')]));
            if (one.rotates) {
              rotate();
              append();
            }
            reader = createExportReader({ path: live, cursor: stored, files: diskExport });
          }
        }
        while ((await take(50)) > 0);
        await reader.close();
        const there = readdirSync(directory).flatMap((name) =>
          readFileSync(path.join(directory, name), 'utf8').split('\n'),
        );
        expect(
          there.filter((one) => one.startsWith('{') && one.endsWith('}') && !got.has(one)),
        ).toEqual([]);
      }),
      { numRuns: 40 },
    );
  });

  it('should skip and count what is no JSON object, and a line beyond the limit', async () => {
    append(line(1), 'no json', line(2, 'x'.repeat(2 * EXPORT_LINE_MAX_BYTES)), line(3));
    const batch = await readOnce(undefined);
    expect(batch).toMatchObject({ lines: [line(1), line(3)], skippedLines: 1, malformed: 1 });
    expect((await readOnce(batch.cursor)).lines).toEqual([]);
  });

  it('should read a line that is longer than a chunk', async () => {
    const long = line(1, 'x'.repeat(EXPORT_LINE_MAX_BYTES - 100));
    append(long, line(2));
    expect(await readOnce(undefined)).toMatchObject({ lines: [long, line(2)], skippedLines: 0 });
  });

  it('never loses or repeats a line when the reader dies anywhere and its last stored cursor is restored', async () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant('append' as const), count: fc.integer({ min: 1, max: 6 }) }),
      fc.record({ do: fc.constant('rotate' as const) }),
      fc.record({
        do: fc.constant('read' as const),
        max: fc.integer({ min: 1, max: 4 }),
        stored: fc.boolean(),
      }),
      fc.record({ do: fc.constant('die' as const) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        rmSync(directory, { recursive: true, force: true });
        directory = mkdtempSync(path.join(tmpdir(), 'export-'));
        live = path.join(directory, 'events.log');
        let written = 0;
        const next = () => {
          written += 1;
          append(line(written));
        };
        let stored: unknown;
        const got: string[] = [];
        let reader = createExportReader({ path: live, cursor: stored, files: diskExport });
        const reopen = async () => {
          await reader.close();
          reader = createExportReader({ path: live, cursor: stored, files: diskExport });
        };
        const take = async (max: number): Promise<number> => {
          const batch = await reader.read(max);
          expect(batch).toMatchObject({ skippedLines: 0, malformed: 0 });
          got.push(...batch.lines);
          stored = batch.cursor;
          return batch.lines.length;
        };
        for (const one of steps) {
          if (one.do === 'append') {
            for (let n = 0; n < one.count; n += 1) next();
          } else if (one.do === 'rotate' && written > 0) {
            rotate();
            next();
          } else if (one.do === 'read' && one.stored) await take(one.max);
          else if (one.do === 'read') {
            await reader.read(one.max); // killed before the cursor was stored
            await reopen();
          } else if (one.do === 'die') await reopen();
        }
        while ((await take(50)) > 0);
        await reader.close();
        expect(got).toEqual(Array.from({ length: written }, (_, n) => line(n + 1)));
      }),
      { numRuns: 40 },
    );
  });
});
