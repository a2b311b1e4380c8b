// One Console per data directory. A second one would take over the first one's databases and stop them when it ends, so
// it is refused by the name of the process that holds the directory. A lock of a dead process is no obstacle.
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  isSameProcess,
  type ProcessIdentity,
  processIdentity,
} from '../../../storage/embedded/process-identity.ts';

/** Takes the directory; throws who holds it. Returns the release. */
export function lockDataDir(dataDir: string): () => void {
  const file = join(dataDir, 'console.lock');
  const own = `${file}.${process.pid}`;
  writeFileSync(own, JSON.stringify(processIdentity(process.pid)), { mode: 0o600 });
  try {
    if (!tryLink(own, file)) {
      const holder = holderOf(file);
      if (holder !== null) {
        throw new Error(`another Console (process ${holder.pid}) runs on ${dataDir}`);
      }
      rmSync(file, { force: true });
      if (!tryLink(own, file)) throw new Error(`another Console took ${dataDir} just now`);
    }
  } finally {
    rmSync(own, { force: true });
  }
  return () => rmSync(file, { force: true });
}

// A hard link appears whole or not at all, and only once.
function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function holderOf(file: string): ProcessIdentity | null {
  try {
    const holder = JSON.parse(readFileSync(file, 'utf8')) as ProcessIdentity;
    return isSameProcess(holder) ? holder : null;
  } catch {
    return null;
  }
}
