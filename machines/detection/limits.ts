// The bounds of conditions: what an operator types is bounded before it is looked at. decision: D97
export const CONDITION_MAX_CHARS = 4_096;
export const CONDITION_NODES_MAX = 256;
export const CONDITION_DEPTH_MAX = 32;
export const CONDITION_PATTERNS_MAX = 16;
export const CONDITION_PATTERN_MAX_CHARS = 512;
/** How often one pattern may ask for a repeat, all its bounded repeats multiplied. */
export const CONDITION_PATTERN_REPEATS_MAX = 1_000;
