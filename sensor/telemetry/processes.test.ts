import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { readProcesses } from './processes.ts';

const folders: string[] = [];
afterEach(() => {
  for (const one of folders.splice(0)) rmSync(one, { recursive: true, force: true });
});
function procOf(commands: Readonly<Record<number, string>>): string {
  const proc = mkdtempSync(join(tmpdir(), 'proc-'));
  folders.push(proc);
  for (const [pid, command] of Object.entries(commands)) {
    mkdirSync(join(proc, pid));
    writeFileSync(join(proc, pid, 'cmdline'), command);
  }
  return proc;
}

it('should list what runs, without threads of the kernel', async () => {
  const proc = procOf({ 1: '/sbin/init\0', 2: '', 30: '/bin/sh\0-c\0id\0' });
  expect(await readProcesses(proc)).toEqual({
    items: [
      { pid: 1, command: '/sbin/init' },
      { pid: 30, command: '/bin/sh -c id' },
    ],
  });
});

it('should look at the oldest and the youngest of too many, and count the others', async () => {
  const proc = procOf({ 1: 'a', 2: 'b', 3: 'c', 4: 'd', 10: 'e', 11: 'f' });
  const { items, total } = await readProcesses(proc, 4);
  expect(items.map((one) => one['pid'])).toEqual([1, 2, 10, 11]);
  expect(total).toBe(6);
});

it('should answer without a /proc', async () => {
  expect(await readProcesses('/nowhere')).toEqual({ items: [] });
});
