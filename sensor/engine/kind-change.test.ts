// What passed between engines of two kinds, told by what each left on the disk. invariant: I19
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { EngineKind } from './choice.ts';
import { createKindChanges } from './kind-change.ts';
import { type KindGap, readSigns, tetragonFile } from './last-watcher.ts';
import { momentOf } from './tetragon/last-word.ts';

let directory: string;
let exportFile: string;
let gaps: KindGap[];
let follow: ReturnType<typeof createKindChanges>;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'kinds-'));
  exportFile = join(directory, 'events.log');
  gaps = [];
  follow = createKindChanges(directory);
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const WAIT = { timeout: 60_000 };
type Left = { readonly agoMs: number; readonly ended: boolean; readonly boot?: string };

/** So many began since: far more than any machine has threads that are young. */
const BEGUN = 20_000;
/** As each kind leaves it. */
async function leave(kind: EngineKind, { agoMs, ended, boot }: Left): Promise<void> {
  const now = await momentOf();
  const [id, wallMs, upMs] = [boot ?? now.boot, now.atMs - agoMs, Math.max(1, now.upMs - agoMs)];
  const pid = (now.pid - BEGUN + now.pidMax) % now.pidMax;
  const forks = Math.max(1, now.forks - BEGUN);
  if (kind === 'procfs') {
    const numbers = [upMs * 1_000, pid, forks, wallMs, ended ? 1 : 0];
    writeFileSync(`${exportFile}.sign`, `${id} ${numbers.join(' ')}\n${'4'.padStart(15, '0')}\n`);
  } else if (kind === 'ebpf') {
    const page = Buffer.alloc(4_096);
    const put = (at: number, ms: number) => page.writeBigUInt64LE(BigInt(ms) * 1_000_000n, at);
    page.writeBigUInt64LE(0x31726576646e6168n, 0);
    page.write(id, 8, 'latin1');
    put(ended ? 48 : 56, upMs);
    page.writeUInt32LE(4, 92);
    page.writeBigUInt64LE(BigInt(forks), 4_024);
    page.writeBigUInt64LE(BigInt(pid), 4_032);
    put(4_040, upMs);
    put(4_048, wallMs);
    writeFileSync(`${exportFile}.lock`, page);
  } else {
    mkdirSync(dirname(tetragonFile(directory)), { recursive: true });
    const word = { boot: id, atMs: wallMs, upMs, pid, forks, isOrdered: ended, more: 4 };
    const told = { inKernel: 9, inProgram: 9 };
    writeFileSync(tetragonFile(directory), JSON.stringify({ ...word, told }));
  }
}

/** Launches one, which says so many words. */
async function begin(kind: EngineKind, words = 1): Promise<void> {
  const heard: string[] = [];
  const asked = { exportFile, nodeName: 'n', onLine: heard.push, onErrorLine: () => undefined };
  const { onLine } = follow(kind, {
    ...asked,
    onLine: (line) => heard.push(line),
    onGap: (gap) => gaps.push(gap),
  });
  for (let at = 1; at <= words; at += 1) {
    onLine(`word ${at}`);
    // What the first one sets in motion is done before the next is said.
    if (at === 1) await vi.waitFor(() => expect(owes()).not.toContain('"sign"'), WAIT);
  }
  expect(heard).toHaveLength(words);
}
/** What is owed, as it is kept. */
function owes(): string {
  try {
    return readFileSync(`${exportFile}.gap`, 'utf8');
  } catch {
    return '';
  }
}

it.each([
  ['ebpf', 'procfs'],
  ['procfs', 'ebpf'],
  ['tetragon', 'ebpf'],
  ['ebpf', 'tetragon'],
] as const)(
  'should count what began between %s and %s, and tell the span',
  async (before, after) => {
    await leave(before, { agoMs: 1_000, ended: true });
    await begin(after);
    expect(gaps).toHaveLength(1);
    expect(gaps[0]).toMatchObject({ how: 'stopped', owed: 4 });
    expect(gaps[0]?.ms).toBeGreaterThanOrEqual(1_000);
    expect(gaps[0]?.unseen).toBeGreaterThan(0);
    await begin(after);
    expect(gaps).toHaveLength(1);
  },
);

it('should say how it ended: killed, or gone with the machine', async () => {
  await leave('ebpf', { agoMs: 1_000, ended: false });
  await begin('procfs');
  await leave('procfs', { agoMs: 500, ended: true, boot: '0'.repeat(36) });
  await begin('ebpf');
  expect(gaps.map(({ how }) => how)).toEqual(['killed', 'rebooted']);
});

it('should tell nothing where the same kind watched last, and where nobody ever did', async () => {
  await begin('procfs');
  await leave('procfs', { agoMs: 60_000, ended: true });
  await leave('ebpf', { agoMs: 1_000, ended: true });
  const { onGap } = follow('ebpf', {
    ...{ exportFile, nodeName: 'n', onLine: () => undefined, onErrorLine: () => undefined },
  });
  expect([onGap, gaps]).toEqual([undefined, []]);
});

it('should take from a kind what it left before another one watched', async () => {
  await leave('ebpf', { agoMs: 3_600_000, ended: true });
  await leave('procfs', { agoMs: 1_000, ended: true });
  await begin('ebpf');
  expect(gaps).toHaveLength(1);
  expect(gaps[0]?.ms).toBeLessThan(3_600_000);
  // The page, which is a lock as well, stays; what is in it counts for nothing.
  expect(readSigns(directory, exportFile)).toEqual([]);
  expect(readFileSync(`${exportFile}.lock`)).toHaveLength(4_096);
});

it('should tell it again after a kill in the seconds in which it may not be stored, and not later', async () => {
  await leave('ebpf', { agoMs: 1_000, ended: true });
  await begin('procfs', 2);
  follow = createKindChanges(directory);
  await begin('procfs', 3);
  expect(gaps).toHaveLength(2);
  expect(gaps[1]).toEqual(gaps[0]);
  follow = createKindChanges(directory);
  await begin('procfs', 3);
  expect(gaps).toHaveLength(2);
});

it('should owe the whole gap where the Sensor was killed, or the engine failed, before a hello', async () => {
  await leave('ebpf', { agoMs: 60_000, ended: true });
  await begin('procfs', 0);
  follow = createKindChanges(directory);
  await begin('tetragon', 0);
  await begin('ebpf');
  expect(gaps).toHaveLength(1);
  expect(gaps[0]).toMatchObject({ how: 'stopped', owed: 4 });
  expect(gaps[0]?.ms).toBeGreaterThan(10_000);
});

it('should not lose it where the new engine left a sign and never said hello', async () => {
  await leave('ebpf', { agoMs: 60_000, ended: true });
  await begin('procfs', 0);
  await leave('procfs', { agoMs: 100, ended: false });
  follow = createKindChanges(directory);
  await begin('procfs');
  expect(gaps.map(({ how }) => how)).toEqual(['stopped']);
  expect(gaps[0]?.ms).toBeGreaterThan(10_000);
});

it('should go on where the disk does not let go of what is kept', async () => {
  await leave('ebpf', { agoMs: 1_000, ended: true });
  await begin('procfs');
  rmSync(`${exportFile}.gap`);
  mkdirSync(`${exportFile}.gap`);
  await leave('ebpf', { agoMs: 1_000, ended: true });
  await begin('procfs', 3);
  await vi.waitFor(() => expect(gaps).toHaveLength(2), WAIT);
});

it('should not lose a gap to one that follows before it is stored', async () => {
  await leave('ebpf', { agoMs: 60_000, ended: true });
  await begin('procfs');
  await leave('procfs', { agoMs: 1_000, ended: true });
  await begin('ebpf');
  follow = createKindChanges(directory);
  await begin('ebpf');
  expect(gaps.slice(2)).toEqual(gaps.slice(0, 2));
});

it('should not take what somebody else wrote there for a gap', async () => {
  for (const text of ['{', '{"since":"x"}', `{"ms":-1}`, '']) {
    writeFileSync(`${exportFile}.gap`, text);
    await begin('ebpf');
  }
  writeFileSync(`${exportFile}.sign`, 'no sign');
  writeFileSync(`${exportFile}.lock`, 'no page');
  await begin('ebpf');
  expect(gaps).toEqual([]);
});
