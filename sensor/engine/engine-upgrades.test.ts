// What a launcher finds, lays out and keeps when the files it carries change. The engine that Node runs stands for all.
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createEngineLauncher, type EngineLauncher } from './engine-launcher.ts';
import { PROCFS_ENGINE_FILE } from './unpack.ts';

const OWN = fileURLToPath(new URL('./procfs/', import.meta.url));
let directory = '';
let launcher: EngineLauncher;
beforeEach(async () => {
  directory = mkdtempSync(path.join(tmpdir(), 'upgrades-'));
  mkdirSync(path.join(directory, 'carried', 'native'), { recursive: true });
  cpSync(OWN, path.join(directory, 'carried', 'procfs'), { recursive: true });
  const carried = pathToFileURL(`${path.join(directory, 'carried')}/`);
  launcher = createEngineLauncher(path.join(directory, 'state'), 'procfs', { carried });
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const source = () => path.join(directory, 'carried', 'procfs', PROCFS_ENGINE_FILE);
const laidOut = (...more: string[]) =>
  path.join(directory, 'state', 'engine', 'v1.7.0', ...more, PROCFS_ENGINE_FILE);
const read = (file: string) => readFileSync(file, 'utf8');

/** Another build, after a look that saw its files stand still. */
async function findNewer() {
  await launcher.look();
  await launcher.look();
  const look = await launcher.look();
  if (look.state !== 'newer') throw new Error(`there is no newer build: ${look.state}`);
  return look;
}

describe('upgrades of the engine', () => {
  it('should see nothing new before the files are others, and nothing before anything runs', async () => {
    expect(await launcher.look()).toEqual({ state: 'unready' });
    await launcher.unpack();
    expect(await launcher.look()).toEqual({ state: 'current' });
    writeFileSync(source(), read(source()));
    expect((await launcher.look()).state).toBe('unready');
    expect(await launcher.look()).toEqual({ state: 'current' });
    rmSync(source());
    expect((await launcher.look()).state).toBe('unready');
  });

  it('should lay another build out beside, and bring it from then on when it was accepted', async () => {
    await launcher.unpack();
    const before = read(laidOut());
    await launcher.look();
    writeFileSync(source(), `${before}// another build\n`);
    expect((await launcher.look()).state).toBe('unready');
    const { build, running } = await findNewer();
    expect(build.name).toMatch(/^procfs 1\.7\.0 \([0-9a-f]{12}\)$/);
    expect(running.sum).not.toBe(build.sum);
    expect((await launcher.prepareNext(build)).isBeside).toBe(true);
    expect([read(laidOut()), read(laidOut('next'))]).toEqual([before, read(source())]);
    await launcher.acceptNext();
    expect(read(laidOut())).toBe(read(source()));
    expect(existsSync(laidOut('next'))).toBe(false);
    expect(await launcher.look()).toEqual({ state: 'current' });
  });

  it('should bring what ran before when another build was refused, until the files are others again', async () => {
    await launcher.unpack();
    const before = read(laidOut());
    writeFileSync(source(), 'throw new Error("broken");\n');
    const { build } = await findNewer();
    await launcher.prepareNext(build);
    launcher.refuseNext(build, 'it ended with 1');
    await launcher.unpack();
    expect(read(laidOut())).toBe(before);
    expect(existsSync(laidOut('next'))).toBe(false);
    expect(await findNewer()).toMatchObject({ build });
    writeFileSync(source(), `${before}// mended\n`);
    await launcher.unpack();
    expect(read(laidOut())).toBe(read(source()));
  });

  it('should not run what somebody changed where it was laid out, but what it carries', async () => {
    await launcher.unpack();
    writeFileSync(source(), 'throw new Error("broken");\n');
    const { build } = await findNewer();
    launcher.refuseNext(build, 'it ended with 1');
    writeFileSync(laidOut(), 'changed');
    await launcher.unpack();
    expect(read(laidOut())).toBe(read(source()));
    expect([launcher.trials(), await launcher.look()]).toEqual([[], { state: 'current' }]);
    expect(launcher.refusals()).toEqual([]);
  });

  it('should refuse to prepare a build that was replaced by yet another one', async () => {
    await launcher.unpack();
    writeFileSync(source(), 'one');
    const { build } = await findNewer();
    writeFileSync(source(), 'two');
    await expect(launcher.prepareNext(build)).rejects.toThrow('replaced by yet another build');
  });
});
