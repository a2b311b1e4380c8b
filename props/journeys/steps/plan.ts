// At which steps a program is to die: what it did in a life that nobody cut tells how many there are. By default a seeded
// sample and the last ones; KILL_STEPS=all dies at each, KILL_STEPS=10-19 at those. PROPS_SEED has a sample again.
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** One deed of a program: before it, or at its end. */
export type Deed = {
  readonly nonce: string;
  /** -1 = no step, only noted. */
  readonly count: number;
  readonly label: string;
  readonly atMs: number;
  readonly pid: number;
  /** It died here. */
  readonly isLast: boolean;
};
export type Dying = {
  /** For the program that is to die. */
  readonly env: Readonly<Record<string, string>>;
  /** From now on deeds are noted, and `at` counts them; none: it goes on. */
  arm(at?: number, isTorn?: boolean): void;
  disarm(): void;
  /** What was done since it was armed last. */
  deeds(): readonly Deed[];
};

const PRELOAD = pathToFileURL(join(import.meta.dirname, 'dying.js')).href;
const NEVER = 1_000_000;
const LAST = 4;

/** A place from where one program, known by its entry, is told to die. */
export function dyingIn(folder: string, entry: string): Dying {
  mkdirSync(folder, { recursive: true });
  let armed = 0;
  return {
    env: {
      NODE_OPTIONS: `--import=${PRELOAD}`,
      DYING_FOLDER: folder,
      DYING_PROGRAM: basename(entry),
    },
    arm(at = NEVER, isTorn = false) {
      armed += 1;
      rmSync(join(folder, 'trace'), { force: true });
      const order = { nonce: String(armed), at, isTorn };
      writeFileSync(join(folder, 'next.json'), JSON.stringify(order));
      renameSync(join(folder, 'next.json'), join(folder, 'armed.json'));
    },
    disarm: () => rmSync(join(folder, 'armed.json'), { force: true }),
    deeds() {
      try {
        const lines = readFileSync(join(folder, 'trace'), 'utf8').split('\n').filter(Boolean);
        return lines
          .map((line) => JSON.parse(line) as Deed)
          .filter(({ nonce }) => nonce === String(armed));
      } catch {
        return [];
      }
    },
  };
}

/** Numbers from 0 up to 1 that a seed decides. */
export function drawsOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Which of `steps` to die at, the last ones among them. */
export function stepsOf(
  steps: number,
  draw: () => number,
  { sample, last = LAST }: { readonly sample: number; readonly last?: number },
): readonly number[] {
  const all = Array.from({ length: steps }, (_, at) => at);
  const wanted = process.env['KILL_STEPS'] ?? '';
  const [, from, to] = /^(\d+)-(\d+)$/.exec(wanted) ?? [];
  if (from !== undefined) return all.slice(Number(from), Number(to) + 1);
  if (wanted === 'all' || steps <= sample) return all;
  const rest = all.slice(0, -last);
  while (rest.length > sample - last) rest.splice(Math.floor(draw() * rest.length), 1);
  return [...rest, ...all.slice(-last)];
}
