// What is durable is what was asked of the disk, in its order: every append, rewrite and rename is counted at the file
// port, a failed sync is trusted by nobody, and a torn tail goes. decision: D13; invariant: I1, I5
import { randomBytes } from 'node:crypto';
import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../actors/runtime/silent-logger.ts';
import { createWheelClock } from '../../actors/runtime/wheel-clock.ts';
import type { RuntimeEvent } from '../../machines/wire/event.ts';
import { openJournal, rewriteJournal, windowReader } from '../../sensor/spool/journal-file.ts';
import { openSpool } from '../../sensor/spool/spool.ts';
import { writeAtomic } from '../../sensor/state-directory/atomic-file.ts';
import { diskFiles, type Files, type OpenFile } from '../../sensor/state-directory/file-port.ts';

const clock = createWheelClock();
let folder: string;
let path: string;
let calls: string[];
let failsSync: boolean;
let files: Files;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'durability-'));
  path = join(folder, 'events.jsonl');
  calls = [];
  failsSync = false;
  files = countingFiles();
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** The real disk; what makes something durable is noted, in order. */
function countingFiles(): Files {
  const noted = (name: string, open: OpenFile): OpenFile => ({
    ...open,
    async append(bytes) {
      calls.push(`append ${name}`);
      await open.append(bytes);
    },
    async truncate(length) {
      calls.push(`truncate ${name}`);
      await open.truncate(length);
    },
    async sync() {
      calls.push(`sync ${name}`);
      if (failsSync) throw Object.assign(new Error('EIO'), { code: 'EIO' });
      await open.sync();
    },
  });
  return {
    ...diskFiles,
    open: async (at, how, mode) => noted(basename(at), await diskFiles.open(at, how, mode)),
    async rename(from, to) {
      calls.push(`rename ${basename(to)}`);
      await diskFiles.rename(from, to);
    },
    async syncDirectory(at) {
      calls.push(at === folder ? 'sync folder' : 'sync above');
      await diskFiles.syncDirectory(at);
    },
  };
}

const event = (at: number): RuntimeEvent => ({
  ...{ event_id: String(at).padStart(32, '0'), schema_version: 1, event_kind: 'process_exec' },
  ...{ observed_at: '2026-01-01T00:00:00.000Z', severity: 'info', message: 'a process started' },
});

async function spoolAt(on: Files) {
  const opened = await openSpool({
    ...{ path, files: on, clock, now: Date.now, logger: silentLogger },
    random: () => randomBytes(16),
  });
  if (!opened.ok) throw new Error(opened.detail);
  return opened.spool;
}

describe('the disk under the spool', () => {
  it('should be asked to keep every append before it counts', async () => {
    const spool = await spoolAt(files);
    for (let at = 1; at <= 3; at += 1) {
      calls.length = 0;
      expect((await spool.append([event(at)], at)).ok).toBe(true);
      const last = calls.lastIndexOf('append events.jsonl');
      expect(last).toBeGreaterThanOrEqual(0);
      expect(calls.indexOf('sync events.jsonl', last)).toBeGreaterThan(last);
    }
    await spool.close();
  });

  it('should be believed by nobody when it refused to keep an append', async () => {
    const spool = await spoolAt(files);
    expect((await spool.append([event(1)], 1)).ok).toBe(true);
    failsSync = true;
    expect((await spool.append([event(2)], 2)).ok).toBe(false);
    expect([spool.depth(), spool.cursor()]).toEqual([1, 1]);
    failsSync = false;
    await spool.close();
  });

  it('should keep a rewritten journal before it takes the old one its place, and the place after', async () => {
    const opened = await openJournal(files, path);
    const reader = windowReader(files, path);
    calls.length = 0;
    const header = {
      ...{ streamId: '1'.repeat(32), state: opened.recovered.spool, cursor: null, damaged: 0 },
    };
    const content = { header, index: opened.recovered.index, rawOf: reader.read };
    const next = await rewriteJournal(files, path, opened.file, content);
    await reader.close();
    await next.close();
    expect(calls).toEqual([
      'append events.jsonl.tmp',
      'sync events.jsonl.tmp',
      'rename events.jsonl',
      'sync folder',
    ]);
  });

  it('should be rid of a torn tail, for good, before anything is written behind it', async () => {
    const spool = await spoolAt(files);
    await spool.append([event(1)], 1);
    await spool.close();
    const whole = await readFile(path);
    await appendFile(path, '{"torn":');
    calls.length = 0;
    const again = await spoolAt(files);
    expect(calls.slice(0, 2)).toEqual(['truncate events.jsonl', 'sync events.jsonl']);
    expect((await readFile(path)).subarray(0, whole.length)).toEqual(whole);
    expect(await readFile(path, 'utf8')).not.toContain('torn');
    expect([again.depth(), again.cursor()]).toEqual([1, 1]);
    await again.close();
  });
});

describe('the disk under a file that is whole or not at all', () => {
  it('should keep the content before the name, and the name after', async () => {
    await writeAtomic(files, folder, 'state.json', { text: '{}', mode: 0o600 });
    expect(calls).toEqual([
      ...['append state.json.tmp', 'sync state.json.tmp', 'rename state.json', 'sync folder'],
    ]);
  });

  it('should keep the old one when the new one was not kept', async () => {
    await writeAtomic(files, folder, 'state.json', { text: 'old', mode: 0o600 });
    failsSync = true;
    const write = writeAtomic(files, folder, 'state.json', { text: 'new', mode: 0o600 });
    await expect(write).rejects.toThrow('EIO');
    expect(await readFile(join(folder, 'state.json'), 'utf8')).toBe('old');
  });
});
