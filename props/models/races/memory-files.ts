// A disk in memory whose every call takes its turn with everything else, and which refuses when it is told to: before
// anything happened, or after half of it did.
import type { Files, OpenFile } from '../../../sensor/state-directory/file-port.ts';
import type { Race } from './scheduled-port.ts';

export type DiskMood = 'works' | 'refuses' | 'tears';
type Inode = { bytes: Buffer };

/** Makes an empty disk; `mood` is asked at every call that changes something. */
export function memoryFiles(scheduler: Race, mood: () => DiskMood): Files {
  const inodes = new Map<string, Inode>();

  async function turn(label: string): Promise<void> {
    await scheduler.schedule(Promise.resolve(), label);
  }
  async function change(label: string): Promise<DiskMood> {
    await turn(label);
    const now = mood();
    if (now === 'refuses') throw full();
    return now;
  }
  function openInode(inode: Inode): OpenFile {
    return {
      async read(into, position) {
        await turn('read');
        return inode.bytes.copy(into, 0, position, position + into.byteLength);
      },
      async append(bytes) {
        const now = await change('append');
        const kept = now === 'tears' ? bytes.subarray(0, bytes.length / 2) : bytes;
        inode.bytes = Buffer.concat([inode.bytes, kept]);
        if (now === 'tears') throw full();
      },
      async truncate(length) {
        await change('truncate');
        inode.bytes = inode.bytes.subarray(0, length);
      },
      async sync() {
        if ((await change('sync')) === 'tears') throw full();
      },
      close: () => turn('close'),
    };
  }

  return {
    async open(path, how) {
      await turn(`open to ${how}`);
      const known = inodes.get(path);
      if (how === 'read' && known === undefined) throw absent();
      if (how === 'exclusive' && known !== undefined) throw absent();
      const inode = known ?? { bytes: Buffer.alloc(0) };
      if (how === 'replace') inode.bytes = Buffer.alloc(0);
      inodes.set(path, inode);
      return openInode(inode);
    },
    async readFile(path) {
      await turn('readFile');
      const inode = inodes.get(path);
      if (inode === undefined) throw absent();
      return inode.bytes;
    },
    async stat(path) {
      await turn('stat');
      const inode = inodes.get(path);
      if (inode === undefined) return null;
      return { bytes: inode.bytes.length, mode: 0o600, ownerId: 0, isDirectory: false };
    },
    list: async () => [...inodes.keys()],
    makeDirectory: () => turn('makeDirectory'),
    setMode: () => turn('setMode'),
    async rename(from, to) {
      await change('rename');
      const inode = inodes.get(from);
      if (inode === undefined) throw absent();
      inodes.delete(from);
      inodes.set(to, inode);
    },
    async remove(path) {
      await turn('remove');
      inodes.delete(path);
    },
    syncDirectory: () => turn('syncDirectory'),
  };
}

function full(): Error {
  return Object.assign(new Error('no space'), { code: 'ENOSPC' });
}

function absent(): Error {
  return Object.assign(new Error('no such file'), { code: 'ENOENT' });
}
