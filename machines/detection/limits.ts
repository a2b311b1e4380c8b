// The bounds of conditions: what an operator types is bounded before it is looked at. decision: D97
import { MIB } from '../units.ts';

export const CONDITION_MAX_CHARS = 4_096;
export const CONDITION_NODES_MAX = 256;
export const CONDITION_DEPTH_MAX = 32;
export const CONDITION_PATTERNS_MAX = 16;
export const CONDITION_PATTERN_MAX_CHARS = 512;
/** How often one pattern may ask for a repeat, all its bounded repeats multiplied. */
export const CONDITION_PATTERN_REPEATS_MAX = 1_000;

// What one question for events may cost the store, and how many are answered at once.
export const SEARCH_READ_ROWS_MAX = 200_000_000;
export const SEARCH_READ_MAX_BYTES = 32_768 * MIB;
export const SEARCH_MEMORY_MAX_BYTES = 512 * MIB;
export const SEARCH_CONDITION_MAX_CHARS = 2_048;
export const SEARCHES_AT_ONCE_MAX = 8;
export const SEARCHES_OF_ONE_MAX = 3;
export const SEARCHES_WAITING_OF_ONE_MAX = 16;
export const HISTOGRAM_BARS_MAX = 500;
export const HISTOGRAM_BARS_DEFAULT = 60;
export const TOP_VALUES_MAX = 100;
export const TOP_VALUES_DEFAULT = 10;

// The tree of one process.
export const PROCESS_TREE_NODES_MAX = 500;
export const PROCESS_TREE_DEPTH_MAX = 8;
export const PROCESS_TREE_EVENTS_MAX = 2_000;
