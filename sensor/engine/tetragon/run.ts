// One run of Tetragon as a child process. It speaks no protocol of ours, so that its hello and its signs of life are made
// here from what its service answers: a Tetragon whose service is silent counts as hanging, and the Sensor starts it anew.
import { spawn } from 'node:child_process';
import { access } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import {
  TETRAGON_ALIVE_INTERVAL_MS,
  TETRAGON_LOSS_INTERVAL_MS,
  TETRAGON_READY_POLL_MS,
} from '../../../machines/sensor/tetragon-limits.ts';
import { parseJson } from '../../../machines/wire/parse.ts';
import type { EngineLaunch, EngineRun } from '../engine-run.ts';
import { readKernel } from '../kernel.ts';
import { residentBytes } from '../process-memory.ts';
import type { PlacedBundle } from './bundle.ts';
import { createPolicySource } from './compiled-policies.ts';
import { tetragonFlags } from './flags.ts';
import { type Gap, gapSince, type LastWords, momentOf, type Recalled } from './last-word.ts';
import { kernelLosses, LOSS_MAP, metricsLosses, NO_LOSSES, type TetragonLosses } from './losses.ts';
import { createPolicyKeeper, forgetStartFiles } from './policy-keeper.ts';
import { connectTetragon, type TetragonService } from './service.ts';

export type TetragonPlan = {
  readonly bundle: PlacedBundle;
  readonly socket: string;
  readonly stateDir: string;
  /** The policies it loads by itself; ours alone. */
  readonly startDir: string;
  /** Where its programs and maps are pinned. */
  readonly pinned: string;
  readonly metricsAddress: string | null;
  readonly words: LastWords;
  /** How the run before ended; null when there was none. */
  readonly before: Recalled | null;
  /** What its kernel side lost after that. */
  readonly lostBefore: number;
};

const SPOKEN_VERSION = /^v?(1\.7\.\d+[\w.+-]*)$/;

/** Starts it. What it says wrong goes to `onErrorLine`; its hello and life to `onLine`, as lines of every engine. */
export async function runTetragon(options: EngineLaunch, plan: TetragonPlan): Promise<EngineRun> {
  const { bundle, socket } = plan;
  const flags = tetragonFlags({
    bpfLib: bundle.bpfLib,
    bpfDir: path.basename(plan.pinned),
    exportFile: options.exportFile,
    socket,
    policyDir: plan.startDir,
    metricsAddress: plan.metricsAddress,
  });
  const child = spawn(bundle.program, flags, {
    cwd: path.dirname(bundle.program), // it would read a tetragon.yaml of its working directory
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'] ?? '', NODE_NAME: options.nodeName },
  });
  let lastWords = '';
  const hear = (line: string): void => {
    const words = trouble(line);
    if (words === undefined) return;
    lastWords = words.slice(0, 256);
    options.onErrorLine(words);
  };
  createInterface({ input: child.stdout }).on('line', hear);
  createInterface({ input: child.stderr }).on('line', hear);
  const ended = new Promise<string>((resolve) => {
    child.on('error', (error) => resolve(error.message));
    child.on('close', (code, killed) => resolve(`it ended with ${killed ?? code}`));
  });
  const watch = watchOver(options, plan, (reason) => {
    lastWords = reason;
    child.kill('SIGTERM');
  });
  let isAsked = false;
  const gone = ended.then(async (how) => {
    const hadBegun = await watch.end(isAsked);
    const reason = lastWords === '' ? how : `${how}: ${lastWords}`;
    if (!hadBegun) {
      // One of the policies it loads by itself may be what keeps it from starting.
      await forgetStartFiles(plan.startDir).catch(() => undefined);
    }
    return reason;
  });
  return {
    gone,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    memoryBytes: () => residentBytes(child.pid),
    endInput: () => {
      isAsked = true;
      child.kill('SIGTERM');
    },
    kill: () => {
      // What has to be killed has not ended in order.
      isAsked = false;
      child.kill('SIGKILL');
    },
  };
}

/** Asks the service until it answers, says hello, then tells life and keeps the policies. */
function watchOver(
  options: EngineLaunch,
  plan: TetragonPlan,
  giveUp: (reason: string) => void,
): { readonly end: (isAsked: boolean) => Promise<boolean> } {
  const ending = new AbortController();
  let hasBegun = false;
  let service: TetragonService | undefined;
  const losses = createLossReading(plan);
  /** What the run before did not come to tell: told with this one's own. */
  const carried = { kernel: plan.lostBefore, unseen: 0 };

  function wordOf({ inKernel, inProgram }: TetragonLosses): Readonly<Record<string, unknown>> {
    // No line of its export tells of them, as our own engines' lines do.
    const untold = {
      kernel_lost: carried.kernel + inKernel,
      engine_lost: carried.unseen + inProgram,
    };
    return { lost: untold.kernel_lost + untold.engine_lost, untold };
  }

  async function begin(): Promise<TetragonService | undefined> {
    while (!ending.signal.aborted) {
      await pause(TETRAGON_READY_POLL_MS, ending.signal);
      if (!(await isThere(plan.socket))) continue;
      service ??= connectTetragon(plan.socket);
      const version = await service.version();
      if (!version.ok || ending.signal.aborted) continue;
      const spoken = SPOKEN_VERSION.exec(version.value)?.[1];
      if (spoken === undefined) {
        giveUp(`the bundle is Tetragon ${version.value}; this Sensor speaks 1.7`);
        return undefined;
      }
      hasBegun = true;
      plan.words.begin(plan.before);
      const gap = plan.before === null ? null : gapSince(plan.before, await momentOf());
      carried.unseen = gap?.unseen ?? 0;
      if (gap !== null) options.onErrorLine(gap.text);
      options.onLine(JSON.stringify({ ...hello(spoken, plan, gap), ...wordOf(NO_LOSSES) }));
      return service;
    }
    return undefined;
  }

  async function live(): Promise<void> {
    const found = await begin();
    if (found === undefined) return;
    const { onErrorLine: tell, isStrict } = options;
    const { preemptRt: isPreemptRt } = await readKernel();
    const source = createPolicySource(plan.stateDir, tell, { isPreemptRt, isStrict });
    const keeper = await createPolicyKeeper({ service: found, startDir: plan.startDir, tell });
    const keep = async (): Promise<void> => {
      while (!ending.signal.aborted) {
        options.onLine(JSON.stringify({ policies: await keeper.converge(await source()) }));
        await pause(TETRAGON_ALIVE_INTERVAL_MS, ending.signal);
      }
    };
    const beat = async (): Promise<void> => {
      while (!ending.signal.aborted) {
        const [version, lost] = await Promise.all([found.version(), losses.read()]);
        if (version.ok) {
          options.onLine(JSON.stringify({ alive: true, ...wordOf(lost) }));
          await plan.words.tell(lost);
        }
        await pause(TETRAGON_ALIVE_INTERVAL_MS, ending.signal);
      }
    };
    await Promise.all([keep(), beat()]);
  }

  const living = live().catch((error: unknown) => giveUp(String(error)));
  return {
    async end(isAsked) {
      ending.abort();
      service?.close();
      await living;
      if (hasBegun) {
        // After a crash its map is still there, and counts on.
        const lost = await losses.readLast();
        options.onLine(JSON.stringify(wordOf(lost)));
        await plan.words.end(lost, isAsked);
      }
      return hasBegun;
    },
  };
}

/** Reads the losses at most once an interval, since a dump of a large machine's map is long. */
function createLossReading(plan: TetragonPlan): {
  readonly read: () => Promise<TetragonLosses>;
  /** When it has ended: its metrics are gone, and the map is whoever's it was. */
  readonly readLast: () => Promise<TetragonLosses>;
} {
  const { metricsAddress, bundle } = plan;
  const { mapReader } = bundle;
  let lost: TetragonLosses = { inKernel: 0, inProgram: 0 };
  let readAtMs = Number.NEGATIVE_INFINITY;
  const byMap = async (): Promise<TetragonLosses | undefined> =>
    mapReader === undefined
      ? undefined
      : await mapLosses(mapReader, path.join(plan.pinned, LOSS_MAP));
  // Neither of the two ever falls.
  function take(found: TetragonLosses | undefined): TetragonLosses {
    lost = {
      inKernel: Math.max(lost.inKernel, found?.inKernel ?? 0),
      inProgram: Math.max(lost.inProgram, found?.inProgram ?? 0),
    };
    return lost;
  }
  return {
    async read() {
      if (performance.now() - readAtMs < TETRAGON_LOSS_INTERVAL_MS) return lost;
      readAtMs = performance.now();
      return take(metricsAddress !== null ? await metricsLosses(metricsAddress) : await byMap());
    },
    readLast: async () => take(await byMap()),
  };
}

async function mapLosses(reader: string, map: string): Promise<TetragonLosses> {
  return { inKernel: (await kernelLosses(reader, map)) ?? 0, inProgram: 0 };
}

/** With what the run before lost it is what the Sensor makes an event of, when nobody watched for a time. */
function hello(
  version: string,
  plan: TetragonPlan,
  gap: Gap | null,
): Readonly<Record<string, unknown>> {
  const counters = 'losses between its ring and its export are told by its metrics only';
  const hooks = gap === null ? [] : [{ hook: 'tetragon/gap', reason: gap.text }];
  if (plan.metricsAddress === null) {
    hooks.push({
      hook: 'tetragon/loss_counters',
      reason: `${counters} (tetragon: metrics_address:)`,
    });
    if (plan.bundle.mapReader === undefined) {
      hooks.push({
        hook: 'tetragon/kernel_losses',
        reason: 'the bundle has no bpftool to read them',
      });
    }
  }
  const { since, until, how } = gap ?? {};
  return {
    ...{ engine: 'tetragon', version, mode: 'tetragon', disabled_hooks: hooks },
    gap_ms: gap?.ms ?? 0,
    ...(gap !== null && { unwatched: { since, until, how } }),
  };
}

/** A line of Tetragon's log that is worth telling; its warnings, its errors, and what is no log line at all. */
function trouble(line: string): string | undefined {
  if (line.trim() === '') return undefined;
  const parsed = parseJson(line);
  const value: unknown = parsed.ok ? parsed.value : undefined;
  if (typeof value !== 'object' || value === null) return line;
  const level = String(Reflect.get(value, 'level') ?? '').toLowerCase();
  if (level.startsWith('info') || level.startsWith('debug')) return undefined;
  const error: unknown = Reflect.get(value, 'error');
  const said = String(Reflect.get(value, 'msg') ?? line);
  return error === undefined ? said : `${said}: ${String(error)}`;
}

function isThere(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(done, ms);
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
    signal.addEventListener('abort', done);
  });
}
