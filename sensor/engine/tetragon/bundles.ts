// The bundles of Tetragon over time: which one runs, whether the operator pinned another by now, and which one was
// refused. The one that runs stays in place until the next one does. decision: D46, D50
import { stat } from 'node:fs/promises';
import type { EngineBuild } from '../../../machines/sensor/engine.rules.ts';
import type { EngineLook } from '../engine-upgrades.ts';
import { type BundleResult, findPlaced, type PlacedBundle, pinOf, placeBundle } from './bundle.ts';

/** What an operator says of the bundle. */
export type TetragonSettings = {
  readonly bundle: string | null;
  readonly sha256: string | null;
  readonly metricsAddress: string | null;
};
/** The settings as they are now; null while they cannot be read. */
export type ReadSettings = () => Promise<TetragonSettings | null>;
export type Bundles = {
  /** As they were read last. */
  settings(): TetragonSettings;
  /** Why the bundle cannot be used; undefined = it can. Never rejects. */
  whyNot(): Promise<string | undefined>;
  /** Puts what is to be started in place: the bundle that is named, or what ran when that one was refused. */
  place(): Promise<BundleResult>;
  look(): Promise<EngineLook>;
  /** Puts another bundle in place beside; rejects with the reason. */
  prepare(build: EngineBuild): Promise<PlacedBundle>;
  accept(): void;
  refuse(build: EngineBuild): void;
};
type Placed = { readonly pin: string; readonly bundle: PlacedBundle };

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
  let refused: { readonly sum: string; readonly before: Placed } | null = null;
  let seen: { readonly marks: string; readonly pin: string } | null = null;

  async function kept(): Promise<Placed | null> {
    if (refused === null || refused.sum !== settings.sha256) return null;
    const bundle = await findPlaced(directory, refused.before.pin);
    return bundle === undefined ? null : { pin: refused.before.pin, bundle };
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

  async function look(): Promise<EngineLook> {
    settings = (await read().catch(() => null)) ?? settings;
    const { bundle, sha256 } = settings;
    if (running === null || bundle === null || sha256 === null) return { state: 'unready' };
    if (sha256 === running.pin) return { state: 'current' };
    // The operator names the file first or the sum first; nothing happens before they fit.
    const pin = await pinNow(bundle).catch(() => null);
    if (pin !== sha256) return { state: 'unready' };
    return { state: 'newer', build: buildOf(sha256), running: buildOf(running.pin) };
  }

  return {
    settings: () => settings,
    whyNot,
    look,
    async place() {
      const { bundle, sha256 } = settings;
      if (bundle === null || sha256 === null) return { ok: false, reason: 'no bundle is pinned' };
      const before = await kept();
      if (before !== null) {
        running = before;
        return { ok: true, bundle: before.bundle };
      }
      const result = await placeBundle({ bundle, pin: sha256, directory });
      if (result.ok) running = { pin: sha256, bundle: result.bundle };
      return result;
    },
    async prepare({ sum }) {
      const { bundle } = settings;
      if (bundle === null || running === null) throw new Error('no bundle is named');
      const keep = running.pin;
      const result = await placeBundle({ bundle, pin: sum, directory, keep });
      if (!result.ok) throw new Error(result.reason);
      next = { pin: sum, bundle: result.bundle };
      return result.bundle;
    },
    accept() {
      [running, next, refused] = [next ?? running, null, null];
    },
    refuse({ sum }) {
      next = null;
      if (running !== null) refused = { sum, before: running };
    },
  };
}

function buildOf(pin: string): EngineBuild {
  return { sum: pin, name: `tetragon (${pin.slice(0, NAME_PIN_CHARS)})` };
}
