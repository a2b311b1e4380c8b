// The reader of a rotating export on a real directory. The input is a script of bytes: what the engine appends, when it
// rotates, when the Sensor reads and when it begins again from its stored cursor. Every whole line comes once, in order.
import { appendFileSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { diskExport } from '../../../sensor/engine/export-files.ts';
import { cutLines } from '../../../sensor/engine/export-lines.ts';
import { createExportReader } from '../../../sensor/engine/export-reader.ts';
import { demand, demandSame, type FuzzTarget } from '../target.ts';

const STEPS_MAX = 40;
const ALL_LINES = 100_000;
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
  let reader = createExportReader({ path, cursor: undefined, files: diskExport });
  let cursor: unknown;
  let [rotations, number] = [0, 0];
  let live = '';
  const files: string[] = [];
  const got: string[] = [];
  async function read(linesMax: number): Promise<void> {
    const batch = await reader.read(linesMax);
    demand(batch.lines.length <= linesMax, 'more lines than asked for');
    demand(batch.skippedLines === 0, 'a loss is told that did not happen');
    got.push(...batch.lines);
    cursor = JSON.parse(JSON.stringify(batch.cursor ?? null));
  }
  for (const step of script) {
    const amount = step & 0x0f;
    if (step >= 0xf0) {
      await reader.close();
      reader = createExportReader({ path, cursor, files: diskExport });
    } else if (step >= 0xe0) {
      if (live === '') continue;
      files.push(live);
      live = '';
      rotations += 1;
      const time = new Date(rotations * 1_000).toISOString().replace('Z', '').replaceAll(':', '-');
      renameSync(path, join(folder, `export-${time}.log`));
    } else if (step >= 0xd0) await read(1 + amount);
    else {
      const piece = (PIECES[step % PIECES.length] ?? '').replaceAll('#', () => String(++number));
      appendFileSync(path, piece);
      live += piece;
    }
  }
  for (let before = -1; before !== got.length; ) {
    before = got.length;
    await read(ALL_LINES);
  }
  await reader.close();
  const expected = [...files, live].flatMap(
    (text) => cutLines(Buffer.from(text), ALL_LINES, ALL_LINES).lines,
  );
  demandSame(got, expected, 'the lines of the export are not what was read');
  note(`${Math.min(rotations, 4)} ${Math.min(got.length, 12)}`);
}
