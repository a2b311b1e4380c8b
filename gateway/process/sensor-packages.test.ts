import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../actors/runtime/silent-logger.ts';
import { createSensorPackages } from './sensor-packages.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});
const newFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), 'packages-'));
  folders.push(folder);
  return folder;
};
const SUM = 'ab'.repeat(32);

describe('the package of the Sensor', () => {
  it('should be what lies there, and only whole', async () => {
    const folder = newFolder();
    const packages = createSensorPackages({
      ...{ version: '1', logger: silentLogger, folder, maker: join(folder, 'none') },
    });
    const archive = join(folder, 'service-sensor-1-linux-x64.tar.gz');
    writeFileSync(archive, 'bytes');
    expect(await packages.find()).toMatchObject({ kind: 'missing' });
    writeFileSync(`${archive}.sha256`, `${SUM}  name\n`);
    const found = await packages.find();
    expect(found).toMatchObject({ kind: 'ready', sha256: SUM });
    expect(found.kind === 'ready' && (await text(found.open()))).toBe('bytes');
  });

  it('should be made once, and what failed be told with the command', async () => {
    const folder = newFolder();
    const maker = join(folder, 'maker.js');
    writeFileSync(maker, 'process.stderr.write("no room"); process.exit(3);');
    const failed = Promise.withResolvers<object>();
    const error = (fields: object | string) => failed.resolve(Object(fields));
    const logger = { ...silentLogger, error };
    const packages = createSensorPackages({ version: '1', logger, folder, maker });
    expect(await packages.find()).toEqual({ kind: 'pending' });
    expect(await failed.promise).toMatchObject({ words: 'no room' });
    expect(await packages.find()).toEqual({
      kind: 'missing',
      reason: expect.stringContaining('npm run package:sensor'),
    });
  });
});
