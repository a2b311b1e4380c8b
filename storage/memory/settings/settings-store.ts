// The reference store of settings. decision: D38

import { storableText } from '../../ports/plumbing/stored-text.ts';
import {
  auditOfSettings,
  namesJudged,
  type SettingRow,
  type SettingsStore,
} from '../../ports/settings/settings-store.ts';
import type { MemoryAudit } from '../audit/audit-log.ts';
import type { Calls } from '../plumbing/unsafe-port-of.ts';

/** The calls on no setting. */
export function settingsCalls(log: Pick<MemoryAudit, 'record'>): Calls<SettingsStore> {
  const rows = new Map<string, SettingRow>();
  return {
    list: () => [...rows.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
    put(input) {
      const names = Object.keys(input.values).sort();
      if (names.length === 0) return { ok: true, rows: [] };
      const conflicts = namesJudged(input).filter(
        (name) => (rows.get(name)?.revision ?? 0) !== input.revisions[name],
      );
      if (conflicts.length > 0) return { ok: false, conflicts };
      const before = names.map((name) => [name, rows.get(name)?.value ?? null]);
      const written = names.map((name): SettingRow => {
        const row = {
          name,
          value: JSON.parse(JSON.stringify(input.values[name] ?? null)) as unknown,
          revision: (rows.get(name)?.revision ?? 0) + 1,
          changedAtMs: input.nowMs,
          changedBy: storableText(input.actor),
        };
        rows.set(name, row);
        return row;
      });
      log.record(auditOfSettings(input, Object.fromEntries(before)));
      return { ok: true, rows: written };
    },
  };
}
