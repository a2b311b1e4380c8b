// A disk of one file in memory: what `openJournal` needs of the port and nothing else.
import type { Files, OpenFile } from '../../sensor/state-directory/file-port.ts';

export type OneFile = { readonly files: Files; content(): Buffer };

/** Makes the disk; every path is the one file. */
export function oneFile(initial: Buffer): OneFile {
  let content = Buffer.from(initial);
  const open: OpenFile = {
    async read(into, position) {
      const piece = content.subarray(position, position + into.byteLength);
      into.set(piece);
      return piece.length;
    },
    async append(bytes) {
      content = Buffer.concat([content, bytes]);
    },
    async truncate(length) {
      content = content.subarray(0, length);
    },
    sync: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
  const absent = (): Promise<never> => Promise.reject(new Error('this disk has one file'));
  const done = (): Promise<void> => Promise.resolve();
  return {
    content: () => content,
    files: {
      open: () => Promise.resolve(open),
      stat: () =>
        Promise.resolve({ bytes: content.length, mode: 0o600, ownerId: 0, isDirectory: false }),
      remove: done,
      readFile: absent,
      list: absent,
      makeDirectory: absent,
      setMode: absent,
      rename: absent,
      syncDirectory: done,
    },
  };
}
