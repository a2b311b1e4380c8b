import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../../actors/runtime/silent-logger.ts';
import { DEFAULT_INTERVALS } from '../../../machines/intervals.ts';
import { InventoryRequest } from '../../../machines/wire/inventory.ts';
import { parserOfValue } from '../../../machines/wire/parse.ts';
import { diskFiles, type Files } from '../../state-directory/file-port.ts';
import { openHabits } from './habits.ts';

const readInventory = parserOfValue(InventoryRequest);
let folder: string;
let timers: (() => void)[];
let nowMs: number;
const file = (): string => join(folder, 'baselines.json');

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'habits-'));
  await chmod(folder, 0o700);
  timers = [];
  nowMs = Date.UTC(2026, 4, 1, 10, 30);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function open(files: Files = diskFiles) {
  const clock = {
    setTimeout(run: () => void) {
      timers.push(run);
      return timers.length;
    },
    clearTimeout: () => undefined,
  };
  const context = { look: async () => null, workloadOf: () => undefined };
  const config = { intervals: DEFAULT_INTERVALS };
  const ports = { files, context };
  const parts = { clock, now: () => nowMs, logger: silentLogger, config, ports };
  return openHabits(parts, folder);
}
const exec = (binary: string): string =>
  JSON.stringify({
    process_exec: {
      process: { exec_id: 'YQ==', pid: 1, uid: 0, binary },
      parent: { exec_id: 'Yg==', pid: 2, binary: '/sbin/init' },
    },
    time: new Date(nowMs).toISOString(),
  });
const given = () => ({ sensorId: 's', nowMs, looks: { left: 0 } });

describe('habits', () => {
  it('should be there again after a restart', async () => {
    const before = await open();
    await before.pipeline.take([exec('/bin/a'), exec('/bin/b')], given());
    const told = before.items();
    expect(told.map((item) => item.binary).sort()).toEqual(['/bin/a', '/bin/b', '/sbin/init']);
    await before.close();
    expect((await stat(file())).mode & 0o777).toBe(0o600);
    const after = await open();
    expect(after.items()).toEqual(told);
    await after.close();
  });

  it('should tell the Console the same for an hour', async () => {
    const habits = await open();
    await habits.pipeline.take([exec('/bin/a')], given());
    const told = habits.items();
    await habits.pipeline.take([exec('/bin/b')], given());
    expect(habits.items()).toBe(told);
    nowMs += 3_600_000;
    expect(habits.items().length).toBe(3);
    const [added, removed] = [habits.items(), told];
    const hash = 'a'.repeat(64);
    const baselines = { base_hash: hash, hash, added, removed };
    const request = { is_full_snapshot: false, sections: { baselines } };
    expect(readInventory(request)).toEqual({ ok: true, value: request });
    await habits.close();
  });

  it('should learn anew from a file that was torn', async () => {
    await writeFile(file(), '{"version":1,"profiles":[{"bin');
    const habits = await open();
    expect(habits.items()).toEqual([]);
    await habits.pipeline.take([exec('/bin/a')], given());
    await habits.close();
    expect(await readFile(file(), 'utf8')).toContain('/bin/a');
  });

  it('should go on when the disk refuses, and write when it does no longer', async () => {
    let refuses = true;
    const files: Files = {
      ...diskFiles,
      open: async (path, how, mode) => {
        if (refuses) throw Object.assign(new Error('full'), { code: 'ENOSPC' });
        return diskFiles.open(path, how, mode);
      },
    };
    const habits = await open(files);
    await habits.pipeline.take([exec('/bin/a')], given());
    timers[0]?.();
    await expect.poll(() => timers.length).toBe(2);
    await expect(stat(file())).rejects.toThrow('ENOENT');
    refuses = false;
    timers[1]?.();
    await expect.poll(() => timers.length).toBe(3);
    expect(await readFile(file(), 'utf8')).toContain('/bin/a');
    await habits.close();
  });
});
