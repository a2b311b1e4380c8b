// Names that the specification fixes and a later capability will use. These lists may only shrink.
export const LATER_CODES: readonly string[] = [];
export const LATER_LIMITS: readonly string[] = [
  'CASE_TITLE_MAX_CHARS',
  'FEDERATION_PUSH_INTERVAL_MS',
  'OPSGENIE_DESCRIPTION_MAX_CHARS',
  'OPSGENIE_MESSAGE_MAX_CHARS',
  'PAGERDUTY_SUMMARY_MAX_CHARS',
  'QUEUE_RECOMMENDED_NODES',
  'WEBHOOK_TIMEOUT_MS',
];
