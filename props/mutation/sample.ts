// A sample of a folder that is asked by itself, for a machine that has no hours for the whole: `MUTATE_SAMPLE=0.2` takes a fifth of its
// lines, `MUTATE_SAMPLE=300` so many; which, `MUTATE_SEED` decides. A seed that nobody set is drawn, and printed.
import { randomInt } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const WINDOW_LINES = 25;
const NOT_MUTATED = /\.(test|fixture)\.ts$/;

export interface LineWindow {
  readonly file: string;
  readonly from: number;
  readonly to: number;
}

/** Every file of the folder cut into windows of consecutive lines. */
export function windowsOf(files: readonly { file: string; lines: number }[]): LineWindow[] {
  return files.flatMap(({ file, lines }) =>
    Array.from({ length: Math.ceil(lines / WINDOW_LINES) }, (_, at) => ({
      file,
      from: at * WINDOW_LINES + 1,
      to: Math.min((at + 1) * WINDOW_LINES, lines),
    })),
  );
}

const linesOf = (windows: readonly LineWindow[]) =>
  windows.reduce((sum, { from, to }) => sum + to - from + 1, 0);

/** Windows in an order that the seed alone decides, until they hold what is wanted: a share up to 1, or a number of lines. */
export function drawn(windows: readonly LineWindow[], wanted: number, seed: number): LineWindow[] {
  const lines = wanted <= 1 ? wanted * linesOf(windows) : wanted;
  const random = randomOf(seed);
  const ranked = windows
    .map((window) => ({ window, rank: random() }))
    .toSorted((a, b) => a.rank - b.rank);
  const taken: LineWindow[] = [];
  for (const { window } of ranked) {
    if (linesOf(taken) >= lines) break;
    taken.push(window);
  }
  return taken;
}

/** Mulberry32: small, and the same everywhere. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** What Stryker shall mutate of the folder, as ranges of lines; null: no sample was asked for. */
export function wantedSample(folder: string): string[] | null {
  const wanted = Number(process.env['MUTATE_SAMPLE'] ?? 0);
  if (!(wanted > 0)) return null;
  const seed = Number(process.env['MUTATE_SEED'] ?? randomInt(2 ** 31));
  const files = globSync(`${folder}/**/*.ts`, { cwd: ROOT })
    .filter((file) => !NOT_MUTATED.test(file))
    .toSorted()
    .map((file) => ({
      file,
      lines: readFileSync(join(ROOT, file), 'utf8').split('\n').length - 1,
    }));
  const all = windowsOf(files);
  const taken = drawn(all, wanted, seed);
  const share = ((100 * linesOf(taken)) / linesOf(all)).toFixed(1);
  process.stdout.write(
    `mutation sample: ${folder}, ${linesOf(taken)} of ${linesOf(all)} lines (${share} %), MUTATE_SEED=${seed}\n`,
  );
  return taken.map(({ file, from, to }) => `${file}:${from}-${to}`);
}
