// The processes of the node, as /proc shows them.
import { readFile } from 'node:fs/promises';
import { INVENTORY_PROCESS_LOOKS_MAX } from '../../machines/limits.ts';
import type { InventoryItem } from '../../machines/wire/inventory.ts';
import { pidsOf } from './proc-entries.ts';
import type { Listed } from './shortened.ts';

const COMMAND_MAX_CHARS = 512;

/**
 * Number and command line of each; kernel threads have none and are left out. Of more than a bound the oldest and the
 * youngest are looked at, and the others only counted. Never rejects.
 */
export async function readProcesses(
  proc = '/proc',
  looksMax: number = INVENTORY_PROCESS_LOOKS_MAX,
): Promise<Listed<InventoryItem>> {
  const pids = pidsOf(proc);
  const unseen = Math.max(0, pids.length - looksMax);
  pids.splice(Math.ceil(looksMax / 2), unseen);
  const items: InventoryItem[] = [];
  for (const pid of pids) {
    const text = await readFile(`${proc}/${pid}/cmdline`, 'utf8').catch(() => '');
    const command = text.replaceAll('\0', ' ').trim().slice(0, COMMAND_MAX_CHARS);
    if (command !== '') items.push({ pid, command });
  }
  return unseen === 0 ? { items } : { items, total: items.length + unseen };
}
