import { describe, expect, it } from 'vitest';
import { makeDirectoryDurably, writeAtomic } from '../../../sensor/state-directory/atomic-file.ts';
import { errorCode, type Files } from '../../../sensor/state-directory/file-port.ts';
import { workOf } from '../../yardstick.ts';
import { createSimulatedDisk } from './disk.ts';
import { beginLife } from './life.ts';
import { createWorld } from './world.ts';

const HOME = '/home';
const SEEDS = 200;

function stage(seed: string) {
  const world = createWorld(seed);
  const disk = createSimulatedDisk(world, 'node-1');
  const life = beginLife(world.scheduler, { host: 'node-1', incarnation: 1 });
  const files = disk.filesFor(life);
  disk.write(`${HOME}/old`, 'old text');
  const text = (name: string) => disk.read(`${HOME}/${name}`)?.toString() ?? null;
  const losePower = () => disk.end('power_lost', world.random.fork('loss'));
  return { world, disk, life, files, text, losePower };
}

/** What is left under some names after a power loss, over many seeds. */
async function outcomes(
  act: (files: Files, stand: ReturnType<typeof stage>) => Promise<void>,
  look: (stand: ReturnType<typeof stage>) => unknown,
): Promise<Set<string>> {
  const seen = new Set<string>();
  for (let seed = 0; seed < SEEDS; seed += 1) {
    const stand = stage(`power ${seed}`);
    await act(stand.files, stand);
    stand.losePower();
    seen.add(JSON.stringify(look(stand)));
  }
  return seen;
}
const said = (...values: unknown[]) => new Set(values.map((value) => JSON.stringify(value)));
async function append(files: Files, name: string, ...words: (string | null)[]): Promise<void> {
  const file = await files.open(`${HOME}/${name}`, 'append', 0o600);
  for (const word of words) {
    if (word === null) await file.sync();
    else await file.append(Buffer.from(word));
  }
  await file.close();
}
const refusal = (call: Promise<unknown>): Promise<string> => call.then(() => 'none', errorCode);

describe('the end of what runs', () => {
  it('should keep what was written when processes are killed', async () => {
    const { disk, files, text, world } = stage('killed');
    await append(files, 'old', ' and new');
    disk.end('killed', world.random);
    expect(text('old')).toBe('old text and new');
  });

  it('should answer a dead process nothing', async () => {
    const { life, files, text } = stage('dead');
    life.end();
    let settled = false;
    void files.remove(`${HOME}/old`).finally(() => {
      settled = true;
    });
    await Promise.resolve();
    expect([settled, text('old')]).toEqual([false, 'old text']);
  });

  it('should keep, lose or tear an unsynced append at a power loss, after what was synced', async () => {
    const seen = await outcomes(
      (files) => append(files, 'old', '+', null, 'abc'),
      ({ text }) => text('old'),
    );
    const synced = 'old text+';
    for (const tail of ['', 'a', 'ab', 'abc']) seen.delete(JSON.stringify(synced + tail));
    for (const rest of seen) expect(JSON.parse(rest)).toMatch(/^old text\+[abc]{0,2}\0+$/);
    expect(seen.size).toBeGreaterThan(0);
    const all = await outcomes(
      (files) => append(files, 'old', '+', null, 'abc'),
      ({ text }) => text('old')?.replaceAll('\0', '') ?? null,
    );
    expect(all).toEqual(said(...['', 'a', 'ab', 'abc'].map((tail) => synced + tail)));
  });

  it('should let a later write survive an earlier one in another file', async () => {
    const seen = await outcomes(
      async (files) => {
        await append(files, 'old', '!');
        await files.syncDirectory(HOME);
        await append(files, 'old', '?');
        await append(files, 'new', 'text', null);
        await files.syncDirectory(HOME);
      },
      ({ text }) => [text('old')?.length, text('new')],
    );
    expect(seen).toEqual(said([8, 'text'], [9, 'text'], [10, 'text']));
  });

  it('should do an unsynced rename wholly or not, and a synced one for sure', async () => {
    const rename = async (files: Files): Promise<void> => {
      await append(files, 'new', 'new text', null);
      await files.syncDirectory(HOME);
      await files.rename(`${HOME}/new`, `${HOME}/old`);
    };
    const look = ({ text }: ReturnType<typeof stage>) => [text('old'), text('new')];
    expect(await outcomes(rename, look)).toEqual(
      said(['old text', 'new text'], ['new text', null]),
    );
    const synced = async (files: Files): Promise<void> => {
      await rename(files);
      await files.syncDirectory(HOME);
    };
    expect(await outcomes(synced, look)).toEqual(said(['new text', null]));
  });

  it('should lose or keep unsynced creations and removals apart', async () => {
    const seen = await outcomes(
      async (files) => {
        await append(files, 'new', 'x', null);
        await files.remove(`${HOME}/old`);
      },
      ({ text }) => [text('old'), text('new')],
    );
    expect(seen).toEqual(said(['old text', null], ['old text', 'x'], [null, null], [null, 'x']));
  });

  it('should never lose a file by half of a rotation', async () => {
    const seen = await outcomes(
      async (files) => {
        await files.rename(`${HOME}/old`, `${HOME}/backup`);
        await append(files, 'old', 'next', null);
      },
      ({ text }) => [text('old'), text('backup')],
    );
    expect(seen).toEqual(said(['old text', null], [null, 'old text'], ['next', 'old text']));
  });

  it('should lose a directory that was never synced into its parent, with all below', async () => {
    const make = async (files: Files): Promise<void> => {
      await files.makeDirectory(`${HOME}/d`, 0o700);
      await append(files, 'd/a', 'x', null);
      await files.syncDirectory(`${HOME}/d`);
    };
    const look = ({ text }: ReturnType<typeof stage>) => text('d/a');
    expect(await outcomes(make, look)).toEqual(said(null, 'x'));
    const synced = async (files: Files): Promise<void> => {
      await make(files);
      await files.syncDirectory(HOME);
    };
    expect(await outcomes(synced, look)).toEqual(said('x'));
  });

  it('should keep the directory that the product made for its state, with its parents', async () => {
    const seen = await outcomes(
      async (files) => {
        await makeDirectoryDurably(files, `${HOME}/a/b/c`, 0o700);
        await writeAtomic(files, `${HOME}/a/b/c`, 'd', { text: 'x', mode: 0o600 });
      },
      ({ text }) => text('a/b/c/d'),
    );
    expect(seen).toEqual(said('x'));
  });

  it('should leave the old or the new content of a file that is replaced as the product does it', async () => {
    const seen = await outcomes(
      async (files, { life, world }) => {
        const random = world.random.fork('ambush');
        life.endAtCall(random.between(1, 8), random.pick(['before', 'after']), life.end);
        await Promise.race([
          writeAtomic(files, HOME, 'old', { text: 'new text', mode: 0o600 }),
          new Promise((resolve) => life.onEnd(() => resolve(null))),
        ]);
      },
      ({ text }) => text('old'),
    );
    expect(seen).toEqual(said('old text', 'new text'));
  });

  it('should bring back what an unsynced truncation took, or not', async () => {
    const seen = await outcomes(
      async (files) => {
        const file = await files.open(`${HOME}/old`, 'append', 0o600);
        await file.truncate(3);
        await file.close();
      },
      ({ text }) => text('old'),
    );
    expect(seen).toEqual(said('old text', 'old'));
  });

  it('should write back on its own what is half a minute old', async () => {
    const seen = await outcomes(
      async (files, { world }) => {
        await append(files, 'new', 'first ');
        await world.scheduler.runUntil(31_000);
        await append(files, 'new', 'x');
        await world.scheduler.runUntil(62_000);
      },
      ({ text }) => text('new'),
    );
    expect(seen).toEqual(said('first x'));
  });
});

describe('faults', () => {
  it('should refuse with ENOSPC and perhaps leave a part, where it is full only', async () => {
    const { disk, files, text } = stage('full');
    disk.faults.turnOn('full', `${HOME}/old`);
    const lengths = new Set<number>();
    for (let round = 0; round < 40; round += 1) {
      disk.write(`${HOME}/old`, '');
      expect(await refusal(append(files, 'old', '0123'))).toBe('ENOSPC');
      lengths.add(text('old')?.length ?? -1);
    }
    expect([...lengths].sort()).toEqual([0, 1, 2, 3]);
    await append(files, 'new', 'x');
    disk.faults.heal();
    await append(files, 'old', 'y');
  });

  it('should refuse every change with EROFS, and let reading go on', async () => {
    const { disk, files } = stage('read-only');
    const open = await files.open(`${HOME}/old`, 'append', 0o600);
    disk.faults.turnOn('readOnly');
    const changes = [
      open.append(Buffer.from('x')),
      open.truncate(0),
      files.open(`${HOME}/old`, 'append', 0o600),
      files.open(`${HOME}/new`, 'exclusive', 0o600),
      files.rename(`${HOME}/old`, `${HOME}/new`),
      files.remove(`${HOME}/old`),
      files.makeDirectory(`${HOME}/d`, 0o700),
      files.setMode(`${HOME}/old`, 0o644),
    ];
    for (const change of changes) expect(await refusal(change)).toBe('EROFS');
    expect((await files.readFile(`${HOME}/old`)).toString()).toBe('old text');
    await files.remove(`${HOME}/absent`);
    await files.makeDirectory(HOME, 0o700);
  });

  it('should refuse one sync, after which nobody knows what is there', async () => {
    const seen = await outcomes(
      async (files, { disk }) => {
        disk.faults.turnOn('failSync');
        const file = await files.open(`${HOME}/old`, 'append', 0o600);
        await file.append(Buffer.from('++'));
        expect(await refusal(file.sync())).toBe('EIO');
        await file.sync();
      },
      ({ text }) => text('old'),
    );
    expect(seen).toEqual(said('old text++', 'old text+\0', 'old text\0\0'));
  });

  it('should take its time when it is slow, and cost no time when it is not', async () => {
    const { disk, files, world } = stage('slow');
    disk.faults.turnOn('slow', HOME);
    let done = false;
    const call = files.stat(`${HOME}/old`).then(() => {
      done = true;
    });
    await Promise.resolve();
    expect(done).toBe(false);
    await world.scheduler.runUntil(10_000);
    await call;
    const steps = world.scheduler.steps();
    disk.faults.heal();
    await files.stat(`${HOME}/old`);
    expect(world.scheduler.steps()).toBe(steps);
  });

  it('should give the inode of a removed file to the next one only when told', async () => {
    const { disk, files, life } = stage('inodes');
    const inodeOf = () => disk.exportFilesFor(life).inodeOf(`${HOME}/old`);
    const first = await inodeOf();
    for (const reuse of [false, true]) {
      await files.remove(`${HOME}/old`);
      const before = await inodeOf();
      if (reuse) disk.reuseNextInode();
      await append(files, 'old', 'x');
      expect(before).toBe(undefined);
      if (reuse) expect(Number(await inodeOf())).toBeGreaterThan(Number(first));
      else expect(await inodeOf()).not.toBe(first);
    }
  });
});

it('should forget everything with a wipe, but what the kernel tells', async () => {
  const { disk, files } = stage('wipe');
  disk.setKernelFile('/proc/1/stat', 'text');
  disk.wipe();
  expect(disk.read(`${HOME}/old`)).toBe(null);
  expect((await files.readFile('/proc/1/stat')).toString()).toBe('text');
});

it('should append many times without copying the file each time', async () => {
  const { files, text } = stage('many');
  const file = await files.open(`${HOME}/new`, 'append', 0o600);
  const line = Buffer.alloc(600, 'x');
  const workMs = await workOf(async () => {
    for (let n = 0; n < 20_000; n += 1) await file.append(line);
    expect(text('new')?.length).toBe(20_000 * 600);
  });
  expect(workMs).toBeLessThan(3_000);
});
