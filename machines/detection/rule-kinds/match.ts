// `match`: every event of which the condition is true.
import Type from 'typebox';
import { foundOf, groupOf } from '../rule-found.ts';
import { ConditionText, oneCondition, type RuleKind, strict } from './rule-kind.ts';

const Detect = Type.Object({ kind: Type.Literal('match'), condition: ConditionText }, strict);

export const match: RuleKind<typeof Detect> = {
  schema: Detect,
  ...{ mayBeOfFleet: true, seesAll: false, remembersCounted: false },
  conditions: oneCondition,
  windowSecs: () => 0,
  isOfTree: () => false,
  judge: (rule) => (event, atMs) =>
    foundOf(event, groupOf(rule, event), [{ id: event.event_id, atMs }]),
};
