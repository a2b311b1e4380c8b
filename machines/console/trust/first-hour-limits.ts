// Limits of a Console's and a node's first hour. Each stands in machines/LIMITS.md.

/** How long a node waits for a Sensor's package that is being made. */
export const RETRY_AFTER_PACKAGE_MS = 5_000;
/** Nodes that fetch the package at once. */
export const SENSOR_PACKAGE_DOWNLOADS_MAX = 32;
/** How long making the package may take. */
export const SENSOR_PACKAGE_MAKING_MS = 300_000;
/** What both embedded databases need at their first start, with room to keep the first events. */
export const START_DISK_FREE_MIN_BYTES = 268_435_456;
/** What both embedded databases and the Console need to start; below it the kernel ends one of them at some later moment. */
export const START_MEMORY_FREE_MIN_BYTES = 536_870_912;
