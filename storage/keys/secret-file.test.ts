import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openSecretFile } from './secret-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'secret-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('secret file', () => {
  it('should make a secret once, keep it private, and refuse a damaged one', async () => {
    const open = () => openSecretFile({ folder, name: 'page-links.key', bytes: 32 });
    const first = await open();
    expect(await open()).toEqual(first);
    expect(statSync(join(folder, 'page-links.key')).mode & 0o777).toBe(0o600);
    writeFileSync(join(folder, 'page-links.key'), 'short');
    await expect(open()).rejects.toThrow('page-links.key');
  });
});
