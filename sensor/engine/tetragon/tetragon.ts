// A real Tetragon 1.7 as this Sensor's engine: whether it can run here, where it lies, and its start. Its libraries are
// loaded with its first start, because most nodes run without it. decision: D46
import { access, mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { ENGINE_STOP_TIMEOUT_MS } from '../../../machines/limits.ts';
import type { EngineBuild, EngineRefusal } from '../../../machines/sensor/engine.rules.ts';
import { UNIX_SOCKET_PATH_MAX_BYTES } from '../../../machines/sensor/tetragon-limits.ts';
import type { EngineLaunch, EngineRun } from '../engine-run.ts';
import type { NextEngine } from '../engine-upgrades.ts';
import type { PlacedBundle } from './bundle.ts';
import {
  type Bundles,
  createBundles,
  type ReadSettings,
  type TetragonSettings,
} from './bundles.ts';
import { bpfDirOf } from './flags.ts';
import { createLastWords } from './last-word.ts';
import { kernelLosses, LOSS_MAP } from './losses.ts';
import { findNeighbour, makeWay } from './neighbour.ts';

export type { TetragonSettings } from './bundles.ts';
/** Where the machine keeps what Tetragon needs. */
export type HostPlaces = {
  readonly pidFile: string;
  readonly typeInformation: string;
  readonly kprobes: string;
  readonly bpfFileSystem: string;
};
export type Tetragon = Pick<Bundles, 'recall' | 'trials' | 'running' | 'look'> & {
  /** Why it cannot run here; undefined = it can. Touches nothing. Never rejects. */
  readonly whyNot: () => Promise<string | undefined>;
  /** Puts the bundle in place and makes way for a start; a reason when that fails. Never rejects. */
  readonly prepare: () => Promise<string | undefined>;
  /** Asked only after `prepare`. */
  readonly launch: (options: EngineLaunch) => EngineRun;
  /** Ends what a killed Sensor left of it: its process and its programs in the kernel. Never rejects. */
  readonly clearAway: () => Promise<void>;
  /** Puts it in place; two cannot run beside each other, so that the next one is launched when this one is gone. */
  readonly prepareNext: (build: EngineBuild) => Promise<NextEngine>;
  readonly acceptNext: () => void;
  readonly refuseNext: (refusal: EngineRefusal) => void;
};

export const NO_TETRAGON: TetragonSettings = { bundle: null, sha256: null, metricsAddress: null };
const HOST: HostPlaces = {
  pidFile: '/var/run/tetragon/tetragon.pid',
  typeInformation: '/sys/kernel/btf/vmlinux',
  kprobes: '/sys/bus/event_source/devices/kprobe',
  bpfFileSystem: '/sys/fs/bpf',
};

/** The engine of one Sensor. */
export function createTetragon(
  stateDir: string,
  settings: TetragonSettings,
  more: { readonly host?: HostPlaces; readonly read?: ReadSettings } = {},
): Tetragon {
  const { host = HOST } = more;
  const own = path.join(stateDir, 'engine', 'tetragon');
  const socket = path.join(stateDir, 'run', 'tetragon.sock');
  const pinned = path.join(host.bpfFileSystem, bpfDirOf(stateDir));
  const words = createLastWords(path.join(own, 'last-word.json'));
  /** What the kernel side of the run before lost beyond what was told, until a run has taken it over. */
  let lostBefore = 0;
  const beginWords: typeof words.begin = (gap) => {
    lostBefore = 0;
    words.begin(gap);
  };
  const bundles = createBundles(path.join(own, 'bundles'), settings, more.read);
  let placed: PlacedBundle | undefined;

  async function whyNot(): Promise<string | undefined> {
    bundles.consider();
    if (bundles.settings().bundle === null) return await bundles.whyNot();
    return (await whyNotHere()) ?? (await bundles.whyNot());
  }

  /** What of it is not up to the bundle. */
  async function whyNotHere(): Promise<string | undefined> {
    if (process.platform !== 'linux') return 'it runs on Linux only';
    if (process.getuid?.() !== 0) return 'it needs root';
    if (Buffer.byteLength(socket) > UNIX_SOCKET_PATH_MAX_BYTES) {
      return 'the path of the state directory is too long for its socket';
    }
    if (!(await isThere(host.typeInformation))) return 'this kernel has no type information (BTF)';
    if (!(await isThere(host.kprobes))) return 'this kernel has no kprobes';
    const neighbour = await findNeighbour(host.pidFile, socket);
    if (neighbour.whose === 'foreign') {
      return `another Tetragon runs on this node (process ${neighbour.pid}, ${host.pidFile}); two cannot`;
    }
    return undefined;
  }

  /** By the map that is pinned now, whoever pinned it. */
  async function lossesInKernel(bundle?: PlacedBundle): Promise<number | undefined> {
    if (bundle?.mapReader === undefined) return undefined;
    return await kernelLosses(bundle.mapReader, path.join(pinned, LOSS_MAP));
  }

  async function prepare(): Promise<string | undefined> {
    try {
      const result = await bundles.place();
      if (!result.ok) return result.reason;
      placed = result.bundle;
      await makeDirectories();
      await clearWay(result.bundle);
      return undefined;
    } catch (error) {
      return String(error);
    }
  }

  async function makeDirectories(): Promise<void> {
    await mkdir(path.join(own, 'policies'), { recursive: true, mode: 0o700 });
    await mkdir(path.dirname(socket), { recursive: true, mode: 0o700 });
  }

  async function clearWay(bundle?: PlacedBundle): Promise<void> {
    const neighbour = await findNeighbour(host.pidFile, socket);
    if (neighbour.whose === 'ours') await words.stretch(() => lossesInKernel(bundle));
    await makeWay(host.pidFile, neighbour, ENGINE_STOP_TIMEOUT_MS);
    await rm(socket, { force: true });
  }

  function launch(options: EngineLaunch): EngineRun {
    if (placed === undefined) throw new Error('Tetragon is launched before it was prepared');
    return launchBundle(placed, options, async () => undefined);
  }

  function launchBundle(
    bundle: PlacedBundle,
    options: EngineLaunch,
    makeReady: () => Promise<void>,
  ): EngineRun {
    let run: EngineRun | undefined;
    let isEnding = false;
    let isGone = false;
    const begin = async (): Promise<string> => {
      const { runTetragon } = await import('./run.ts');
      await makeReady();
      if (isEnding) return 'stopped';
      // Read before the next one pins a map of its own; kept over starts that fail, which move the old one away.
      const before = await words.recall();
      const lost = (await lossesInKernel(bundle)) ?? 0;
      if (before !== null) {
        lostBefore = Math.max(lostBefore, before.more ?? lost - before.told.inKernel);
      }
      run = await runTetragon(options, {
        words: { ...words, begin: beginWords },
        before,
        lostBefore,
        bundle,
        socket,
        stateDir,
        startDir: path.join(own, 'policies'),
        pinned,
        metricsAddress: bundles.settings().metricsAddress,
      });
      if (isEnding) run.endInput();
      return await run.gone;
    };
    const gone = begin()
      .catch((error: unknown) => String(error))
      .finally(() => {
        isGone = true;
      });
    return {
      gone,
      hasEnded: () => isGone,
      memoryBytes: async () => (await run?.memoryBytes()) ?? null,
      endInput: () => {
        isEnding = true;
        run?.endInput();
      },
      kill: () => {
        isEnding = true;
        run?.kill();
      },
    };
  }

  async function clearAway(): Promise<void> {
    bundles.passOver();
    if ((await findNeighbour(host.pidFile, socket)).whose === 'ours') await clearWay();
    words.forget();
    for (const one of [pinned, `${pinned}_old`]) {
      await rm(one, { recursive: true, force: true }).catch(() => undefined);
    }
  }

  async function prepareNext(build: EngineBuild): Promise<NextEngine> {
    const reason = bundles.running() === null ? await whyNotHere() : undefined;
    if (reason !== undefined) throw new Error(reason);
    const bundle = await bundles.prepare(build);
    await makeDirectories();
    const makeReady = () => clearWay(bundle);
    return { isBeside: false, launch: (options) => launchBundle(bundle, options, makeReady) };
  }

  return {
    whyNot,
    prepare,
    launch,
    clearAway,
    recall: bundles.recall,
    trials: bundles.trials,
    running: bundles.running,
    look: bundles.look,
    prepareNext,
    acceptNext: bundles.accept,
    refuseNext: bundles.refuse,
  };
}

function isThere(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
