// How often a property is tried. The quick run is for every change; .ci/run tries all of them whole, with a seed of its own.
const QUICK = 0.4;
const share = Number(process.env['PROPS_RUNS'] ?? QUICK);

/** So many runs of `all`, at least one, as PROPS_RUNS says: 1 is all of them. */
export function runs(all: number): number {
  return Math.max(1, Math.ceil(all * share));
}
