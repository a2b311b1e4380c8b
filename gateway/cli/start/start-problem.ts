// A start that fails, for a person: one sentence with what to do, in place of what a system call or a database said.
import { accessSync, constants, existsSync, mkdirSync, statfsSync } from 'node:fs';
import { freemem } from 'node:os';
import { dirname } from 'node:path';
import {
  START_DISK_FREE_MIN_BYTES,
  START_MEMORY_FREE_MIN_BYTES,
} from '../../../machines/console/trust/first-hour-limits.ts';
import type { ConsoleConfig } from '../../config/config.ts';
import { probePort } from '../../listener/listener.ts';
import { CommandFailure, EXIT } from '../plumbing/exit.ts';
import { lockDataDir } from './data-dir-lock.ts';

const MIB = 1_048_576;
const NEEDED = `${START_DISK_FREE_MIN_BYTES / MIB} MiB`;
const MEMORY_NEEDED = `${START_MEMORY_FREE_MIN_BYTES / MIB} MiB`;
const ELSEWHERE = 'set SERVICE_CONSOLE_DATA_DIR to another folder';

export type Sentence = { readonly what: string; readonly next: string };
type Places = Pick<ConsoleConfig, 'dataDir' | 'port' | 'bind'>;

/** Throws what would keep a Console from starting and can be known before anything is started. */
export async function demandPlace(
  config: Places & Pick<ConsoleConfig, 'databaseUrl' | 'clickhouseUrl'>,
): Promise<void> {
  const { dataDir, port, bind } = config;
  try {
    demandFolder(dataDir, 0o711);
    // Who holds the folder most likely holds the port too, and has a better name.
    lockDataDir(dataDir)();
  } catch (error) {
    throw failure(startSentence(error instanceof Error ? error.message : String(error), config));
  }
  const free = await probePort(bind, port);
  if (!free.ok) throw failure(portSentence({ port, bind }, free.reason));
  if (config.databaseUrl !== null && config.clickhouseUrl !== null) return;
  const freeBytes = freeBytesAt(dataDir);
  if (freeBytes < START_DISK_FREE_MIN_BYTES) throw failure(roomSentence(dataDir, freeBytes));
  const memoryBytes = memoryBytesHere();
  if (memoryBytes < START_MEMORY_FREE_MIN_BYTES) throw failure(memorySentence(memoryBytes));
}

/** Throws when the place of a person's context cannot be written: the commands of a second terminal need it. */
export function demandContextPlace(file: string, config: Places): void {
  try {
    demandFolder(dirname(file), 0o700);
  } catch (error) {
    const { what } = startSentence(String(error), config);
    throw failure({ what, next: 'set XDG_CONFIG_HOME to a folder that can be written' });
  }
}

function demandFolder(folder: string, mode: number): void {
  // What is made in a read-only file system is reported as not found, so the nearest folder is asked.
  accessSync(nearest(folder), constants.W_OK | constants.X_OK);
  mkdirSync(folder, { recursive: true, mode });
}

/** What a failed step means to a person. Total. */
export function startSentence(reason: string, config: Places): Sentence {
  const { dataDir } = config;
  if (/ENOSPC|no space left|disk quota|EDQUOT/i.test(reason)) {
    return roomSentence(dataDir, freeBytesAt(dataDir));
  }
  if (/cannot be bound|EADDRINUSE/.test(reason)) return portSentence(config, reason);
  if (/another Console/.test(reason))
    return { what: reason, next: `stop that one, or ${ELSEWHERE}` };
  if (/incompatible with (this version|server)|initialized by PostgreSQL version/i.test(reason)) {
    return {
      what: `the data in ${dataDir} was made by another version of the database`,
      next: `start the version that made it, or move the folder away to begin anew`,
    };
  }
  if (/database_is_newer/.test(reason)) {
    return {
      what: `the data in ${dataDir} was made by a newer version of this program`,
      next: 'start that version, or move the folder away to begin anew',
    };
  }
  if (/ENOMEM|cannot allocate memory|out of memory/i.test(reason)) {
    return memorySentence(null);
  }
  const denied = /(EROFS|EACCES|EPERM)[^']*(?:'([^']+)')?/.exec(reason);
  if (denied !== null) {
    const readOnly = denied[1] === 'EROFS' ? 'is on a read-only file system' : 'cannot be written';
    const at = denied[2] ?? dataDir;
    const isOurs = at.startsWith(dataDir) || dataDir.startsWith(at);
    const next = isOurs ? `make it writable, or ${ELSEWHERE}` : 'make it writable';
    return { what: `${at} ${readOnly}`, next: `${next}, and start again` };
  }
  return { what: reason, next: 'mend the reason and start again; --verbose shows more' };
}

/** The end of a command whose start failed; nothing is left running by then. */
export function startFailure(step: string, reason: string, config: Places): CommandFailure {
  const sentence = startSentence(reason, config);
  const what = sentence.what === reason ? `${step}: ${reason}` : sentence.what;
  return failure({ what, next: sentence.next });
}

function failure({ what, next }: Sentence): CommandFailure {
  return new CommandFailure(EXIT.failed, `the Console could not start: ${what}`, next);
}

function portSentence({ port, bind }: Pick<Places, 'port' | 'bind'>, reason: string): Sentence {
  if (/EACCES/.test(reason)) {
    return {
      what: `this user may not listen on port ${port}`,
      next: 'set SERVICE_CONSOLE_PORT (port in console.yaml) to one above 1023',
    };
  }
  if (/EADDRNOTAVAIL|ENOTFOUND|EAFNOSUPPORT/.test(reason)) {
    return {
      what: `this machine has no address ${bind}`,
      next: 'set SERVICE_CONSOLE_BIND (bind in console.yaml) to one it has',
    };
  }
  if (!/EADDRINUSE/.test(reason)) return { what: reason, next: 'set SERVICE_CONSOLE_PORT' };
  return {
    what: `port ${port} is taken by another program`,
    next: 'stop that one, or set SERVICE_CONSOLE_PORT (port in console.yaml) to a free one',
  };
}

function roomSentence(dataDir: string, freeBytes: number): Sentence {
  return {
    what: `the disk of ${dataDir} has ${Math.floor(freeBytes / MIB)} MiB left, and the databases need ${NEEDED}`,
    next: `free some, or ${ELSEWHERE} on a larger disk`,
  };
}

function memorySentence(bytes: number | null): Sentence {
  const free =
    bytes === null
      ? ''
      : `: ${Math.floor(bytes / MIB)} MiB are free, and it needs ${MEMORY_NEEDED}`;
  return { what: `there is not enough memory${free}`, next: 'free about 1 GiB and start again' };
}

/** What is free on this machine, or what a container may use in all where that is less. */
function memoryBytesHere(): number {
  const allowed = process.constrainedMemory();
  return allowed > 0 ? Math.min(allowed, freemem()) : freemem();
}

function freeBytesAt(folder: string): number {
  const { bavail, bsize } = statfsSync(nearest(folder));
  return bavail * bsize;
}

/** The folder, or the nearest one above it that exists. */
function nearest(folder: string): string {
  let at = folder;
  while (!existsSync(at) && dirname(at) !== at) at = dirname(at);
  return at;
}
