// The promises of the store of policies: one revision, a commit whole or not at all, what is published never changes.
import { describe, expect, it } from 'vitest';
import type { PackRow, PolicyChange } from '../../machines/console/policy/book.rules.ts';
import type { AuditLog } from '../../storage/ports/audit/audit-log.ts';
import type { PolicyStore } from '../../storage/ports/policy/policy-store.ts';
import { expectAwayAndBack, type Harness } from './away.ts';
import { HOSTILE, hex, NOW_MS } from './samples.ts';

type Ports = { readonly policies: PolicyStore; readonly audit: AuditLog };

export function policyStoreContract(harness: Harness<Ports>): void {
  const store = () => harness.port().policies;
  const packOf = (packId: string, name = HOSTILE): PackRow => ({
    ...{ packId, name, flavor: 'standard', createdAtMs: NOW_MS, createdBy: 'op' },
    ...{ draftRevision: 1, latestVersion: null },
  });
  const put = (head: PackRow, body?: unknown): PolicyChange => ({
    ...{ kind: 'pack', id: head.packId, head },
    ...(body === undefined ? {} : { body }),
  });
  const entry = (target: string) => ({
    ...({ atMs: NOW_MS, actor: 'op', action: 'pack.create', target, result: 'ok' } as const),
    ...{ detail: {}, before: null, after: { manifest_sha256: 'a' } },
  });
  const commit = async (changes: readonly PolicyChange[], target = hex(8)) =>
    store().commit({
      revision: await store().revision(),
      nowMs: NOW_MS,
      changes,
      audit: [entry(target)],
    });
  const headOf = async (id: string) =>
    (await store().load()).documents.find((one) => one.id === id)?.head;

  describe('policy store', () => {
    it('should give every document back as it was put, and its body byte for byte', async () => {
      const row = packOf(hex(8));
      const body = { policies: [{ name: 'a', yaml: 'b: 2\r\na: 1\n\u2028é "\\' }], z: 1, a: [] };
      const before = await store().revision();
      expect(await commit([put(row, body)], row.packId)).toBe(before + 1);
      expect(await headOf(row.packId)).toEqual(row);
      const found = await store().body('pack', row.packId);
      expect(JSON.stringify(found)).toBe(JSON.stringify(body));
      expect((await harness.port().audit.recent(1))[0]).toMatchObject({
        action: 'pack.create',
        target: row.packId,
        after: { manifest_sha256: 'a' },
      });
    });

    it('should keep a body that a change does not name, and forget what is removed', async () => {
      const row = packOf(hex(8));
      await commit([put(row, { one: 1 })]);
      await commit([put({ ...row, draftRevision: 2 })]);
      expect(await headOf(row.packId)).toMatchObject({ draftRevision: 2 });
      expect(await store().body('pack', row.packId)).toEqual({ one: 1 });
      await commit([{ kind: 'pack', id: row.packId, head: null }]);
      expect(await headOf(row.packId)).toBeUndefined();
      expect(await store().body('pack', row.packId)).toBeNull();
    });

    it('should count one of two commits that were judged on the same revision', async () => {
      const revision = await store().revision();
      const ids = [hex(8), hex(8)];
      const answers = await Promise.all(
        ids.map((id) =>
          store().commit({
            ...{ revision, nowMs: NOW_MS, changes: [put(packOf(id))], audit: [entry(id)] },
          }),
        ),
      );
      expect(answers.filter((one) => one !== null)).toEqual([revision + 1]);
      const heads = await Promise.all(ids.map(headOf));
      expect(heads.filter((one) => one !== undefined)).toHaveLength(1);
      const told = (await harness.port().audit.recent(100)).map(({ target }) => target);
      expect(ids.filter((id) => told.includes(id))).toHaveLength(1);
    });

    it('should never change what is published, and nothing else of such a commit', async () => {
      const id = `${hex(8)}/1`;
      const head = { manifestSha256: 'a' } as never;
      await commit([{ kind: 'version', id, head, body: { yaml: 'first' } }]);
      const revision = await store().revision();
      const other = packOf(hex(8));
      const again: PolicyChange = { kind: 'version', id, head, body: { yaml: 'second' } };
      await expect(commit([put(other), again])).rejects.toThrow();
      await expect(commit([{ kind: 'version', id, head: null }])).rejects.toThrow();
      expect(await store().body('version', id)).toEqual({ yaml: 'first' });
      expect(await headOf(other.packId)).toBeUndefined();
      expect(await store().revision()).toBe(revision);
    });

    it('should say when the database is away, and answer again by itself', async () => {
      await expectAwayAndBack(harness, [
        () => store().load(),
        () => store().revision(),
        () => store().body('pack', 'none'),
        () => store().commit({ revision: -1, nowMs: NOW_MS, changes: [], audit: [] }),
      ]);
    });
  });
}
