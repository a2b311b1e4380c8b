// The reader of a rotating export on a real directory. The input is a script of bytes: what the engine appends, when it
// rotates, which files it removes, when the Sensor reads and when it begins again from its stored cursor. Every whole line
// comes once, in order, or is counted among those that were removed unread. Half of the scripts are of an engine that
// says in no file how many lines stood before it, and removes none.
import { appendFileSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { diskExport } from '../../../sensor/engine/export-files.ts';
import { cutLines } from '../../../sensor/engine/export-lines.ts';
import { createExportReader } from '../../../sensor/engine/export-reader.ts';
import { demand, demandSame, type FuzzTarget } from '../target.ts';

const STEPS_MAX = 40;
const ALL_LINES = 100_000;
/** In the first byte of a script. */
const NO_HEADS = 0x10;
const PIECES = [
  '{"n":#}\n',
  '{"n":#',
  '}\n',
  '\n',
  '{}\n{"n":#}\n{"x":"',
  '[]\n',
  'é"}\n',
  '{"a":"\r\n"}\n',
];

const target: FuzzTarget = {
  name: 'export-rotation',
  modules: [
    'sensor/engine/export-reader.ts',
    'sensor/engine/export-cursor.ts',
    'sensor/engine/export-files.ts',
  ],
  form: 'bytes',
  seeds: () => [
    Buffer.from([0, 0, 0xd0, 0xe0, 0, 0xd1]),
    Buffer.from([0, 1, 0xd2, 0xe0, 2, 0xd0, 0xf0, 0, 0xd0]),
    Buffer.from([4, 0xe0, 0xe0, 0, 0xf0, 0xd1, 0xf0, 6, 0xd3]),
    Buffer.from([0xd0, 0xe0, 0xd0, 0xf0]),
    Buffer.from([0, 0, 0xd0, 0xe8, 0, 0, 0xe8, 0xf0, 1, 0xe9, 0, 0xf0, 0xd2, 0xe8, 0]),
    Buffer.from([0, 0xe1, 4, 0xd1, 0xe1, 5, 0xe1, 6, 0xf0, 0xe8, 7]),
  ],
  async run(bytes, note) {
    const folder = mkdtempSync(join(tmpdir(), 'fuzz-export-'));
    try {
      await play(folder, bytes.subarray(0, STEPS_MAX), note);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
export default target;

async function play(
  folder: string,
  script: Buffer,
  note: (feature: string) => void,
): Promise<void> {
  const path = join(folder, 'export.log');
  const hasHeads = ((script[0] ?? 0) & NO_HEADS) === 0;
  let reader = createExportReader({ path, cursor: undefined, files: diskExport });
  let cursor: unknown;
  let [number, counted, live] = [0, 0, ''];
  const files: { readonly name: string; readonly text: string }[] = [];
  let kept = 0; // the first of them that is there
  const got: string[] = [];
  async function read(linesMax: number): Promise<void> {
    const batch = await reader.read(linesMax);
    demand(batch.lines.length <= linesMax, 'more lines than asked for');
    demand(hasHeads || batch.skippedLines === 0, 'a loss is told that did not happen');
    got.push(...batch.lines);
    counted += batch.lines.length + batch.skippedLines + batch.malformed;
    cursor = JSON.parse(JSON.stringify(batch.cursor ?? null));
  }
  function append(piece: string): void {
    if (live === '' && hasHeads) appendFileSync(path, headAfter(files.map(({ text }) => text)));
    appendFileSync(path, piece);
    live += piece;
  }
  if (hasHeads) append('{}\n');
  if (hasHeads) await read(1);
  for (const step of script) {
    const amount = step & 0x0f;
    if (step >= 0xf0) {
      await reader.close();
      reader = createExportReader({ path, cursor, files: diskExport });
    } else if (step >= 0xe0) {
      if (live === '') continue;
      const time = new Date((files.length + 1) * 1_000).toISOString().replace('Z', '');
      const name = join(folder, `export-${time.replaceAll(':', '-')}.log`);
      files.push({ name, text: live });
      live = '';
      renameSync(path, name);
      for (let gone = amount & 3; hasHeads && gone > 0 && kept < files.length; gone -= 1) {
        rmSync(files[kept]?.name ?? '');
        kept += 1;
      }
    } else if (step >= 0xd0) await read(1 + amount);
    else {
      const piece = (PIECES[step % PIECES.length] ?? '').replaceAll('#', () => String(++number));
      append(piece);
    }
  }
  if (hasHeads && live === '') append('{}\n');
  for (let before = -1; before !== got.length; ) {
    before = got.length;
    await read(ALL_LINES);
  }
  await reader.close();
  const texts = [...files.map(({ text }) => text), live];
  const expected = texts.flatMap((text) => cutLines(Buffer.from(text), ALL_LINES, ALL_LINES).lines);
  if (kept === 0) demandSame(got, expected, 'the lines of the export are not what was read');
  let at = 0;
  for (const line of got) {
    at = expected.indexOf(line, at) + 1;
    demand(at > 0, 'a line came twice, or before another that was written first');
  }
  // The last line of all still waits for its end.
  const torn = /[^\n]$/.test(texts.join('')) ? 1 : 0;
  const all = texts.reduce((sum, text) => sum + countOf(text), 0) - torn;
  demandSame(counted, all, 'what was read and what was counted are not what was written');
  note(`${Math.min(files.length, 4)} ${Math.min(kept, 4)} ${Math.min(got.length, 12)}`);
}

/** Lines of a file, also one without its end. */
function countOf(text: string): number {
  return text.split('\n').filter((line) => line !== '').length;
}

function headAfter(texts: readonly string[]): string {
  const lines_before = String(texts.reduce((sum, text) => sum + countOf(text), 0));
  const info = { lines_before, run: 'run', lines_before_run: '0' };
  return `${JSON.stringify({ export_info: info })}\n`;
}
