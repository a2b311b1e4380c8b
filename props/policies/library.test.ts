// The starter library as text: every policy is one that the judge takes, for both engines that carry policies out, and says
// what it looks for and why.
import { describe, expect, it } from 'vitest';
import { parsePolicy } from '../../actors/runtime/parse-policy.ts';
import { readLibrary } from '../../gateway/policy-library/read-library.ts';
import { enginesFor, hooksOf } from '../../machines/policy/engines.rules.ts';
import { POLICIES_MAX } from '../../machines/policy/limits.ts';
import { TRIGGERS } from './triggers.ts';

const library = await readLibrary();

describe('the starter library', () => {
  it('should have at least twenty policies, as many as a node can carry out at most, and a trigger for each', () => {
    expect(library.length).toBeGreaterThanOrEqual(20);
    expect(library.length).toBeLessThanOrEqual(POLICIES_MAX);
    expect(Object.keys(TRIGGERS).sort()).toEqual(library.map(({ name }) => name));
  });

  it.each(library)(
    'should have in $name a policy for every engine, with its technique and why',
    (one) => {
      const result = parsePolicy(one.yaml);
      if (!result.ok) throw new Error(JSON.stringify(result.refusals));
      expect(result.policy.name).toBe(one.name);
      expect(enginesFor(one.name, result)).toEqual(['ebpf', 'tetragon']);
      expect(one.technique).toMatch(/^T\d{4}(\.\d{3})?$/);
      expect(one.why).toMatch(/^[A-Z].{30,}\.$/);
      for (const hook of result.policy.hooks) {
        expect(hook.tags).toEqual([one.technique]);
        expect(hook.message).toMatch(/^[A-Z]/);
      }
      // A starter tells; what it stops is for its operator to say.
      for (const hook of hooksOf(result.policy.hooks)) {
        expect([hook.acts, hook.needs]).toEqual([[], null]);
      }
    },
  );
});
