// The bounds of policies for a Tetragon, which reads them by itself. decision: D46
export const TETRAGON_POLICY_CALL_TIMEOUT_MS = 30_000;
export const TETRAGON_POLICIES_MAX = 1_024;
export const TETRAGON_POLICY_MAX_BYTES = 1_048_576;
/** Packs whose highest version a node remembers; one more is refused. */
export const NODE_PACKS_MAX = 128;
export const POLICY_RETRY_MIN_MS = 1_000;
export const POLICY_RETRY_MAX_MS = 60_000;
/** So long an engine may take to say what became of a set. */
export const POLICY_CONFIRM_TIMEOUT_MS = 15_000;
