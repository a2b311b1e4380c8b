// At which steps a program is to die: what it did in a life that nobody cut tells how many there are. By default a seeded
// sample and the last ones; KILL_STEPS=all dies at each, few at a third of the sample, 10-19 at those. PROPS_SEED has a sample again.
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** What a program did: something of its own, something of a heartbeat, or what is only noted. */
export type Deed = {
  readonly nonce: string;
  readonly of: 'deed' | 'beat' | 'note';
  readonly label: string;
  readonly atMs: number;
  /** It died before it. */
  readonly isLast: boolean;
};
/** The n-th deed, or the n-th of what heartbeats do, since a program was armed. */
export type Step = { readonly of: 'deed' | 'beat'; readonly at: number };
export type Dying = {
  /** For the program that is to die. */
  readonly env: Readonly<Record<string, string>>;
  /** From now on deeds are noted, and it dies before this one; none: it goes on. */
  arm(step?: Step, isTorn?: boolean): void;
  disarm(): void;
  /** What was done since it was armed last. */
  deeds(): readonly Deed[];
};

const PRELOAD = pathToFileURL(join(import.meta.dirname, 'dying.js')).href;
const NEVER: Step = { of: 'deed', at: 1_000_000 };
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
    arm(step = NEVER, isTorn = false) {
      armed += 1;
      rmSync(join(folder, 'trace'), { force: true });
      const order = { nonce: String(armed), ...step, isTorn };
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

export const deedAt = (at: number): Step => ({ of: 'deed', at });
export const beatAt = (at: number): Step => ({ of: 'beat', at });
export const deedsIn = (all: readonly Deed[]): readonly Deed[] =>
  all.filter(({ of }) => of === 'deed');

/** Which of so many deeds to die at, the last ones among them, and so many of heartbeats. */
export function stepsOf(
  deeds: number,
  draw: () => number,
  more: { readonly sample: number; readonly last?: number; readonly beats?: number },
): Step[] {
  const isFew = process.env['KILL_STEPS'] === 'few';
  const sample = isFew ? Math.ceil(more.sample / 3) : more.sample;
  const last = isFew ? 1 : (more.last ?? LAST);
  const { beats = 0 } = more;
  const told = Array.from({ length: beats }, (_, at) => beatAt(at));
  const all = Array.from({ length: deeds }, (_, at) => deedAt(at));
  const wanted = process.env['KILL_STEPS'] ?? '';
  const [, from, to] = /^(\d+)-(\d+)$/.exec(wanted) ?? [];
  if (from !== undefined) return all.slice(Number(from), Number(to) + 1);
  if (wanted === 'all' || deeds <= sample) return [...all, ...told];
  const rest = all.slice(0, -last);
  while (rest.length > sample - last) rest.splice(Math.floor(draw() * rest.length), 1);
  return [...rest, ...all.slice(-last), ...told.filter(() => draw() < 0.5)];
}
