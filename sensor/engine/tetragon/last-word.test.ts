import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLastWords, gapSince, type Moment, momentOf } from './last-word.ts';

let folder = '';
let now: Moment;
const words = () => createLastWords(join(folder, 'last-word.json'), async () => now);
const told = (inKernel: number, inProgram = 0) => ({ inKernel, inProgram });
const later = (pid: number) => {
  now = { ...now, atMs: now.atMs + 1_000, pid };
};

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'last-word-'));
  now = { boot: 'boot-1', atMs: 1_000, pid: 100, pidMax: 1_000 };
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('the last word of a Tetragon', () => {
  it('should be exact in its own process, and one sign of life behind for another', async () => {
    const own = words();
    own.begin();
    await own.tell(told(3));
    later(150);
    await own.tell(told(5, 1));
    expect(await own.recall()).toMatchObject({ pid: 150, told: told(5, 1) });
    expect(await words().recall()).toMatchObject({ pid: 150, atMs: 2_000, told: told(3) });
  });

  it('should begin at nothing with each run, whatever the run before told', async () => {
    const own = words();
    await own.tell(told(9));
    own.begin();
    await own.tell(told(1));
    expect(await words().recall()).toMatchObject({ told: told(0) });
  });

  it('should stay when the next run does not begin', async () => {
    const own = words();
    await own.tell(told(9));
    expect(await own.recall()).toMatchObject({ told: told(9) });
    expect(await own.recall()).toMatchObject({ told: told(9) });
  });

  it('should tell of an ordered end in its own process only, from the last sign of life on', async () => {
    const own = words();
    await own.tell(told(1));
    later(150);
    await own.end(told(2), true);
    expect(await own.recall()).toMatchObject({ pid: 100, told: told(2), isOrdered: true });
    expect(await words().recall()).toBeNull();
  });

  it('should be stretched by one that outlived its Sensor, with what its kernel side lost', async () => {
    const own = words();
    await own.tell(told(1));
    await own.tell(told(4));
    later(180);
    await words().stretch(async () => 6);
    expect(await words().recall()).toMatchObject({ pid: 180, atMs: 2_000, more: 5 });
  });

  it('should be nothing after another boot, and nothing when torn or absent', async () => {
    await words().tell(told(1));
    now = { ...now, boot: 'boot-2' };
    expect(await words().recall()).toBeNull();
    writeFileSync(join(folder, 'last-word.json'), '{"boot":"boot-2","atMs":-1,"pid":1,"told":{}}');
    expect(await words().recall()).toBeNull();
    expect(await createLastWords('/nowhere/word').recall()).toBeNull();
    await createLastWords('/nowhere/word').tell(told(1));
  });

  it.each([
    [100, 140, 40],
    [990, 5, 15],
    [2_000, 5, 5],
  ])('should count from %i to %i at most %i that began unseen', (from, to, unseen) => {
    const word = { boot: 'b', atMs: 0, pid: from, told: told(0), more: null, isOrdered: false };
    const gap = gapSince(word, { ...now, pid: to });
    expect(gap.unseen).toBe(unseen);
    expect(gap.text).toContain('from 1970-01-01T00:00:00.000Z to 1970-01-01T00:00:01.000Z');
  });

  it('should read where this kernel stands', async () => {
    const here = await momentOf();
    expect(here.pid).toBeGreaterThan(0);
    expect(here.pidMax).toBeGreaterThan(here.pid - 1);
    expect(here.boot).toMatch(/^[0-9a-f-]{36}$/);
  });
});
