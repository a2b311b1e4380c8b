// The processes of the node, as /proc shows them.
import { readdir, readFile } from 'node:fs/promises';
import { INVENTORY_PROCESSES_MAX } from '../../machines/limits.ts';
import type { InventoryItem } from '../../machines/wire/inventory.ts';

/** Number and command line of each; kernel threads have none and are left out. */
export async function readProcesses(): Promise<readonly InventoryItem[]> {
  const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const items: InventoryItem[] = [];
  for (const pid of names.slice(0, INVENTORY_PROCESSES_MAX)) {
    const text = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    const command = text.replaceAll('\0', ' ').trim().slice(0, 512);
    if (command !== '') items.push({ pid: Number(pid), command });
  }
  return items;
}
