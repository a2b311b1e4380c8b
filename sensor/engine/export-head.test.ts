import { appendFileSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseExportCursor } from './export-cursor.ts';
import { diskExport } from './export-files.ts';
import { linesMissing, parseExportHead } from './export-head.ts';
import { createExportReader } from './export-reader.ts';

let directory = '';
let live = '';
let rotations = 0;
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'export-head-'));
  live = path.join(directory, 'events.log');
  rotations = 0;
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const headLine = (before: number | string, run = 'a 1', beforeRun: number | string = 0): string => {
  const info = { lines_before: String(before), run, lines_before_run: String(beforeRun) };
  return JSON.stringify({ export_info: info, time: '2026-01-01T00:00:00Z' });
};
const line = (n: number) => `{"n":${n}}`;
const append = (...lines: string[]) => appendFileSync(live, lines.map((l) => `${l}\n`).join(''));
function rotate(): string {
  rotations += 1;
  const number = String(rotations).padStart(3, '0');
  const backup = path.join(directory, `events-2026-01-01T00-00-00.${number}.log`);
  renameSync(live, backup);
  return backup;
}
const readerFrom = (cursor: unknown) =>
  createExportReader({ path: live, cursor, files: diskExport });
async function readOnce(cursor: unknown, linesMax = 100) {
  const reader = readerFrom(cursor);
  const batch = await reader.read(linesMax);
  await reader.close();
  return batch;
}

describe('head of an export file', () => {
  it('should be read back, and nothing else taken for one', () => {
    const head = { linesBefore: 12, run: 'a 1', linesBeforeRun: 3 };
    expect(parseExportHead(headLine(12, 'a 1', 3))).toEqual(head);
    for (const other of [
      '{"process_exec":{}}',
      headLine(2, 'a 1', 3),
      headLine('9'.repeat(16)),
      headLine(-1),
      headLine(1, ''),
      headLine(1, 'x'.repeat(81)),
      headLine(12).slice(0, 40),
    ]) {
      expect(parseExportHead(other)).toBeUndefined();
    }
  });

  it.each([
    ['the next file begins where it should', 10, 'a', [10, 'a', 0], false, 0, false],
    ['a file between is missing', 10, 'a', [25, 'a', 0], false, 15, false],
    ['files are gone', 10, 'a', [25, 'a', 0], true, 15, false],
    ['files are gone that were read', 10, 'a', [10, 'a', 0], true, 0, false],
    ['the lines went back', 10, 'a', [4, 'a', 0], true, 1, true],
    ['another run goes on with what was read', 10, 'a', [25, 'b', 12], false, 0, false],
    ['another run wrote what is gone', 10, 'a', [25, 'b', 12], true, 15, false],
    ['the power took some of what was read', 10, 'a', [25, 'b', 6], true, 19, true],
    ['the power took what was read', 10, 'a', [6, 'b', 6], true, 1, true],
  ] as const)(
    'should tell what is missing when %s',
    (_, at, run, head, isGone, lines, isUnknown) => {
      const [linesBefore, headRun, linesBeforeRun] = head;
      const begins = { linesBefore, run: headRun, linesBeforeRun };
      expect(linesMissing({ line: at, run }, begins, isGone)).toEqual({ lines, isUnknown });
    },
  );

  it('should leave one line and its word for it where no head tells', () => {
    const head = { linesBefore: 25, run: 'a', linesBeforeRun: 0 };
    expect(linesMissing(undefined, head, true)).toEqual({ lines: 1, isUnknown: true });
    expect(linesMissing({ line: 1, run: 'a' }, undefined, true)).toMatchObject({ lines: 1 });
    expect(linesMissing({ line: 1, run: 'a' }, undefined, false)).toMatchObject({ lines: 0 });
  });

  it('should count as none where a stored cursor has half of it', () => {
    const place = { inode: '1', offset: 2, head: 'h' };
    for (const more of [{ line: 3 }, { run: 'a' }, { line: -1, run: 'a' }, { line: 3, run: '' }]) {
      expect(parseExportCursor({ ...place, ...more })).toEqual(place);
    }
    expect(parseExportCursor({ ...place, line: 3, run: 'x'.repeat(81) })).toEqual(place);
    expect(parseExportCursor({ ...place, line: 3, run: 'a' })).toMatchObject({ line: 3, run: 'a' });
  });
});

describe('export reader with heads', () => {
  it('should never give a head, nor count it as malformed, wherever it stands and however torn', async () => {
    append(headLine(0), line(1), headLine(0), '{"export_info":{"lines', line(2));
    const batch = await readOnce(undefined);
    expect(batch).toMatchObject({ lines: [line(1), line(2)], skippedLines: 0, malformed: 0 });
    expect(batch.cursor).toMatchObject({ line: 2, run: 'a 1' });
  });

  it('should count what was removed under it as exactly as what was removed while it was away', async () => {
    append(headLine(0), line(1), line(2), line(3));
    const open = readerFrom(undefined);
    const { cursor } = await open.read(1);
    rmSync(rotate());
    append(headLine(3), line(4), line(5));
    rmSync(rotate());
    append(headLine(5), line(6));
    expect(await readOnce(cursor)).toMatchObject({ lines: [line(6)], skippedLines: 4 });
    // It still has its file open, and reads that to the end.
    expect(await open.read(9)).toMatchObject({
      ...{ lines: [line(2), line(3), line(6)], skippedLines: 2 },
      cursor: { line: 6 },
    });
    await open.close();
  });

  it('should store no place behind a loss before it knows how much was lost', async () => {
    append(headLine(0), line(1), line(2));
    const { cursor } = await readOnce(undefined, 1);
    rmSync(rotate());
    append();
    const waiting = await readOnce(cursor);
    expect(waiting).toMatchObject({ lines: [], skippedLines: 0, cursor: { line: 1 } });
    append(headLine(2), line(3));
    expect(await readOnce(waiting.cursor)).toMatchObject({ lines: [line(3)], skippedLines: 1 });
  });

  it('should say that it does not know how much was lost where files have no heads', async () => {
    append(line(1), line(2));
    const { cursor } = await readOnce(undefined, 1);
    rmSync(rotate());
    append(headLine(2), line(3));
    const lost = { lines: [line(3)], skippedLines: 1, isSkippedUnknown: true };
    expect(await readOnce(cursor)).toMatchObject(lost);
  });

  it('should say so when files were removed before anybody read of them', async () => {
    append(headLine(7), line(8));
    const lost = { lines: [line(8)], skippedLines: 1, isSkippedUnknown: true };
    expect(await readOnce(undefined)).toMatchObject(lost);
  });

  it('never loses count of a line, whatever is removed unread and whenever the reader dies', async () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant('append' as const), count: fc.integer({ min: 1, max: 6 }) }),
      fc.record({ do: fc.constant('rotate' as const), kept: fc.integer({ min: 0, max: 3 }) }),
      fc.record({ do: fc.constant('read' as const), max: fc.integer({ min: 1, max: 9 }) }),
      fc.record({ do: fc.constant('die' as const), isStored: fc.boolean() }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 50, size: 'max' }), async (steps) => {
        rmSync(directory, { recursive: true, force: true });
        directory = mkdtempSync(path.join(tmpdir(), 'export-head-'));
        live = path.join(directory, 'events.log');
        let [written, skipped] = [0, 0];
        let backups: string[] = [];
        const nextLine = (): string => {
          written += 1;
          return line(written);
        };
        const got: string[] = [];
        append(headLine(0));
        let reader = readerFrom(undefined);
        let stored: unknown = JSON.parse(JSON.stringify((await reader.read(1)).cursor));
        const read = async (max: number): Promise<number> => {
          const batch = await reader.read(max);
          expect([batch.malformed, batch.isSkippedUnknown]).toEqual([0, undefined]);
          got.push(...batch.lines);
          skipped += batch.skippedLines;
          stored = JSON.parse(JSON.stringify(batch.cursor));
          return batch.lines.length;
        };
        for (const one of steps) {
          if (one.do === 'append') {
            for (let n = 0; n < one.count; n += 1) append(nextLine());
          } else if (one.do === 'rotate') {
            backups.push(rotate());
            if (written % 2 === 0) append(headLine(written));
            else append(headLine(written), nextLine());
            const gone = backups.slice(0, Math.max(0, backups.length - one.kept));
            for (const backup of gone) rmSync(backup);
            backups = backups.slice(gone.length);
          } else if (one.do === 'read') await read(one.max);
          else {
            if (!one.isStored) await reader.read(3);
            await reader.close();
            reader = readerFrom(stored);
          }
        }
        while ((await read(50)) > 0);
        await reader.close();
        expect(got.length + skipped).toBe(written);
        const there = readFileSync(live, 'utf8')
          .split('\n')
          .filter((text) => text.includes('"n"'));
        expect(got.slice(got.length - there.length)).toEqual(there);
      }),
      { numRuns: 80 },
    );
  });
});
