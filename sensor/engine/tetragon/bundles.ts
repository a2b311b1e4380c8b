// The bundles of Tetragon over time: which one runs, whether the operator pinned another by now, and which one was
// refused. The one that runs stays in place until the next one does. decision: D46, D50
import { stat } from 'node:fs/promises';
import type { EngineBuild, EngineRefusal } from '../../../machines/sensor/engine.rules.ts';
import {
  beginTrial,
  type EngineTrial,
  type KeptEngine,
} from '../../../machines/sensor/engine-trials.rules.ts';
import type { KindLook, TrialKeeper } from '../engine-upgrades.ts';
import { whyNotTried } from '../lay-out.ts';
import { type BundleResult, findPlaced, type PlacedBundle, pinOf, placeBundle } from './bundle.ts';

/** What an operator says of the bundle. */
export type TetragonSettings = {
  readonly bundle: string | null;
  readonly sha256: string | null;
  readonly metricsAddress: string | null;
};
/** The settings as they are now; null while they cannot be read. */
export type ReadSettings = () => Promise<TetragonSettings | null>;
export type Bundles = TrialKeeper & {
  /** As they were read last. */
  settings(): TetragonSettings;
  /** Why the bundle cannot be used; undefined = it can. Never rejects. */
  whyNot(): Promise<string | undefined>;
  /** Puts what is to be started in place: the bundle that is named, or what ran when that one was refused. */
  place(): Promise<BundleResult>;
  /** The bundle that was put in place last to run; null = none, or it was passed over since. */
  running(): EngineBuild | null;
  /** Whether another one is pinned and lies there than what runs, or was passed over. */
  look(): Promise<KindLook>;
  /** What is pinned now is what it is judged by whether one can run. */
  consider(): void;
  /** None runs. */
  passOver(): void;
  /** Puts another bundle in place beside; rejects with the reason. */
  prepare(build: EngineBuild): Promise<PlacedBundle>;
  accept(): void;
  refuse(refusal: EngineRefusal): void;
};
type Placed = { readonly pin: string; readonly bundle: PlacedBundle };

const KIND = 'tetragon';
const NAME_PIN_CHARS = 12;

/** Keeps them in a directory of its own; `read` absent = the settings stay what they are. */
export function createBundles(
  directory: string,
  given: TetragonSettings,
  read: ReadSettings = async () => given,
): Bundles {
  let settings = given;
  let running: Placed | null = null;
  let next: Placed | null = null;
  let trial: EngineTrial | null = null;
  let considered: string | null = null;
  let seen: { readonly marks: string; readonly pin: string } | null = null;

  async function kept(): Promise<Placed | null> {
    if (trial === null || trial.kept === null || trial.build.sum !== settings.sha256) return null;
    const pin = trial.kept.build.sum;
    const bundle = await findPlaced(directory, pin);
    return bundle === undefined ? null : { pin, bundle };
  }

  async function whyNot(): Promise<string | undefined> {
    const { bundle, sha256 } = settings;
    if (bundle === null) return 'no bundle is named (tetragon: bundle: in sensor.yaml)';
    if ((await kept()) !== null) return undefined;
    const found = await pinOf(bundle).catch((error: unknown) => error);
    if (typeof found !== 'string') return `the bundle cannot be read: ${String(found)}`;
    if (sha256 === null) {
      return `no SHA-256 is pinned (tetragon: sha256:); that of the bundle is ${found}`;
    }
    if (trial?.build.sum === sha256 && trial.kept === null) return whyNotTried(trial);
    return found === sha256 ? undefined : `the bundle's SHA-256 is ${found}, another one is pinned`;
  }

  /** The pin of what lies there now. A file is read whole only when it is another; a directory's files tell nothing. */
  async function pinNow(bundle: string): Promise<string> {
    const found = await stat(bundle);
    if (!found.isFile()) return await pinOf(bundle);
    const marks = [bundle, found.ino, found.size, found.mtimeMs, found.ctimeMs].join(' ');
    if (seen?.marks !== marks) seen = { marks, pin: await pinOf(bundle) };
    return seen.pin;
  }

  async function look(): Promise<KindLook> {
    settings = (await read().catch(() => null)) ?? settings;
    const { bundle, sha256 } = settings;
    if (bundle === null || sha256 === null) return 'unready';
    // Another one is named: what is pinned now was not tried.
    if (trial !== null && trial.build.sum !== sha256) trial = null;
    if (sha256 === (running?.pin ?? considered)) return 'current';
    // The operator names the file first or the sum first; nothing happens before they fit.
    const pin = await pinNow(bundle).catch(() => null);
    return pin === sha256 ? buildOf(sha256) : 'unready';
  }

  return {
    settings: () => settings,
    whyNot,
    look,
    recall(trials) {
      const found = trials.find(({ build }) => build.kind === KIND);
      trial = found?.build.sum === settings.sha256 ? found : null;
    },
    trials: () => (trial === null ? [] : [trial]),
    running: () => (running === null ? null : buildOf(running.pin)),
    consider() {
      considered = settings.sha256;
    },
    passOver() {
      considered = running?.pin ?? considered;
      running = null;
    },
    async place() {
      const { bundle, sha256 } = settings;
      if (bundle === null || sha256 === null) return { ok: false, reason: 'no bundle is pinned' };
      const before = await kept();
      if (before !== null) {
        running = before;
        return { ok: true, bundle: before.bundle };
      }
      const result = await placeBundle({ bundle, pin: sha256, directory });
      if (!result.ok) return result;
      running = { pin: sha256, bundle: result.bundle };
      trial = null;
      return result;
    },
    async prepare(build) {
      const { bundle } = settings;
      if (bundle === null) throw new Error('no bundle is named');
      const { sum } = build;
      const keep = running?.pin ?? sum;
      const result = await placeBundle({ bundle, pin: sum, directory, keep });
      if (!result.ok) throw new Error(result.reason);
      next = { pin: sum, bundle: result.bundle };
      trial = beginTrial(trial ?? undefined, build, keptOf(running));
      return result.bundle;
    },
    accept() {
      [running, next, trial] = [next ?? running, null, null];
    },
    refuse({ build, reason }) {
      const isPlaced = next?.pin === build.sum;
      next = null;
      const trials = trial?.build.sum === build.sum ? trial.trials : 0;
      // None ran, and it was not even put in place: what is missing may be there when the Sensor starts again.
      trial =
        running === null && !isPlaced ? null : { build, reason, trials, kept: keptOf(running) };
    },
  };
}

function keptOf(placed: Placed | null): KeptEngine | null {
  return placed === null ? null : { build: buildOf(placed.pin), files: [] };
}

function buildOf(pin: string): EngineBuild {
  return { kind: KIND, sum: pin, name: `${KIND} (${pin.slice(0, NAME_PIN_CHARS)})` };
}
