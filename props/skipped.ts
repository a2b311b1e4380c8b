// No test is skipped unseen: what one run of the proof skipped has passed in another, or stands on the one list
// (`skipped.json`) with its reason. Reads reports of `vitest --reporter=json`.
//   node props/skipped.ts files REPORT...     the files in which something was skipped
//   node props/skipped.ts check REPORT...     ends with 1 when a skip has no reason, or a reason no skip
//   node props/skipped.ts check-without-root REPORT...   the same; tests that ask whether they have root may be skipped
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** A test as a report has it; `file` is the path below the checkout, whichever that was. */
export type Told = { readonly file: string; readonly name: string; readonly status: string };
/** Why tests of a file may be skipped everywhere: all of them, or those whose full name begins with `test`. */
export type Excuse = { readonly file: string; readonly test?: string; readonly reason: string };

type Report = {
  readonly testResults: readonly {
    readonly name: string;
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
};

const RAN: ReadonlySet<string> = new Set(['passed', 'failed']);
const ROOT = join(import.meta.dirname, '..');

/** The tests of a report. */
export function testsOf(report: Report): readonly Told[] {
  return report.testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map(({ fullName, status }) => ({
      file: placeOf(name),
      name: fullName,
      status,
    })),
  );
}

/** The path below the checkout: the longest end of it that is a file here. */
function placeOf(path: string): string {
  const parts = path.split('/');
  const ends = parts.map((_, at) => parts.slice(at).join('/'));
  return ends.find((end) => !end.startsWith('/') && existsSync(join(ROOT, end))) ?? path;
}

/** Files in which something did not run, each once. */
export function filesWithSkips(tests: readonly Told[]): readonly string[] {
  return [...new Set(tests.filter(({ status }) => !RAN.has(status)).map(({ file }) => file))];
}

/** What ran nowhere and is not excused, and excuses for what ran or is not there any more. */
export function mistakesOf(
  tests: readonly Told[],
  excuses: readonly Excuse[],
): { readonly unexcused: readonly string[]; readonly idle: readonly string[] } {
  const nameOf = ({ file, name }: Told): string => `${file}: ${name}`;
  const ran = new Set(tests.filter(({ status }) => RAN.has(status)).map(nameOf));
  const skipped = tests.filter((test) => !ran.has(nameOf(test)));
  const covers =
    ({ file, test }: Excuse) =>
    (one: Told): boolean =>
      one.file === file && one.name.startsWith(test ?? '');
  const unexcused = skipped.filter((test) => !excuses.some((excuse) => covers(excuse)(test)));
  const idle = excuses.filter((excuse) => !tests.some(covers(excuse)));
  return {
    unexcused: [...new Set(unexcused.map(nameOf))],
    idle: idle.map(({ file, test }) => `${file}: ${test ?? '*'}`),
  };
}

const ASKS_FOR_ROOT = /\bgetuid\?\.\(\) [!=]== 0/;
/** What tests share, of which what a test may ask is a part; the product is not. */
const IS_SHARED = /^props\/|(?:-rig|\.fixture|\.test)\.ts$/;

/** Whether a test file asks, itself or by what tests share, if it runs as root. */
export function asksForRoot(file: string, seen: Set<string> = new Set()): boolean {
  const path = join(ROOT, file);
  if (seen.has(file) || !IS_SHARED.test(file) || !existsSync(path)) return false;
  seen.add(file);
  const text = readFileSync(path, 'utf8');
  if (ASKS_FOR_ROOT.test(text)) return true;
  return [...text.matchAll(/from '(\.[^']+\.ts)'/g)].some(([, from = '']) =>
    asksForRoot(relative(ROOT, join(dirname(path), from)), seen),
  );
}

const NEEDS_ROOT = 'it asks for root, which this run has not';

/** Excuses of a run without root: one for each file with a skip that asks for it. */
export function excusesWithoutRoot(tests: readonly Told[]): readonly Excuse[] {
  return filesWithSkips(tests)
    .filter((file) => asksForRoot(file))
    .map((file) => ({ file, reason: NEEDS_ROOT }));
}

const ORDERS: readonly string[] = ['files', 'check', 'check-without-root'];

function run(order: string | undefined, paths: readonly string[]): number {
  if (order === undefined || !ORDERS.includes(order) || paths.length === 0) {
    process.stderr.write(`node props/skipped.ts ${ORDERS.join('|')} REPORT...\n`);
    return 64;
  }
  const read = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'));
  const tests = paths.flatMap((path) => testsOf(read(path) as Report));
  if (order === 'files') {
    for (const file of filesWithSkips(tests)) process.stdout.write(`${file}\n`);
    return 0;
  }
  const listed = read(join(import.meta.dirname, 'skipped.json')) as readonly Excuse[];
  const excuses = [...listed, ...(order === 'check' ? [] : excusesWithoutRoot(tests))];
  const { unexcused, idle } = mistakesOf(tests, excuses);
  for (const one of unexcused) process.stdout.write(`skipped without a reason: ${one}\n`);
  for (const one of idle) process.stdout.write(`excused, and not there: ${one}\n`);
  const count = tests.filter(({ status }) => !RAN.has(status)).length;
  process.stdout.write(`${tests.length} tests told, ${count} skips, ${excuses.length} excuses\n`);
  return unexcused.length + idle.length === 0 ? 0 : 1;
}

if (import.meta.main) process.exitCode = run(process.argv[2], process.argv.slice(3));
