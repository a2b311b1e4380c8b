// The switches of a simulated disk. Each is on for a path and everything below it; '/' is the whole disk.
import { diskError } from './disk-tree.ts';
import type { Random } from './random.ts';

/**
 * `full`: ENOSPC, a part of an append may be left. `readOnly`: EROFS. `failSync`: the next sync is refused with EIO and
 * the switch goes off; the file's content is unknown then. `slow`: every call takes its time. `hang`: no call comes back
 * for longer than anybody waits. `unreadable`: EIO for what reads a file. `foreign`: everything belongs to another user.
 */
export type DiskFault =
  | 'full'
  | 'readOnly'
  | 'failSync'
  | 'slow'
  | 'hang'
  | 'unreadable'
  | 'foreign';

export type DiskFaults = {
  turnOn(fault: DiskFault, prefix?: string): void;
  turnOff(fault: DiskFault, prefix?: string): void;
  /** All switches off. */
  heal(): void;
  isOn(fault: DiskFault, path: string): boolean;
  /** Takes a `failSync` that waits for this path. */
  takeFailSync(path: string): boolean;
  /** How long a call takes now. */
  delayMs(path: string): number;
  /** Throws when the disk is read-only here. */
  refuseWrite(call: string, path: string): void;
  /** Throws when the disk cannot be read here. */
  refuseRead(call: string, path: string): void;
};

const SLOW_MEAN_MS = 400;
const SLOW_MAX_MS = 5_000;
const HANG_MS = 45_000;

/** Makes the switches, all off. */
export function createDiskFaults(random: Random): DiskFaults {
  const on = new Map<DiskFault, Set<string>>();

  function prefixOf(fault: DiskFault, path: string): string | undefined {
    const prefixes = on.get(fault);
    if (prefixes === undefined) return undefined;
    for (const prefix of prefixes) {
      if (prefix === '/' || path === prefix || path.startsWith(`${prefix}/`)) return prefix;
    }
    return undefined;
  }

  function turnOff(fault: DiskFault, prefix = '/'): void {
    const prefixes = on.get(fault);
    prefixes?.delete(prefix);
    if (prefixes?.size === 0) on.delete(fault);
  }

  const isOn = (fault: DiskFault, path: string): boolean => prefixOf(fault, path) !== undefined;

  return {
    turnOn(fault, prefix = '/') {
      const prefixes = on.get(fault) ?? new Set();
      prefixes.add(prefix);
      on.set(fault, prefixes);
    },
    turnOff,
    heal: () => on.clear(),
    isOn,
    takeFailSync(path) {
      const prefix = prefixOf('failSync', path);
      if (prefix === undefined) return false;
      turnOff('failSync', prefix);
      return true;
    },
    delayMs(path) {
      if (isOn('hang', path)) return HANG_MS;
      return isOn('slow', path) ? Math.min(SLOW_MAX_MS, random.exponential(SLOW_MEAN_MS)) : 0;
    },
    refuseWrite(call, path) {
      if (isOn('readOnly', path)) throw diskError('EROFS', call, path);
    },
    refuseRead(call, path) {
      if (isOn('unreadable', path)) throw diskError('EIO', call, path);
    },
  };
}
