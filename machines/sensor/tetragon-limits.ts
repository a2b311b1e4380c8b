// The bounds of Tetragon as the engine, beside those of `machines/limits.ts`: its bundle, its service, its export and its
// memory. decision: D46
const SECOND_MS = 1_000;
const KIB = 1_024;
const MIB = 1_024 * KIB;

export const TETRAGON_MEMORY_MAX_BYTES = 1_024 * MIB;
export const TETRAGON_BUNDLE_BYTES_MAX = 1_024 * MIB;
export const TETRAGON_BUNDLE_ENTRIES_MAX = 4_096;
export const TETRAGON_BUNDLE_NAME_MAX_BYTES = 4 * KIB;
export const TETRAGON_EXPORT_FILE_MIB = 50;
export const TETRAGON_EXPORT_BACKUPS_MAX = 10;
export const TETRAGON_READY_POLL_MS = 100;
export const TETRAGON_ALIVE_INTERVAL_MS = 2 * SECOND_MS;
export const TETRAGON_LOSS_INTERVAL_MS = 15 * SECOND_MS;
export const TETRAGON_LOSS_ANSWER_MAX_BYTES = 64 * MIB;
export const TETRAGON_CALL_TIMEOUT_MS = 5 * SECOND_MS;
// The kernel allows 107; Tetragon makes its socket in a folder beside the place first, which takes 29 more.
export const UNIX_SOCKET_PATH_MAX_BYTES = 78;
