// Names that the specification fixes and a later capability will use. These lists may only shrink.
export const LATER_CODES: readonly string[] = [];
export const LATER_LIMITS: readonly string[] = [
  'FEDERATION_PUSH_INTERVAL_MS',
  'QUEUE_RECOMMENDED_NODES',
];
