// Seeded chance. Every part of the world draws from a fork with its own name, so that leaving out one fault or one
// sensor does not change what the others draw; that is what makes a failing run shrinkable.
export type Random = {
  /** At least 0, below 1. */
  next(): number;
  /** A whole number from `least` to `most`, both included. */
  between(least: number, most: number): number;
  chance(probability: number): boolean;
  pick<T>(from: readonly T[]): T;
  /** A waiting time with this mean, as between independent accidents. */
  exponential(mean: number): number;
  bytes(count: number): Buffer;
  /** An independent source; the same name always gives the same one. */
  fork(name: string): Random;
};

/** Makes the source of a seed. */
export function createRandom(seed: string): Random {
  let [a, b, c, d] = spread(seed);
  // sfc32: small, fast, and good enough to find faults with.
  function word(): number {
    const t = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + t) | 0;
    return t >>> 0;
  }
  for (let round = 0; round < 12; round += 1) word();
  const next = (): number => word() / 2 ** 32;
  return {
    next,
    between: (least, most) => least + Math.floor(next() * (most - least + 1)),
    chance: (probability) => next() < probability,
    pick(from) {
      const one = from[Math.floor(next() * from.length)];
      if (one === undefined) throw new Error('nothing to pick from');
      return one;
    },
    exponential: (mean) => -Math.log(1 - next()) * mean,
    bytes(count) {
      const made = Buffer.alloc(count);
      for (let at = 0; at < count; at += 1) made[at] = word() & 0xff;
      return made;
    },
    fork: (name) => createRandom(`${seed}/${name}`),
  };
}

/** Four words from a text (FNV-1a with four bases). */
function spread(text: string): [number, number, number, number] {
  const words = [0x811c9dc5, 0x9e3779b9, 0x85ebca6b, 0xc2b2ae35].map((base) => {
    let word = base | 0;
    for (let at = 0; at < text.length; at += 1) {
      word = Math.imul(word ^ text.charCodeAt(at), 0x01000193);
      word ^= word >>> 15;
    }
    return word | 0;
  });
  return words as [number, number, number, number];
}
