// What a kind of alert rule is: its schema and type from one definition, and how it judges events. A file of this folder
// exports one under the name of its kind, and a line of `kind-list.ts` names it. decision: D131, D174
import Type, { type Static, type TSchema } from 'typebox';
import { RULE_WINDOW_MAX_SECS } from '../../limits.ts';
import { CONDITION_MAX_CHARS } from '../limits.ts';
import type { Judge, JudgedRule } from '../rule-found.ts';

export type KindConditions = readonly { readonly pointer: string; readonly text: string }[];

export type RuleKind<Schema extends TSchema = TSchema> = {
  /** Of `detect`, with the name of the kind in `kind`. */
  readonly schema: Schema;
  /** Whether it may be judged over all sensors. */
  readonly mayBeOfFleet: boolean;
  /** Whether it has to see every event of a sensor, also those that none of its conditions is true of. */
  readonly seesAll: boolean;
  /** Whether it has to know which events its alerts counted before. */
  readonly remembersCounted: boolean;
  /** Each with its place in `detect`. */
  conditions(detect: Static<Schema>): KindConditions;
  /** 0: none. */
  windowSecs(detect: Static<Schema>): number;
  /** Whether it follows processes, parents and ancestors. */
  isOfTree(detect: Static<Schema>): boolean;
  /** Begins one that has seen nothing; `isResumed`: it goes on where another ended. */
  judge(rule: JudgedRule, detect: Static<Schema>, isResumed: boolean): Judge;
};

export const strict = { additionalProperties: false } as const;
export const ConditionText = Type.String({
  minLength: 1,
  maxLength: CONDITION_MAX_CHARS,
  description: 'a condition: `event_kind:process_exec and binary:*curl`',
});
export const WindowSecs = Type.Integer({ minimum: 1, maximum: RULE_WINDOW_MAX_SECS });

/** Of a kind with one condition. */
export const oneCondition = ({ condition }: { readonly condition: string }): KindConditions => [
  { pointer: '/condition', text: condition },
];
