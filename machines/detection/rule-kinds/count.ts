// `count`: so many events within a window, of each group.
import Type from 'typebox';
import { RULE_THRESHOLD_MAX } from '../../limits.ts';
import { createGroups, foundOf, groupOf, stateKey } from '../rule-found.ts';
import { type CountGroup, createCountGroup } from '../rule-windows.ts';
import { ConditionText, oneCondition, type RuleKind, strict, WindowSecs } from './rule-kind.ts';

const Detect = Type.Object(
  {
    kind: Type.Literal('count'),
    condition: ConditionText,
    threshold: Type.Integer({ minimum: 2, maximum: RULE_THRESHOLD_MAX }),
    window_secs: WindowSecs,
  },
  strict,
);

export const count: RuleKind<typeof Detect> = {
  schema: Detect,
  ...{ mayBeOfFleet: true, seesAll: false, remembersCounted: true },
  conditions: oneCondition,
  windowSecs: (detect) => detect.window_secs,
  isOfTree: () => false,
  judge(rule, { threshold }) {
    const groups = createGroups<CountGroup>(() => createCountGroup(threshold, rule.windowMs));
    return (event, atMs, isCounted) => {
      const grouped = groupOf(rule, event);
      const found = groups.of(stateKey(rule, event, grouped)).take(event.event_id, atMs, isCounted);
      return found.length === 0 ? null : foundOf(event, grouped, found);
    };
  },
};
