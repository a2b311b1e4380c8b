// Chance that can be had again: a small generator whose whole state comes from a text. Every input is made with a
// generator of its own, named after the run's seed, the target and the iteration.
import { createHash } from 'node:crypto';

export type Random = {
  /** At least 0, below 1. */
  unit(): number;
  /** A whole number at least 0 and below `end`; 0 when `end` is 1 or less. */
  below(end: number): number;
  /** True once in `times`. */
  once(times: number): boolean;
  /** One of a list that is not empty. */
  pick<T>(list: readonly T[]): T;
};

/** Makes a generator (sfc32) from a text; the same text gives the same numbers. */
export function randomOf(text: string): Random {
  const digest = createHash('sha256').update(text).digest();
  let [a, b, c, counter] = [0, 4, 8, 12].map((at) => digest.readInt32LE(at)) as [
    number,
    number,
    number,
    number,
  ];
  const unit = (): number => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 4_294_967_296;
  };
  const below = (end: number): number => Math.floor(unit() * Math.max(1, end));
  return {
    unit,
    below,
    once: (times) => below(times) === 0,
    pick<T>(list: readonly T[]): T {
      if (list.length === 0) throw new Error('nothing to pick from');
      return list[below(list.length)] as T;
    },
  };
}
