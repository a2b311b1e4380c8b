// `absence`: nothing of the kind for a whole window. The sensor's own events are its clock: what is missing is missing when
// they have passed its window and the watermark.
import Type from 'typebox';
import { RULE_WATERMARK_MS } from '../../limits.ts';
import { createGroups, foundOf, NO_GROUP } from '../rule-found.ts';
import { ConditionText, oneCondition, type RuleKind, strict, WindowSecs } from './rule-kind.ts';

const Detect = Type.Object(
  { kind: Type.Literal('absence'), condition: ConditionText, window_secs: WindowSecs },
  strict,
);
type Silence = { newestMs: number; seenMs: number; isTold: boolean };

export const absence: RuleKind<typeof Detect> = {
  schema: Detect,
  ...{ mayBeOfFleet: false, seesAll: true, remembersCounted: false },
  conditions: oneCondition,
  windowSecs: (detect) => detect.window_secs,
  isOfTree: () => false,
  // One that is resumed calls nothing absent before it was seen.
  judge(rule, _, isResumed) {
    const sensors = createGroups<Silence>(() => ({
      ...{ newestMs: Number.NEGATIVE_INFINITY, seenMs: Number.NEGATIVE_INFINITY },
      isTold: isResumed,
    }));
    return (event, atMs) => {
      const own = sensors.of(event.sensor_id);
      if (own.newestMs === Number.NEGATIVE_INFINITY) own.seenMs = atMs;
      own.newestMs = Math.max(own.newestMs, atMs);
      if (rule.tests[0]?.(event) === true && atMs >= own.seenMs) {
        own.seenMs = atMs;
        own.isTold = false;
      }
      const isMissing = own.newestMs - RULE_WATERMARK_MS >= own.seenMs + rule.windowMs;
      if (!isMissing || own.isTold) return null;
      own.isTold = true;
      return { ...foundOf(event, NO_GROUP, []), sinceMs: own.seenMs };
    };
  },
};
