// The numbers of what operators sort the fleet by; every rule of `machines/limits.ts` holds here too.

// Teams, groups and tags.
export const LABEL_NAME_MAX_CHARS = 64;
export const LABEL_DESCRIPTION_MAX_CHARS = 512;
export const TAG_MAX_CHARS = 64;
export const TAGS_PER_SENSOR_MAX = 32;
export const GROUPS_PER_SENSOR_MAX = 32;
export const TEAMS_MAX = 1_000;
export const GROUPS_MAX = 1_000;
export const TEAM_USERS_MAX = 1_000;
export const TEAM_SENSORS_MAX = 10_000;
export const GROUP_SENSORS_MAX = 20_000;
export const USER_SENSORS_MAX = 10_000;
export const MEMBERSHIP_CHANGES_MAX = 1_000;
/** Sensors of one bulk act. */
export const BULK_SENSORS_MAX = 500;
