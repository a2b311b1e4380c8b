// The real disk, but the process ends itself with SIGKILL at the n-th call that changes something: before it, or, for an
// append, with half of the bytes written. Before the next call is after the last one, so every gap is visited; calls
// that only read leave nothing to look at.
import { diskFiles, type Files, type OpenFile } from '../../sensor/state-directory/file-port.ts';

export type Kill = { readonly at: number; readonly isTorn: boolean };

/** Wraps the disk; `calls` counts what changed the disk so far. */
export function killingFiles(kill: Kill): { readonly files: Files; calls(): number } {
  let calls = 0;

  const step = async (): Promise<void> => {
    if (calls++ === kill.at) await end();
  };

  const wrap = (file: OpenFile): OpenFile => ({
    read: file.read,
    async append(bytes) {
      if (calls++ === kill.at) {
        if (kill.isTorn) await file.append(bytes.subarray(0, Math.ceil(bytes.length / 2)));
        await end();
      }
      await file.append(bytes);
    },
    truncate: (length) => step().then(() => file.truncate(length)),
    sync: () => step().then(() => file.sync()),
    close: file.close,
  });

  const files: Files = {
    ...diskFiles,
    async open(path, how, mode) {
      if (how !== 'read') await step();
      return wrap(await diskFiles.open(path, how, mode));
    },
    makeDirectory: (path, mode) => step().then(() => diskFiles.makeDirectory(path, mode)),
    setMode: (path, mode) => step().then(() => diskFiles.setMode(path, mode)),
    rename: (from, to) => step().then(() => diskFiles.rename(from, to)),
    remove: (path) => step().then(() => diskFiles.remove(path)),
    syncDirectory: (path) => step().then(() => diskFiles.syncDirectory(path)),
  };
  return { files, calls: () => calls };
}

async function end(): Promise<never> {
  process.kill(process.pid, 'SIGKILL');
  return new Promise(() => {});
}
