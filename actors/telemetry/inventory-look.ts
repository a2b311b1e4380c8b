// What a Console remembers of stored inventories may be old: another Console writes the same rows when a node moves between
// them. So the rows of the sensors that talk to this one are looked at again from time to time, many at once, and what is
// not as remembered is remembered as unsure, which brings the section whole. decision: D49; invariant: I10
import {
  INVENTORY_LOOK_GATHER_MS,
  INVENTORY_LOOK_MS,
  INVENTORY_LOOK_SENSORS_MAX,
} from '../../machines/limits.ts';
import { INVENTORY_SECTIONS, type InventorySectionName } from '../../machines/wire/inventory.ts';
import type { InventoryStore } from '../../storage/ports/telemetry/inventory-store.ts';

export type InventoryMemory = {
  readonly known: (sensorId: string, section: InventorySectionName) => string | undefined;
  readonly doubt: (sensorId: string, section: InventorySectionName) => void;
  /** Once for a sensor of which something is in doubt: it may tell its inventory now. */
  readonly ask: (sensorId: string) => void;
};
export type InventoryLook = {
  /** A sensor talks to this Console. Costs no query of its own; whatever is due is looked at together. Never rejects. */
  served(sensorId: string, nowMs: number): void;
};

/** Starts without a wish: what was just loaded is young. */
export function createInventoryLook(
  store: Pick<InventoryStore, 'hashesOf'>,
  memory: InventoryMemory,
): InventoryLook {
  const lookedAtMs = new Map<string, number>();
  const due = new Set<string>();
  let gatheredSinceMs = 0;
  let isLooking = false;

  async function look(ids: readonly string[]): Promise<void> {
    const before = ids.flatMap((id) =>
      INVENTORY_SECTIONS.map((section) => ({ id, section, hash: memory.known(id, section) })),
    );
    const rows = await store.hashesOf(ids);
    const stored = new Map(rows.map((row) => [`${row.sensorId} ${row.section}`, row.hash]));
    const doubted = new Set<string>();
    for (const { id, section, hash } of before) {
      // What was written meanwhile is younger than the answer.
      const isYounger = memory.known(id, section) !== hash;
      if (isYounger || stored.get(`${id} ${section}`) === hash) continue;
      memory.doubt(id, section);
      doubted.add(id);
    }
    for (const id of doubted) memory.ask(id);
  }

  return {
    served(sensorId, nowMs) {
      const last = lookedAtMs.get(sensorId);
      if (last === undefined) lookedAtMs.set(sensorId, nowMs);
      else if (Math.abs(nowMs - last) >= INVENTORY_LOOK_MS) {
        if (due.size === 0) gatheredSinceMs = nowMs;
        due.add(sensorId);
      }
      const isRipe = due.size > 0 && Math.abs(nowMs - gatheredSinceMs) >= INVENTORY_LOOK_GATHER_MS;
      if (isLooking || !isRipe) return;
      isLooking = true;
      const ids = [...due].slice(0, INVENTORY_LOOK_SENSORS_MAX);
      for (const id of ids) {
        due.delete(id);
        lookedAtMs.set(id, nowMs);
      }
      // A store that is away is asked again when they are due again.
      look(ids)
        .catch(() => undefined)
        .finally(() => {
          isLooking = false;
        });
    },
  };
}
