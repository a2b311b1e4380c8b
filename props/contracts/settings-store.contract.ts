// The contract of the settings: a change is all or nothing, and of two that saw the same only one is taken.
import { beforeEach, describe, expect, it } from 'vitest';
import type { AuditLog } from '../../storage/ports/audit/audit-log.ts';
import { StoreUnavailable } from '../../storage/ports/plumbing/store-unavailable.ts';
import type { SettingsStore } from '../../storage/ports/settings/settings-store.ts';

export type SettingsHarness = {
  readonly port: () => { readonly settings: SettingsStore; readonly audit: AuditLog };
  readonly setAway: (away: boolean) => Promise<void> | void;
};

const NOW_MS = 1_800_000_000_000;
let run = 0;

/** Declares the contract; names are new in every example, since a real store is shared. */
export function settingsStoreContract({ port, setAway }: SettingsHarness): void {
  describe('settings store', () => {
    const doing = { actor: 'user:ada@example.org', from: '192.0.2.7', nowMs: NOW_MS };
    let a = '';
    let b = '';
    beforeEach(() => {
      run += 1;
      a = `a_${run}_${process.pid}`;
      b = `b_${run}_${process.pid}`;
    });
    const stored = async (name: string) =>
      (await port().settings.list()).find((row) => row.name === name) ?? null;

    it('should keep several values at once, each with its revision, and audit what changed', async () => {
      const { settings, audit } = port();
      const values = { [a]: { deep: [1, 'x', null] }, [b]: null };
      const made = await settings.put({ ...doing, values, revisions: { [a]: 0, [b]: 0 } });
      expect(made).toMatchObject({ ok: true, rows: [{ name: a, revision: 1 }, { name: b }] });
      expect(await stored(a)).toEqual({
        ...{ name: a, value: { deep: [1, 'x', null] }, revision: 1 },
        ...{ changedAtMs: NOW_MS, changedBy: doing.actor },
      });
      expect(await stored(b)).toMatchObject({ value: null, revision: 1 });
      const again = await settings.put({ ...doing, values: { [a]: 5 }, revisions: { [a]: 1 } });
      expect(again).toMatchObject({ ok: true, rows: [{ name: a, value: 5, revision: 2 }] });
      const rows = await audit.search({ target: a, order: 'newest', after: null, limit: 1 });
      expect(rows).toMatchObject([
        {
          ...{ actor: doing.actor, from: doing.from, action: 'settings.change', result: 'ok' },
          ...{ before: { [a]: { deep: [1, 'x', null] } }, after: { [a]: 5 } },
        },
      ]);
    });

    it('should change nothing when one revision is not the one in force', async () => {
      const { settings, audit } = port();
      await settings.put({ ...doing, values: { [a]: 1 }, revisions: { [a]: 0 } });
      const values = { [a]: 2, [b]: 2 };
      for (const revisions of [{ [a]: 0, [b]: 0 }, { [a]: 2, [b]: 0 }, { [b]: 0 }]) {
        const refused = await settings.put({ ...doing, values, revisions });
        expect(refused).toEqual({ ok: false, conflicts: [a] });
      }
      expect(await settings.put({ ...doing, values, revisions: { [a]: 1, [b]: 1 } })).toEqual({
        ...{ ok: false, conflicts: [b] },
      });
      expect(await stored(a)).toMatchObject({ value: 1, revision: 1 });
      expect(await stored(b)).toBeNull();
      const target = `${a},${b}`;
      expect(await audit.search({ target, order: 'newest', after: null, limit: 1 })).toEqual([]);
    });

    it('should take one of many that saw the same', async () => {
      const { settings } = port();
      for (const revision of [0, 1]) {
        const results = await Promise.all(
          [1, 2, 3, 4, 5].map((value) =>
            settings.put({
              ...doing,
              values: { [a]: value, [b]: value },
              revisions: { [a]: revision, [b]: revision },
            }),
          ),
        );
        expect(results.filter(({ ok }) => ok).length).toBe(1);
        const [one, other] = [await stored(a), await stored(b)];
        expect([one?.revision, one?.value]).toEqual([revision + 1, other?.value]);
      }
    });

    it('should change nothing when what was only looked at is another, however many come at once', async () => {
      const { settings } = port();
      const put = (name: string, seen: string) =>
        settings.put({ ...doing, values: { [name]: 1 }, revisions: { [name]: 0, [seen]: 0 } });
      const results = await Promise.all([put(a, b), put(b, a)]);
      expect(results.filter(({ ok }) => ok).length).toBe(1);
      expect([await stored(a), await stored(b)].filter((row) => row !== null).length).toBe(1);
      const refused = results.find(({ ok }) => !ok);
      expect(refused).toEqual({ ok: false, conflicts: [(await stored(a)) === null ? b : a] });
    });

    it('should do nothing for an empty change', async () => {
      expect(await port().settings.put({ ...doing, values: {}, revisions: {} })).toEqual({
        ...{ ok: true, rows: [] },
      });
    });

    it('should say that it is unavailable while the database is away', async () => {
      await setAway(true);
      try {
        await expect(port().settings.list()).rejects.toThrow(StoreUnavailable);
        const change = { ...doing, values: { [a]: 1 }, revisions: { [a]: 0 } };
        await expect(port().settings.put(change)).rejects.toThrow(StoreUnavailable);
      } finally {
        await setAway(false);
      }
      expect(await stored(a)).toBeNull();
    });
  });
}
