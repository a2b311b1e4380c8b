// One Sensor a state directory. Each announces itself by an empty file whose name says boot, process and its start, then
// looks for others: of two that start together at least one sees the other, so never both go on. A name whose process
// is gone is stale and removed. Processes of another process namespace cannot be seen; such a share is not supported.
import { join } from 'node:path';
import { errorCode, type Files } from './file-port.ts';

const LOCK_NAME = /^\.lock\.([0-9a-f]{8})\.(\d+)\.(\d+)$/;
const START_TIME_FIELD = 19;

export type LockResult =
  | { readonly ok: true; release(): Promise<void> }
  | { readonly ok: false; readonly holder: string };

/** Takes the directory for this process, also against a second opening inside it. */
export async function lockDirectory(files: Files, path: string): Promise<LockResult> {
  const boot = (await files.readFile('/proc/sys/kernel/random/boot_id')).toString().slice(0, 8);
  const startedAt = await startOf(files, process.pid);
  const own = `.lock.${boot}.${process.pid}.${startedAt ?? '0'}`;
  try {
    await (await files.open(join(path, own), 'exclusive', 0o600)).close();
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return { ok: false, holder: `process ${process.pid}` };
    throw error;
  }
  for (const name of await files.list(path)) {
    const parts = LOCK_NAME.exec(name);
    if (parts === null || name === own) continue;
    if (parts[1] === boot && (await startOf(files, Number(parts[2]))) === parts[3]) {
      await files.remove(join(path, own));
      return { ok: false, holder: `process ${parts[2]}` };
    }
    await files.remove(join(path, name));
  }
  return { ok: true, release: () => files.remove(join(path, own)) };
}

// Ticks since boot at which a process began; with the boot it names a process for good. Null when there is none.
async function startOf(files: Files, pid: number): Promise<string | null> {
  try {
    const stat = (await files.readFile(`/proc/${pid}/stat`)).toString();
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[START_TIME_FIELD] ?? null;
  } catch {
    return null;
  }
}
