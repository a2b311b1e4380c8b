import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { lockDataDir } from './data-dir-lock.ts';

const folder = mkdtempSync(join(tmpdir(), 'lock-'));
afterEach(() => rmSync(join(folder, 'console.lock'), { force: true }));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('data directory lock', () => {
  it('should refuse a second Console by the process that holds it, until it is released', () => {
    const release = lockDataDir(folder);
    expect(() => lockDataDir(folder)).toThrow(`process ${process.pid}`);
    release();
    lockDataDir(folder)();
  });

  it('should take over the lock of a dead process and of one whose id was reused', () => {
    writeFileSync(
      join(folder, 'console.lock'),
      JSON.stringify({ pid: process.pid, startTicks: '1' }),
    );
    lockDataDir(folder)();
    writeFileSync(join(folder, 'console.lock'), '{"pid":');
    lockDataDir(folder)();
  });
});
