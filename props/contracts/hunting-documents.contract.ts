// Documents of hunting: found again as they were written, changed only from the revision that was read, bounded, audited
// with the change, and fenced. decision: D60, D144
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  type Investigation,
  type InvestigationItem,
  newInvestigation,
} from '../../machines/console/hunting/investigation.ts';
import type { AuditLog } from '../../storage/ports/audit/audit-log.ts';
import type { HuntingStores } from '../../storage/ports/hunting/stores.ts';
import { Overtaken } from '../../storage/ports/runtime/designation.ts';
import { expectAwayAndBack, type Harness } from './away.ts';
import { HOSTILE, NOW_MS } from './samples.ts';

const MAX = 100_000;
/** No tenure of these stores has it. */
const LONG_OVER = 987_654_321;
const body = (name = HOSTILE): Investigation => ({
  ...{ name, summary: '', severity: 'high', createdBy: 'user:a' },
  ...{ standing: newInvestigation, moves: [] },
});
const note: InvestigationItem = {
  ...{ atMs: 1, addedBy: 'user:a', addedAtMs: 2, note: HOSTILE, what: 'note' },
};

export function huntingDocumentsContract(
  harness: Harness<HuntingStores & { readonly audit: AuditLog }>,
): void {
  const stores = harness.port;
  const added = async (name?: string) => {
    const id = randomUUID();
    const row = await stores().investigations.add({
      ...{ id, body: body(name), max: MAX, nowMs: NOW_MS },
    });
    if (typeof row === 'string') throw new Error(row);
    return row;
  };

  describe('documents', () => {
    it('should be found again as they were written, hostile text included', async () => {
      const row = await added();
      expect(row).toMatchObject({ body: body(), revision: 1, createdAtMs: NOW_MS, parentId: null });
      expect(await stores().investigations.get(row.id)).toEqual(row);
      // Each kind has its own.
      expect(await stores().savedSearches.get(row.id)).toBeNull();
      expect(await stores().investigations.get(HOSTILE)).toBeNull();
    });

    it('should be listed newest first, below a place', async () => {
      const made = [await added(), await added(), await added()].map(({ id }) => id).sort();
      const { investigations } = stores();
      const all = (await investigations.list({ limit: MAX, before: null })).map(({ id }) => id);
      expect(all).toEqual(all.toSorted().reverse());
      expect(all).toEqual(expect.arrayContaining(made));
      const last = made.at(-1) ?? '';
      const below = await investigations.list({ limit: 1, before: last });
      expect(below).toHaveLength(1);
      expect((below[0]?.id ?? last) < last).toBe(true);
    });

    it('should change only from the revision that was read, with the audit row', async () => {
      const { investigations, audit } = stores();
      const { id } = await added();
      const change = { id, body: body('new'), nowMs: NOW_MS + 1 };
      const entry = {
        ...({ atMs: NOW_MS, actor: 'user:a', action: 'investigation.change', target: id } as const),
        ...{ result: 'ok', detail: {} },
      };
      const trail = async () => (await audit.recent(1_000)).filter(({ target }) => target === id);
      const stale = await investigations.change({ ...change, revision: 7, audit: entry });
      expect(stale).toBe('conflict');
      expect(await trail()).toEqual([]);
      const changed = await investigations.change({ ...change, revision: 1, audit: entry });
      expect(changed).toMatchObject({
        revision: 2,
        changedAtMs: NOW_MS + 1,
        body: { name: 'new' },
      });
      expect(await trail()).toHaveLength(1);
      const none = { ...change, id: randomUUID(), revision: 1 };
      expect(await investigations.change(none)).toBe('not_found');
    });

    it('should take what belongs to them with them, and hold no more than they may', async () => {
      const { investigations, investigationItems } = stores();
      const [one, other] = [await added(), await added()];
      const add = (parentId: string) =>
        investigationItems.add({
          ...{ id: randomUUID(), parentId, body: note, max: 2, nowMs: NOW_MS },
        });
      await add(one.id);
      const kept = await add(other.id);
      expect(await add(one.id)).toMatchObject({ body: note, parentId: one.id });
      expect(await add(one.id)).toBe('full');
      expect(await add(randomUUID())).toBe('orphan');
      const held = { parentId: one.id, limit: 10, before: null };
      expect(await investigationItems.list(held)).toHaveLength(2);
      expect(await investigations.remove({ id: one.id, nowMs: NOW_MS })).toBe(true);
      expect(await investigations.remove({ id: one.id, nowMs: NOW_MS })).toBe(false);
      expect(await investigationItems.list(held)).toEqual([]);
      expect(await investigationItems.list({ ...held, parentId: other.id })).toEqual([kept]);
    });

    it('should be written by nobody whose tenure is over', async () => {
      const { investigations } = stores();
      const row = await added();
      const late = { epoch: LONG_OVER, nowMs: NOW_MS, id: row.id };
      const change = investigations.change({ ...late, revision: 1, body: body('late') });
      await expect(change).rejects.toBeInstanceOf(Overtaken);
      await expect(investigations.remove(late)).rejects.toBeInstanceOf(Overtaken);
      expect(await investigations.get(row.id)).toEqual(row);
    });

    it('should say when the store is away', async () => {
      const { investigations } = stores();
      await expectAwayAndBack(harness, [
        () => investigations.get(randomUUID()),
        () => investigations.list({ limit: 1, before: null }),
      ]);
    });
  });
}
