// When Tetragon was last seen alive, what it had told of its losses by then, and how far the kernel's counts were: kept
// beside the state, so that the next start can say from when to when nobody watched, however it ended, and what may have
// been missed. The counts kept are those of one sign of life before, which the ledger has: after a kill a loss may be
// counted twice, never not at all. decision: D46, D51; invariant: I19
import { readFile, rename, writeFile } from 'node:fs/promises';
import { parseJson } from '../../../machines/wire/parse.ts';
import { isObject } from '../../pipeline/json-value.ts';
import { begunBetween, type Counted, threadsSince } from '../procfs/fork-counts.ts';
import { NO_LOSSES, type TetragonLosses } from './losses.ts';

export type LastWord = Counted & {
  readonly boot: string;
  readonly atMs: number;
  /** The same since the machine started; null as older builds left it. */
  readonly upMs: number | null;
  /** What was told by then. */
  readonly told: TetragonLosses;
  /** What its kernel side had lost beyond that when it was ended; null when nobody looked. */
  readonly more: number | null;
  /** It was ended in order. */
  readonly isOrdered: boolean;
};
export type Recalled = LastWord & { readonly how: 'killed' | 'stopped' | 'rebooted' };
export type Moment = Pick<LastWord, 'boot' | 'atMs' | 'pid' | 'forks'> & {
  readonly upMs: number;
  readonly pidMax: number;
};
export type LastWords = {
  /** A new run has said hello, and told this gap; its counters begin at nothing. */
  begin(gap: LastWord | null): void;
  /** It lives, and has told so much. */
  tell(told: TetragonLosses): Promise<void>;
  /** It has ended, having told so much; in order when it was asked to. When it was last alive stays as it was told. */
  end(told: TetragonLosses, isAsked: boolean): Promise<void>;
  /** One that outlived its Sensor is about to be ended; it watched until now. */
  stretch(kernelLosses: () => Promise<number | undefined>): Promise<void>;
  /** What is known of the run before, and how it ended; null when there was none. */
  recall(): Promise<Recalled | null>;
  /** Another engine watches from now on; what is on the disk is for whoever starts that one. */
  forget(): void;
};
/** Nobody watched for a time. */
export type Gap = {
  readonly since: string;
  readonly until: string;
  readonly how: Recalled['how'];
  readonly ms: number;
  /** At most how many processes and threads began in it. */
  readonly unseen: number;
  /** The sentence that tells it. */
  readonly text: string;
};

/** Over a file that may be absent. No call rejects: what cannot be kept is not told later. */
export function createLastWords(
  file: string,
  readMoment: () => Promise<Moment> = momentOf,
): LastWords {
  /** Exact while this process lives; the file is behind on purpose. */
  let latest: LastWord | null = null;
  /** What the sign of life before the latest told, and how far the kernel was then. */
  let before = NO_LOSSES;
  let counted: Counted | null = null;
  /** The gap before this run, which the ledger may not have yet. */
  let owed: LastWord | null = null;

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
    begin(gap) {
      before = NO_LOSSES;
      counted = null;
      owed = gap;
    },
    async tell(told) {
      const { boot, atMs, upMs, pid, forks } = await readMoment();
      // Of what began shortly before its lines may not be written yet.
      const from = counted ?? { pid, forks };
      counted = { pid, forks };
      latest = { ...{ boot, atMs, upMs, told }, ...from, more: null, isOrdered: false };
      await keep(
        owed === null ? { ...latest, told: before } : { ...owed, told: NO_LOSSES, more: null },
      );
      owed = null;
      before = told;
    },
    async end(told, isAsked) {
      const { boot, atMs, upMs, pid, forks } = latest ?? (await readMoment());
      latest = { ...{ boot, atMs, upMs, pid, forks, told }, more: null, isOrdered: isAsked };
      if (isAsked) await keep(latest);
    },
    async stretch(kernelLosses) {
      const [word, now] = await Promise.all([latest ?? stored(), readMoment()]);
      if (word === null || word.boot !== now.boot || word.isOrdered) return;
      const lost = (await kernelLosses()) ?? word.told.inKernel;
      const more = Math.max(0, lost - word.told.inKernel);
      const { atMs, upMs, pid, forks } = now;
      await keep({ ...word, atMs, upMs, pid, forks, more });
    },
    async recall() {
      const word = latest ?? (await stored());
      if (word === null) return null;
      if (word.boot !== (await readMoment()).boot) return { ...word, how: 'rebooted' };
      return { ...word, how: word.isOrdered ? 'stopped' : 'killed' };
    },
    forget() {
      latest = null;
    },
  };
}

/** From the last word to now. Threads that run and began in between are no processes that nobody saw. */
export function gapSince(
  word: Recalled,
  now: Moment,
  countThreads: (sinceUs: number) => number = threadsSince,
): Gap {
  const { how } = word;
  const isReboot = how === 'rebooted';
  const upMs = word.upMs ?? now.upMs - (now.atMs - word.atMs);
  const begun = isReboot ? now.forks : begunBetween(word, now, now.pidMax);
  const unseen = Math.max(0, begun - countThreads(isReboot ? 0 : Math.max(0, upMs) * 1_000));
  const ms = isReboot ? now.atMs - word.atMs : now.upMs - upMs;
  const [since = '', until = ''] = [word.atMs, now.atMs].map((at) => new Date(at).toISOString());
  return {
    ...{ since, until, how, ms: Math.max(1, Math.round(ms)), unseen },
    text: `nothing is known of what happened from ${since} to ${until} (${how}): at most ${unseen} processes and threads began unseen`,
  };
}

/** Where the kernel stands now. */
export async function momentOf(): Promise<Moment> {
  const text = (name: string) => readFile(`/proc/${name}`, 'utf8').catch(() => '');
  const [boot, load, most, uptime, stat] = await Promise.all([
    text('sys/kernel/random/boot_id'),
    text('loadavg'),
    text('sys/kernel/pid_max'),
    text('uptime'),
    text('stat'),
  ]);
  return {
    boot: boot.trim(),
    atMs: Date.now(),
    upMs: Math.round((Number.parseFloat(uptime) || 0) * 1_000),
    pid: Number(load.trim().split(' ').at(-1)) || 0,
    forks: Number(/^processes (\d+)$/m.exec(stat)?.[1] ?? 0),
    pidMax: Number(most) || 32_768,
  };
}

/** What was kept, when it is one. */
export function wordOf(value: unknown): LastWord | null {
  if (!isObject(value) || !isObject(value['told'])) return null;
  const { boot, more, isOrdered, upMs } = value;
  const numbers = [
    ...[value['atMs'], value['pid'], value['forks'] ?? 0],
    ...[value['told']['inKernel'], value['told']['inProgram']],
  ];
  const [atMs = 0, pid = 0, forks = 0, inKernel = 0, inProgram = 0] = numbers.map(Number);
  const isFit = [atMs, pid, forks, inKernel, inProgram].every(isCount);
  if (typeof boot !== 'string' || !isFit) return null;
  return {
    ...{ boot, atMs, pid, forks, told: { inKernel, inProgram } },
    upMs: isCount(upMs) ? upMs : null,
    more: typeof more === 'number' && Number.isSafeInteger(more) ? more : null,
    isOrdered: isOrdered === true,
  };
}

const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0;
