// A part of a long series: SIMULATION_SHARE=6 SIMULATION_AT=1 takes every sixth of it, from the second on. `.ci/run` takes
// another part each time, `.ci/nightly simulated` takes all. decision: D57
const share = Number(process.env['SIMULATION_SHARE'] ?? 1);
const from = Number(process.env['SIMULATION_AT'] ?? 0);

/** The part that is wanted of a series; at least one of it. `rarer`: as much less of what takes so much longer. */
export function shareOf<T>(all: readonly T[], rarer = 1): readonly T[] {
  const step = share === 1 ? 1 : share * rarer;
  const first = from % Math.min(step, all.length);
  return all.filter((_, at) => at % step === first);
}
