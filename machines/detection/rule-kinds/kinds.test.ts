import { expect, it } from 'vitest';
import { compileRule } from '../rule-compile.ts';
import type { RuleSpec } from '../rule-spec.ts';
import * as LIST from './kind-list.ts';

it('should know each kind under the name that its schema has', () => {
  for (const [name, { schema }] of Object.entries(LIST)) {
    expect(schema.properties.kind.const).toBe(name);
  }
});

it('should refuse a rule of a kind that it does not know, as a later version may leave one', () => {
  const detect = { kind: 'later', condition: 'uid:0' };
  const spec = { rule_name: 'one', severity: 'high', detect } as unknown as RuleSpec;
  expect(compileRule('one', spec)).toEqual({
    ok: false,
    faults: [{ pointer: '/detect/kind', detail: 'there is no kind later' }],
  });
});

it('should say of each kind whether it may be of the fleet, sees every event, and remembers what it counted', () => {
  const table = Object.entries(LIST).map(([name, kind]) => {
    const { mayBeOfFleet, seesAll, remembersCounted } = kind;
    return [name, mayBeOfFleet, seesAll, remembersCounted];
  });
  expect(table.toSorted()).toEqual([
    ['absence', false, true, false],
    ['count', true, false, true],
    ['match', true, false, false],
    ['sequence', false, false, true],
  ]);
});
