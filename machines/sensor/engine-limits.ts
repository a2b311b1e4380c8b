// The bounds of what a Sensor keeps of builds of its engine that were tried, and of an engine that outlives its Sensor,
// beside those of `machines/limits.ts`. decision: D50, D51
const KIB = 1_024;
const MIB = 1_024 * KIB;

/** So often a build is tried when the Sensor ended meanwhile each time. */
export const ENGINE_TRIALS_MAX = 2;
export const ENGINE_TRIALS_FILE_MAX_BYTES = 256 * KIB;

/** An engine whose Sensor was killed goes on for so long; the next one's takes over meanwhile. */
export const ENGINE_OUTLIVE_MS = 60_000;
/** And writes so much: less than its export keeps, so that nothing of it is removed unread. */
export const ENGINE_OUTLIVE_MAX_BYTES = 48 * MIB;
