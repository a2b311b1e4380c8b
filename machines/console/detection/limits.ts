// The numbers of alerts; every rule of `machines/limits.ts` holds here too.
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../units.ts';

// What one alert keeps beside its count.
export const ALERT_EVENTS_SHOWN_MAX = 50;
export const ALERT_HEADLINE_MAX_CHARS = 512;
export const ALERT_DETAIL_MAX_CHARS = 4_096;
export const ALERT_COMMENT_MAX_CHARS = 4_096;
export const ALERT_ASSIGNEE_MAX_CHARS = 128;
export const ALERT_GROUP_VALUE_MAX_CHARS = 256;

// What is taken at once.
export const ALERT_FINDINGS_MAX = 1_000;
export const ALERTS_IN_BULK_MAX = 200;

// How they reach webhooks, and how long they stay.
export const ALERT_TELL_MS = 1 * SECOND_MS;
export const ALERTS_TOLD_MAX = 200;
export const ALERTS_KEPT_MS = 90 * DAY_MS;
export const ALERTS_REMOVED_PER_RUN_MAX = 1_000;

// What a rule may be.
export const RULES_MAX = 10_000;
export const RULE_NAME_MAX_CHARS = 128;
export const RULE_TEXT_MAX_CHARS = 2_048;
export const RULE_STEPS_MAX = 8;
export const RULE_THRESHOLD_MAX = 1_000;
export const RULE_WINDOW_MAX_SECS = 86_400;
export const RULE_QUIET_MAX_SECS = 604_800;
export const RULE_GROUP_BY_MAX = 4;
export const RULE_SCOPE_MAX = 64;
export const RULE_MUTES_MAX = 256;
export const RULE_MAINTENANCE_MAX = 32;
export const RULE_VERSIONS_KEPT_MAX = 50;

// What a rule may hold and cost while it runs.
export const RULE_GROUPS_MAX = 10_000;
export const RULE_ENTRIES_MAX = 4_096;
export const RULE_STEP_ENTRIES_MAX = 64;
export const RULE_WATERMARK_MS = 60 * SECOND_MS;
export const RULE_MATCHES_PER_MINUTE_MAX = 6_000;
export const RULE_LIVE_ALERTS_MAX = 1_000;
export const RULE_COST_WINDOW_MS = 60 * SECOND_MS;
/** Of the time that passes: one rule may use so much of a core. */
export const RULE_COST_RATIO_MAX = 0.05;
/** So long rules judge before the gateway has its turn. */
export const RULES_MOMENT_MS = 10;
export const RULES_QUEUE_EVENTS_MAX = 50_000;
/** A batch that is stored later than this after its receipt may be judged once more. */
export const RULE_CURSOR_LAG_MS = 60 * SECOND_MS;
/** A cursor that stands still for so long is that of a Console that is gone. */
export const RULE_CURSOR_DEAD_MS = 300 * SECOND_MS;
/** How late an event may come and still find its window after a restart. */
export const RULE_LATE_MS = HOUR_MS;
export const RULES_LOOK_MS = 10 * SECOND_MS;
export const RULES_WORK_MS = 1 * SECOND_MS;
export const SENSOR_LABELS_MS = 30 * SECOND_MS;
export const FLEET_RULES_MS = 2 * SECOND_MS;
export const RULE_REPLAY_PAGE_EVENTS = 10_000;

// What one try of a rule may read and tell.
export const BACKTEST_EVENTS_MAX = 200_000;
export const BACKTEST_PAGE_EVENTS = 100_000;
export const BACKTEST_SAMPLES_MAX = 20;
export const BACKTEST_BARS = 60;
export const BACKTEST_RANGE_MAX_MS = 90 * DAY_MS;

// What is told of lost events.
export const COVERAGE_FINDINGS_MAX = 10_000;
export const COVERAGE_WATCH_MS = 5 * SECOND_MS;
