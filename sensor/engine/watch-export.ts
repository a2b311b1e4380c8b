// Notices that an export grew or was rotated, so that its reader need not ask all the time. The kernel's word is only a
// hint: a slow look at the file backs it, and a quicker one replaces it where watching does not work.
import { type FSWatcher, statSync, watch } from 'node:fs';
import path from 'node:path';
import { EXPORT_WATCH_FALLBACK_MS, EXPORT_WATCH_SAFETY_MS } from '../../machines/limits.ts';

/** Calls `onChange` soon after the export changed, perhaps also when it did not. Returns what ends the watch. */
export function watchExport(file: string, onChange: () => void): () => void {
  let before = lookOf(file);
  let timer: NodeJS.Timeout | undefined;
  let watcher: FSWatcher | undefined;
  let closed = false;

  const look = (): void => {
    const now = lookOf(file);
    if (now === before) return;
    before = now;
    onChange();
  };
  const lookEvery = (intervalMs: number): void => {
    clearInterval(timer);
    if (!closed) timer = setInterval(look, intervalMs);
  };
  try {
    watcher = watch(path.dirname(file), look);
    watcher.on('error', () => lookEvery(EXPORT_WATCH_FALLBACK_MS));
    lookEvery(EXPORT_WATCH_SAFETY_MS);
  } catch {
    lookEvery(EXPORT_WATCH_FALLBACK_MS);
  }
  return () => {
    closed = true;
    clearInterval(timer);
    watcher?.close();
  };
}

function lookOf(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false });
  return found === undefined ? '' : `${found.ino} ${found.size}`;
}
