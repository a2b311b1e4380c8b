// `sequence`: steps in their order within a window, on one sensor or in one tree of processes.
import Type from 'typebox';
import { RULE_STEPS_MAX } from '../../limits.ts';
import { createGroups, foundOf, groupOf, stateKey } from '../rule-found.ts';
import { createSequenceGroup, type SequenceGroup } from '../rule-windows.ts';
import { treeKeyOf } from '../tree-key.ts';
import { ConditionText, type RuleKind, strict, WindowSecs } from './rule-kind.ts';

const Detect = Type.Object(
  {
    kind: Type.Literal('sequence'),
    steps: Type.Array(ConditionText, { minItems: 2, maxItems: RULE_STEPS_MAX }),
    window_secs: WindowSecs,
    by: Type.Enum(['sensor', 'process_tree'], {
      description: 'steps belong together on one sensor, or in one tree of processes',
    }),
  },
  strict,
);

export const sequence: RuleKind<typeof Detect> = {
  schema: Detect,
  ...{ mayBeOfFleet: false, seesAll: false, remembersCounted: true },
  conditions: ({ steps }) => steps.map((text, at) => ({ pointer: `/steps/${at}`, text })),
  windowSecs: (detect) => detect.window_secs,
  isOfTree: ({ by }) => by === 'process_tree',
  judge(rule, { steps: { length }, by }) {
    const groups = createGroups<SequenceGroup>(() => createSequenceGroup(length, rule.windowMs));
    return (event, atMs, isCounted) => {
      const steps = rule.tests.flatMap((test, step) => (test(event) ? [step] : []));
      if (steps.length === 0) return null;
      const tree = by === 'process_tree' ? treeKeyOf(event) : '';
      if (by === 'process_tree' && tree === '') return null;
      const grouped = groupOf(rule, event);
      const key = `${stateKey(rule, event, grouped)} ${tree}`;
      const found = groups.of(key).take(event.event_id, atMs, steps, isCounted);
      return found.length === 0 ? null : foundOf(event, grouped, found);
    };
  },
};
