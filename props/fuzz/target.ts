// What a fuzz target is: one parser that reads bytes from outside, inputs to begin with, and the promises it keeps
// whatever the bytes are.
import type { Random } from './random.ts';

/** Tells of something this input showed; an input that shows something new is kept. */
export type Note = (feature: string) => void;

export type FuzzTarget = {
  /** Also the name of its folders under `corpus/` and `crashes/`. */
  readonly name: string;
  /** Ends of the paths of the modules whose blocks guide the search. */
  readonly modules: readonly string[];
  /** `json`: one document; `lines`: one JSON document a line; the general mutator changes their nodes as well. */
  readonly form: 'json' | 'lines' | 'text' | 'bytes';
  /** Words worth putting into an input. */
  readonly dictionary?: readonly string[];
  /** Valid and hostile inputs to begin with. The same on every call. */
  seeds(): readonly Buffer[];
  /** Changes an input in the target's own structure; half of the inputs are made so. */
  mutate?(bytes: Buffer, random: Random): Buffer;
  /** Feeds the parser. Throws or rejects when a promise is broken. */
  run(bytes: Buffer, note: Note): void | Promise<void>;
};

export class BrokenPromise extends Error {}

/** Throws unless the promise holds. */
export function demand(holds: boolean, promise: string): asserts holds {
  if (!holds) throw new BrokenPromise(promise);
}

/** Throws unless both values are the same JSON text; `-0` and `0` are. */
export function demandSame(left: unknown, right: unknown, promise: string): void {
  const [a, b] = [JSON.stringify(left), JSON.stringify(right)];
  demand(a === b, `${promise}: ${a?.slice(0, 200)} and ${b?.slice(0, 200)}`);
}

/** The end of a sentence about a mistake, without the names and numbers that the input gave it. */
export function lastWords(mistake: string): string {
  const told = /: ([^:]*) at line \d+, column \d+/.exec(mistake)?.[1];
  const words = told ?? mistake.split(': ').at(-1) ?? '';
  return words.replaceAll(/[^A-Za-z ]+/g, '#').slice(0, 24);
}
