// Every kind of alert rule by its name, and the schema that joins them. decision: D131, D174
import Type, { type Static, type TSchema } from 'typebox';
import * as LIST from './kind-list.ts';
import type { RuleKind } from './rule-kind.ts';

type StaticOf<Schema> = Schema extends TSchema ? Static<Schema> : never;
export type RuleDetect = StaticOf<(typeof LIST)[keyof typeof LIST]['schema']>;
const KINDS: Readonly<Record<RuleDetect['kind'], RuleKind>> = LIST;

export const RuleDetect = Type.Unsafe<RuleDetect>(
  Type.Union(Object.values(KINDS).map(({ schema }) => schema)),
);

export function kindOf({ kind }: RuleDetect): RuleKind {
  return KINDS[kind];
}
