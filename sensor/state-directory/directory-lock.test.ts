import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lockDirectory } from './directory-lock.ts';
import { diskFiles } from './file-port.ts';

let path: string;
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), 'sensor-lock-'));
});
afterEach(() => rm(path, { recursive: true, force: true }));
const locks = async () => (await readdir(path)).filter((name) => name.startsWith('.lock.'));
const bootOf = async () => (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).slice(0, 8);
async function startOf(pid: number): Promise<string> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}

describe('directory lock', () => {
  it('should refuse a second opener and let the next one in after a release', async () => {
    const first = await lockDirectory(diskFiles, path);
    const second = await lockDirectory(diskFiles, path);
    expect(second).toEqual({ ok: false, holder: `process ${process.pid}` });
    if (!first.ok) throw new Error('the first opener must get it');
    await first.release();
    expect(await locks()).toEqual([]);
    expect((await lockDirectory(diskFiles, path)).ok).toBe(true);
  });

  it('should refuse while another living process holds it, and leave nothing of its own behind', async () => {
    const other = `.lock.${await bootOf()}.${process.ppid}.${await startOf(process.ppid)}`;
    await writeFile(join(path, other), '');
    const result = await lockDirectory(diskFiles, path);
    expect(result).toEqual({ ok: false, holder: `process ${process.ppid}` });
    expect(await locks()).toEqual([other]);
  });

  it('should take over from a process that is gone, from another boot, or whose number was reused', async () => {
    const boot = await bootOf();
    const stale = [
      `.lock.${boot}.4194304.1`,
      `.lock.00000000.${process.ppid}.${await startOf(process.ppid)}`,
      `.lock.${boot}.${process.ppid}.1`,
    ];
    for (const name of stale) await writeFile(join(path, name), '');
    expect((await lockDirectory(diskFiles, path)).ok).toBe(true);
    expect(await locks()).toHaveLength(1);
  });
});
