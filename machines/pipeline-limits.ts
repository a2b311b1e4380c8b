// The bounds of the Sensor's pipeline: how often it asks the node and its cluster, how long it remembers, how it learns
// habits. The rules of `limits.ts` hold here too: the unit last in the name, a row in LIMITS.md.
const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const MIB = 1_048_576;

export const PROCESS_LOOKS_PER_TICK_MAX = 64;
export const WORKLOADS_MAX = 4_096;
export const KUBERNETES_TIMEOUT_MS = 5 * SECOND_MS;
export const KUBERNETES_REFRESH_MS = MINUTE_MS;
export const KUBERNETES_REFRESH_MIN_MS = 5 * SECOND_MS;
export const KUBERNETES_ANSWER_MAX_BYTES = 16 * MIB;
export const KUBERNETES_PAGE_ITEMS = 500;
export const KUBERNETES_PAGES_MAX = 40;
export const KUBERNETES_OWNER_LISTS_MAX = 8;
export const DNS_NAMES_MAX = 8_192;
export const DNS_NAME_TTL_MS = 5 * MINUTE_MS;
export const BURST_MEMBERS_MIN = 10;
export const BASELINE_BINARIES_MAX = 512;
export const BASELINE_VALUES_MAX = 32;
export const BASELINE_TEXT_MAX_CHARS = 128;
export const BASELINE_WARM_UP_MS = 24 * HOUR_MS;
export const BASELINE_OBSERVATIONS_MIN = 20;
export const BASELINE_HALF_LIFE_MS = 7 * DAY_MS;
export const BASELINE_SAVE_INTERVAL_MS = 10 * MINUTE_MS;
export const BASELINE_TELL_INTERVAL_MS = HOUR_MS;
export const BASELINE_FILE_MAX_BYTES = 16 * MIB;
export const BASELINE_SECTION_MAX_BYTES = 1 * MIB;
export const PROCESS_CACHE_MAX = 8_192;
export const ANCESTOR_TEXT_MAX_CHARS = 256;
export const NETWORK_NAMESPACES_MAX = 256;
export const NETWORK_NAMESPACE_LOOKS_MAX = 1_024;
