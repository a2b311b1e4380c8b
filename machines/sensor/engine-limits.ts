// The bounds of what a Sensor keeps of builds of its engine that were tried, beside those of `machines/limits.ts`.
// decision: D50
const KIB = 1_024;

/** So often a build is tried when the Sensor ended meanwhile each time. */
export const ENGINE_TRIALS_MAX = 2;
export const ENGINE_TRIALS_FILE_MAX_BYTES = 256 * KIB;
