import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLastWords, gapSince, type Moment, momentOf, type Recalled } from './last-word.ts';

let folder = '';
let now: Moment;
const words = () => createLastWords(join(folder, 'last-word.json'), async () => now);
const told = (inKernel: number, inProgram = 0) => ({ inKernel, inProgram });
const later = (pid: number) => {
  now = { ...now, atMs: now.atMs + 1_000, upMs: now.upMs + 1_000, pid, forks: now.forks + 500 };
  return now;
};
/** What was left behind a moment before, as it is now. */
const wordAt = (pid: number, how: Recalled['how']): Recalled => ({
  ...{ ...now, pid, told: told(0), more: null },
  ...{ isOrdered: how === 'stopped', how },
});
const noThreads = () => 0;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'last-word-'));
  now = { boot: 'boot-1', atMs: 1_000, upMs: 500, pid: 100, forks: 5_000, pidMax: 1_000 };
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('the last word of a Tetragon', () => {
  it('should be exact in its own process, and one sign of life behind for another', async () => {
    const own = words();
    own.begin(null);
    await own.tell(told(3));
    later(150);
    await own.tell(told(5, 1));
    expect(await own.recall()).toMatchObject({ atMs: 2_000, told: told(5, 1), how: 'killed' });
    expect(await words().recall()).toMatchObject({ atMs: 2_000, told: told(3), how: 'killed' });
  });

  it('should count from one sign of life before, since what began just now may not be told yet', async () => {
    const own = words();
    await own.tell(told(0));
    later(150);
    await own.tell(told(0));
    expect(await words().recall()).toMatchObject({ atMs: 2_000, pid: 100, forks: 5_000 });
    later(170);
    await own.tell(told(0));
    expect(await words().recall()).toMatchObject({ atMs: 3_000, pid: 150, forks: 5_500 });
  });

  it('should keep a gap that was told until the ledger has it, and what is lost after it', async () => {
    await words().tell(told(9));
    later(150);
    const next = words();
    const gap = await next.recall();
    next.begin(gap);
    await next.tell(told(4));
    expect(await words().recall()).toMatchObject({ atMs: 1_000, pid: 100, told: told(0) });
    await next.tell(told(6));
    expect(await words().recall()).toMatchObject({ atMs: 2_000, pid: 150, told: told(4) });
  });

  it('should begin at nothing with each run, whatever the run before told', async () => {
    const own = words();
    await own.tell(told(9));
    own.begin(null);
    await own.tell(told(1));
    expect(await words().recall()).toMatchObject({ told: told(0) });
  });

  it('should stay when the next run does not begin', async () => {
    const own = words();
    await own.tell(told(9));
    expect(await own.recall()).toMatchObject({ told: told(9) });
    expect(await own.recall()).toMatchObject({ told: told(9) });
  });

  it('should tell every process of an ordered end, from the last sign of life on', async () => {
    const own = words();
    await own.tell(told(1));
    later(150);
    await own.end(told(2), true);
    const word = { atMs: 1_000, pid: 100, told: told(2), how: 'stopped' };
    expect(await own.recall()).toMatchObject(word);
    expect(await words().recall()).toMatchObject(word);
  });

  it('should be stretched by one that outlived its Sensor, with what its kernel side lost', async () => {
    const own = words();
    await own.tell(told(1));
    await own.tell(told(4));
    later(180);
    await words().stretch(async () => 6);
    expect(await words().recall()).toMatchObject({ pid: 180, atMs: 2_000, more: 5 });
  });

  it('should tell of another boot, however the one before ended', async () => {
    await words().end(told(1), true);
    now = { ...now, boot: 'boot-2' };
    expect(await words().recall()).toMatchObject({ atMs: 1_000, how: 'rebooted' });
  });

  it('should be nothing when torn, absent or forgotten', async () => {
    writeFileSync(join(folder, 'last-word.json'), '{"boot":"boot-1","atMs":-1,"pid":1,"told":{}}');
    expect(await words().recall()).toBeNull();
    expect(await createLastWords('/nowhere/word').recall()).toBeNull();
    await createLastWords('/nowhere/word').tell(told(1));
    const own = words();
    await own.tell(told(1));
    own.forget();
    rmSync(join(folder, 'last-word.json'));
    expect(await own.recall()).toBeNull();
  });

  it('should be read as an older build left it', async () => {
    const older = { boot: 'boot-1', atMs: 900, pid: 70, told: told(2), more: null };
    writeFileSync(join(folder, 'last-word.json'), JSON.stringify(older));
    const word = await words().recall();
    expect(word).toMatchObject({ pid: 70, forks: 0, how: 'killed' });
    const asked: number[] = [];
    const gap = gapSince(word as Recalled, now, (us) => asked.push(us));
    expect([gap.unseen, asked]).toEqual([29, [400_000]]);
  });

  it.each([
    ['the numbers', 100, 140, 60, 40],
    ['the numbers', 990, 5, 20, 15],
    ['the forks, when there are fewer', 100, 140, 30, 30],
    ['the forks, when the numbers may have gone round', 100, 140, 1_040, 1_040],
  ])('should count by %s from %i to %i at most what began unseen', (_, from, to, forks, unseen) => {
    const gap = gapSince(wordAt(from, 'killed'), { ...later(to), forks: 5_000 + forks }, noThreads);
    expect(gap).toMatchObject({
      since: '1970-01-01T00:00:01.000Z',
      until: '1970-01-01T00:00:02.000Z',
      how: 'killed',
      unseen,
    });
    expect(gap.text).toContain(`from ${gap.since} to ${gap.until} (killed): at most ${unseen} `);
  });

  it('should count every fork since the machine started anew, less the threads that run', () => {
    const threads = (us: number) => (us === 0 ? 90 : 0);
    expect(gapSince(wordAt(100, 'rebooted'), { ...now, forks: 700 }, threads).unseen).toBe(610);
    expect(gapSince(wordAt(100, 'rebooted'), { ...now, forks: 50 }, threads).unseen).toBe(0);
  });

  it('should take the threads that began since for no processes', () => {
    const asked: number[] = [];
    const threads = (us: number) => asked.push(us) + 10;
    expect(gapSince(wordAt(100, 'stopped'), { ...later(140), forks: 5_040 }, threads).unseen).toBe(
      29,
    );
    expect(asked).toEqual([500_000]);
  });

  it('should read where this kernel stands', async () => {
    const here = await momentOf();
    expect(here.pid).toBeGreaterThan(0);
    expect(here.forks).toBeGreaterThan(0);
    expect(here.upMs).toBeGreaterThan(0);
    expect(here.pidMax).toBeGreaterThan(here.pid - 1);
    expect(here.boot).toMatch(/^[0-9a-f-]{36}$/);
  });
});
