// The bounds of tracing policies, for whoever writes, publishes or carries them out. The counts down to the bytes of a postfix are the
// policy language's own. decision: D45
import { MIB } from '../units.ts';

export const POLICY_SELECTORS_MAX = 5;
export const POLICY_ARGS_MAX = 5;
export const POLICY_PIDS_MAX = 4;
export const POLICY_VALUES_MAX = 4;
export const POLICY_TEXT_MAX_BYTES = 256;
export const POLICY_POSTFIX_MAX_BYTES = 128;
export const POLICY_MESSAGE_MAX_CHARS = 256;
export const POLICY_TAGS_MAX = 16;
export const POLICY_TAG_MAX_CHARS = 128;
export const POLICY_LABEL_MAX_CHARS = 64;
export const POLICY_ACTIONS_MAX = 4;
export const POLICY_BINARIES_MAX = 8;
export const POLICY_CAPABILITY_FILTERS_MAX = 4;
export const POLICY_HOOKS_MAX = 16;
export const POLICIES_MAX = 64;
export const POLICY_FILE_MAX_BYTES = 64 * 1_024;
export const POLICY_SIDECAR_MAX_BYTES = 256;
export const POLICY_YAML_DEPTH_MAX = 16;
export const POLICY_REFUSALS_MAX = 20;

// Of packs, what they are published as, and the keys they are signed with. decision: D80
export const PACK_POLICIES_MAX = 64;
export const PACK_BODY_MAX_BYTES = 4 * MIB;
export const PACK_NAMESPACES_MAX = 64;
export const PACK_ROLLBACKS_MAX = 64;
export const PACK_NAME_MAX_CHARS = 128;
export const SIGNING_KEYS_MAX = 8;
export const SIGNING_KEYS_MAX_BYTES = 4_096;
export const KEY_ROTATIONS_MAX = 64;
export const CONTAINMENT_REASON_MAX_CHARS = 512;
