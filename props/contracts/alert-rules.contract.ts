// The promises of the store of alert rules: a change counts on the version that was read, versions say who changed what, and
// a cursor never goes back. decision: D131
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { RuleSpec } from '../../machines/detection/rule-spec.ts';
import type { AuditLog } from '../../storage/ports/audit/audit-log.ts';
import type { RuleStore } from '../../storage/ports/detection/rule-store.ts';
import { expectAwayAndBack, type Harness } from './away.ts';
import { HOSTILE, NOW_MS } from './samples.ts';

const doing = { actor: 'user:ada', from: '192.0.2.1', nowMs: NOW_MS };
const specOf = (rule_name: string): RuleSpec => ({
  ...{ rule_name, severity: 'high', description: HOSTILE },
  detect: { kind: 'match', condition: 'event_kind:process_exec' },
});

export function alertRulesContract(
  harness: Harness<{ readonly alertRules: RuleStore; readonly audit: AuditLog }>,
): void {
  const { port } = harness;
  const put = (ruleId: string, version: number | null, name = 'a', nowMs = NOW_MS) =>
    port().alertRules.put({ ...doing, nowMs, ruleId, version, spec: specOf(name) });

  describe('alert rules', () => {
    it('should keep each version with who made it, and change only what was read', async () => {
      const ruleId = randomUUID();
      expect(await put(ruleId, 1)).toBe('not_found');
      const made = await put(ruleId, null);
      expect(made).toMatchObject({ ruleId, version: 1, pause: null, changedBy: 'user:ada' });
      expect(await put(ruleId, null)).toBe('conflict');
      expect(await put(ruleId, 2)).toBe('conflict');
      const changed = await put(ruleId, 1, 'b', NOW_MS + 5);
      expect(changed).toMatchObject({
        ...{ version: 2, createdAtMs: NOW_MS, activeSinceMs: NOW_MS + 5 },
        spec: specOf('b'),
      });
      const found = await port().alertRules.get(ruleId);
      expect(found?.row).toEqual(changed);
      expect(found?.versions.map((one) => [one.version, one.spec.rule_name, one.actor])).toEqual([
        [2, 'b', 'user:ada'],
        [1, 'a', 'user:ada'],
      ]);
      const [audited] = await port().audit.recent(1);
      expect(audited).toMatchObject({
        ...{ action: 'alert_rule.change', target: ruleId, result: 'ok' },
        ...{ before: { rule_name: 'a' }, after: { rule_name: 'b' } },
      });
      expect((await port().alertRules.list()).some((row) => row.ruleId === ruleId)).toBe(true);
    });

    it('should pause the version in force once, and run again with the next', async () => {
      const ruleId = randomUUID();
      await put(ruleId, null);
      const pause = { reason: 'too_costly', detail: HOSTILE, atMs: NOW_MS } as const;
      const { alertRules } = port();
      expect(await alertRules.pause({ ruleId, version: 2, pause })).toBe(false);
      expect(await alertRules.pause({ ruleId, version: 1, pause })).toBe(true);
      expect(await alertRules.pause({ ruleId, version: 1, pause })).toBe(false);
      expect((await alertRules.get(ruleId))?.row.pause).toEqual(pause);
      expect(await put(ruleId, 1)).toMatchObject({ version: 2, pause: null });
    });

    it('should remove a rule with its versions', async () => {
      const ruleId = randomUUID();
      await put(ruleId, null);
      expect(await port().alertRules.remove({ ...doing, ruleId })).toBe(true);
      expect(await port().alertRules.remove({ ...doing, ruleId })).toBe(false);
      expect(await port().alertRules.get(ruleId)).toBeNull();
    });

    it('should never move a cursor back', async () => {
      const name = randomUUID();
      const { alertRules } = port();
      expect(await alertRules.cursor(name)).toBeNull();
      await alertRules.advance({ name, receivedMs: NOW_MS });
      await alertRules.advance({ name, receivedMs: NOW_MS - 1 });
      expect(await alertRules.cursor(name)).toBe(NOW_MS);
    });

    it('should move a cursor only from where it was seen, where that is asked', async () => {
      const name = randomUUID();
      const { alertRules } = port();
      const later = { name, receivedMs: NOW_MS + 1 };
      expect(await alertRules.advance({ name, receivedMs: NOW_MS, fromMs: null })).toBe(true);
      expect(await alertRules.advance({ ...later, fromMs: null })).toBe(false);
      expect(await alertRules.advance({ ...later, fromMs: NOW_MS - 1 })).toBe(false);
      expect(await alertRules.cursor(name)).toBe(NOW_MS);
      expect(await alertRules.advance({ ...later, fromMs: NOW_MS })).toBe(true);
      expect(await alertRules.cursor(name)).toBe(NOW_MS + 1);
    });

    it('should forget a cursor that did not move, and no other', async () => {
      const { alertRules } = port();
      const [still, moved] = [randomUUID(), randomUUID()];
      for (const name of [still, moved]) await alertRules.advance({ name, receivedMs: NOW_MS });
      await alertRules.advance({ name: moved, receivedMs: NOW_MS + 1 });
      for (const name of [still, moved]) await alertRules.dropCursor({ name, receivedMs: NOW_MS });
      const left = await alertRules.cursors();
      expect([left.get(still), left.get(moved)]).toEqual([undefined, NOW_MS + 1]);
    });

    it('should reject while the store is away and work afterwards', async () => {
      const ruleId = randomUUID();
      await expectAwayAndBack(harness, [
        () => port().alertRules.list(),
        () => port().alertRules.get(ruleId),
        () => port().alertRules.cursor('none'),
        () => port().alertRules.cursors(),
      ]);
    });
  });
}
