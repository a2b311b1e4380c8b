// The bounds of policies for a Tetragon, which reads them by itself. decision: D46
export const TETRAGON_POLICY_CALL_TIMEOUT_MS = 30_000;
export const TETRAGON_POLICIES_MAX = 1_024;
export const TETRAGON_POLICY_MAX_BYTES = 1_048_576;
