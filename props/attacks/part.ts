// A part of a long series, for stores on which all of it takes too long: `npm run test:services` takes one in
// ATTACKS_SHARE, by the seed of the run, `.ci/nightly attacks` takes all. decision: D57
const share = Number(process.env['ATTACKS_SHARE'] ?? 12);
const seed = Number(process.env['PROPS_SEED'] ?? 0);

/** One in so many, another one with each seed; at least one of them. */
export function partOf<T>(series: readonly T[]): readonly T[] {
  const first = seed % Math.min(share, series.length);
  return series.filter((_, at) => at % share === first);
}
