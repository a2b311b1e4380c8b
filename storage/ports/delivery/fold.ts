// What a claim makes of the rows that it found, the same in every store: of those that wait for one webhook with one key
// the newest is taken, and it carries the others. decision: D101
import { deliveryAfter } from '../../../machines/console/delivery/standing.ts';
import type { DeliveryRow } from './delivery-store.ts';

export type Taken = {
  readonly carrier: DeliveryRow;
  /** As they are now. */
  readonly folded: readonly DeliveryRow[];
};

/** Every row of `waiting` waits; the keys are those of rows that are due. */
export function takenOf(waiting: readonly DeliveryRow[], atMs: number): readonly Taken[] {
  const groups = new Map<string, DeliveryRow[]>();
  for (const row of waiting) {
    const key = `${row.webhookId} ${row.alert.dedupKey}`;
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return [...groups.values()].flatMap((rows) => {
    const [newest, ...older] = rows.toSorted((a, b) => (a.deliveryId < b.deliveryId ? 1 : -1));
    if (newest === undefined) return [];
    const into = newest.deliveryId;
    return [
      {
        carrier: after(newest, { type: 'delivery.claimed', atMs }),
        folded: older.map((row) => after(row, { type: 'delivery.folded', atMs, into })),
      },
    ];
  });
}

/** A row after an event of its machine. */
export function after(row: DeliveryRow, event: Parameters<typeof deliveryAfter>[1]): DeliveryRow {
  const { state, dueAtMs, attempts, giveUpAtMs, endedAtMs, reason, foldedInto } = row;
  const standing = { state, dueAtMs, attempts, giveUpAtMs, endedAtMs, reason, foldedInto };
  return { ...row, ...deliveryAfter(standing, event) };
}
