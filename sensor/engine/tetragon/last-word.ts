// When Tetragon was last seen alive, what it had told of its losses by then, and the number the kernel had given last to a
// process: kept beside the state, so that the next start can say from when to when nothing was watched and what may have
// been missed. The counts kept are those of one sign of life before, which the ledger has: after a kill a loss may be
// counted twice, never not at all. Of another boot nothing is said. decision: D46; invariant: I19
import { readFile, rename, writeFile } from 'node:fs/promises';
import { parseJson } from '../../../machines/wire/parse.ts';
import { isObject } from '../../pipeline/json-value.ts';
import type { TetragonLosses } from './losses.ts';

export type LastWord = {
  readonly boot: string;
  readonly atMs: number;
  /** The number given last, to a process or a thread. */
  readonly pid: number;
  /** What was told by then. */
  readonly told: TetragonLosses;
  /** What its kernel side had lost beyond that when it was ended; null when nobody looked. */
  readonly more: number | null;
  /** It was ended in order: before the next start of this Sensor nobody says that the node is watched. */
  readonly isOrdered: boolean;
};
export type Moment = Pick<LastWord, 'boot' | 'atMs' | 'pid'> & { readonly pidMax: number };
export type LastWords = {
  /** A new run has said hello; its counters begin at nothing. */
  begin(): void;
  /** It lives, and has told so much. */
  tell(told: TetragonLosses): Promise<void>;
  /** It has ended, having told so much; in order when it was asked to. When it was last alive stays as it was told. */
  end(told: TetragonLosses, isAsked: boolean): Promise<void>;
  /** One that outlived its Sensor is about to be ended; it watched until now. */
  stretch(kernelLosses: () => Promise<number | undefined>): Promise<void>;
  /** What is known of the run before; null when nothing is to be told of it. */
  recall(): Promise<LastWord | null>;
};

const NONE: TetragonLosses = { inKernel: 0, inProgram: 0 };

/** Over a file that may be absent. No call rejects: what cannot be kept is not told later. */
export function createLastWords(
  file: string,
  readMoment: () => Promise<Moment> = momentOf,
): LastWords {
  /** Exact while this process lives; the file is behind on purpose. */
  let latest: LastWord | null = null;
  /** What the sign of life before the latest told. */
  let before = NONE;

  async function keep(word: LastWord): Promise<void> {
    try {
      await writeFile(`${file}.new`, JSON.stringify(word), { mode: 0o600 });
      await rename(`${file}.new`, file);
    } catch {
      // A full disk: the next sign of life tries again.
    }
  }

  async function stored(): Promise<LastWord | null> {
    const parsed = parseJson(await readFile(file, 'utf8').catch(() => ''));
    return parsed.ok ? wordOf(parsed.value) : null;
  }

  return {
    begin() {
      before = NONE;
    },
    async tell(told) {
      const { boot, atMs, pid } = await readMoment();
      latest = { ...{ boot, atMs, pid, told }, more: null, isOrdered: false };
      await keep({ ...latest, told: before });
      before = told;
    },
    async end(told, isAsked) {
      const { boot, atMs, pid } = latest ?? (await readMoment());
      latest = { ...{ boot, atMs, pid, told }, more: null, isOrdered: isAsked };
      if (isAsked) await keep(latest);
    },
    async stretch(kernelLosses) {
      const [word, now] = await Promise.all([latest ?? stored(), readMoment()]);
      if (word === null || word.boot !== now.boot || word.isOrdered) return;
      const lost = (await kernelLosses()) ?? word.told.inKernel;
      const more = Math.max(0, lost - word.told.inKernel);
      await keep({ ...word, atMs: now.atMs, pid: now.pid, more });
    },
    async recall() {
      const word = latest ?? (await stored());
      if (word === null || word.boot !== (await readMoment()).boot) return null;
      return word.isOrdered && latest === null ? null : word;
    },
  };
}

/** How many processes and threads at most began since then, and the sentence that tells it. */
export function gapSince(
  word: LastWord,
  now: Moment,
): { readonly unseen: number; readonly text: string } {
  const wrapped = now.pid + Math.max(0, now.pidMax - word.pid);
  const unseen = now.pid >= word.pid ? now.pid - word.pid : wrapped;
  const [from, to] = [word.atMs, now.atMs].map((ms) => new Date(ms).toISOString());
  return {
    unseen,
    text: `nothing is known of what happened from ${from} to ${to}: at most ${unseen} processes and threads began unseen`,
  };
}

/** Where the kernel stands now. */
export async function momentOf(): Promise<Moment> {
  const text = (name: string) => readFile(`/proc/${name}`, 'utf8').catch(() => '');
  const [boot, load, most] = await Promise.all([
    text('sys/kernel/random/boot_id'),
    text('loadavg'),
    text('sys/kernel/pid_max'),
  ]);
  return {
    boot: boot.trim(),
    atMs: Date.now(),
    pid: Number(load.trim().split(' ').at(-1)) || 0,
    pidMax: Number(most) || 32_768,
  };
}

function wordOf(value: unknown): LastWord | null {
  if (!isObject(value) || !isObject(value['told'])) return null;
  const { boot, more, isOrdered } = value;
  const numbers = [
    value['atMs'],
    value['pid'],
    value['told']['inKernel'],
    value['told']['inProgram'],
  ];
  const [atMs = 0, pid = 0, inKernel = 0, inProgram = 0] = numbers.map(Number);
  const isFit = [atMs, pid, inKernel, inProgram].every(
    (one) => Number.isSafeInteger(one) && one >= 0,
  );
  if (typeof boot !== 'string' || !isFit) return null;
  return {
    ...{ boot, atMs, pid, told: { inKernel, inProgram } },
    more: typeof more === 'number' && Number.isSafeInteger(more) ? more : null,
    isOrdered: isOrdered === true,
  };
}
