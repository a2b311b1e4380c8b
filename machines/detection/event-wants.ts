// What of an event a rule reads: who tries one on many stored events asks for no more. decision: D131
import { type Condition, WORD_FIELDS } from './condition.ts';
import type { FieldName } from './fields.ts';
import type { CompiledRule } from './rule-compile.ts';
import { kindOf } from './rule-kinds/kinds.ts';

export type EventWants = {
  readonly fields: readonly FieldName[];
  /** Also process, parent and ancestors whole: a tree of processes is followed. */
  readonly isOfTree: boolean;
};

/** The fields of a rule's conditions and of what it groups by, each once, and whether it follows a tree of processes. */
export function wantsOf({ spec, conditions, groupBy }: CompiledRule): EventWants {
  const { detect } = spec;
  return {
    fields: [...new Set([...conditions.flatMap(fieldsOf), ...groupBy])],
    isOfTree: kindOf(detect).isOfTree(detect),
  };
}

function fieldsOf(condition: Condition): readonly FieldName[] {
  switch (condition.is) {
    case 'all':
    case 'either':
      return condition.of.flatMap(fieldsOf);
    case 'not':
      return fieldsOf(condition.of);
    case 'words':
      return WORD_FIELDS;
    default:
      return [condition.field];
  }
}
