// Puts the engines this program carries in place and chooses among them. A build that was refused stays out as long as
// what ran when it was tried lies there unchanged; without that, it is better than nothing. decision: D50
import { join } from 'node:path';
import {
  type EngineTrial,
  type KeptEngine,
  refusalOf,
} from '../../machines/sensor/engine-trials.rules.ts';
import { CARRIED, carriedEngine, ENTRY, laidOutOf, type OwnKind } from './carried.ts';
import { chooseEngine, type EngineChoice, type EngineKind, type EngineWish } from './choice.ts';
import { whyNoEbpf } from './ebpf.ts';
import { engineDirectory, sumOfFile, unpackEngine } from './unpack.ts';

/** An engine that was given up: this build of it; null = whichever. */
export type GivenUp = { readonly reason: string; readonly sum: string | null };
type Asked = {
  /** Why no Tetragon runs here, after whatever it needs was put in place. */
  readonly whyNotTetragon: () => Promise<string | undefined>;
  readonly givenUp?: ReadonlyMap<EngineKind, GivenUp>;
  readonly carried?: URL;
  readonly trials?: ReadonlyMap<OwnKind, EngineTrial>;
};

/** Puts the engines in place and says which of them runs here; rejects when the disk refuses. */
export async function layOutAndChoose(
  stateDir: string,
  wish: EngineWish,
  asked: Asked,
): Promise<{
  readonly directory: string;
  readonly choice: EngineChoice;
  /** What lies in place of each kind. */
  readonly engines: ReadonlyMap<OwnKind, KeptEngine>;
}> {
  const carried = asked.carried ?? CARRIED;
  const directory = engineDirectory(stateDir);
  const engines = new Map<OwnKind, KeptEngine>();
  const reasons = new Map<EngineKind, string>();
  const files = [];
  for (const kind of ['procfs', 'ebpf'] as const) {
    const found = await carriedEngine(kind, carried);
    if (!found.ok) {
      reasons.set(kind, found.reason);
      continue;
    }
    const trial = asked.trials?.get(kind);
    const isTried = trial !== undefined && trial.build.sum === found.build.sum;
    if (isTried && trial.kept === null) reasons.set(kind, whyNotTried(trial));
    else if (isTried && trial.kept !== null && (await isIntact(directory, trial.kept))) {
      engines.set(kind, trial.kept);
    } else {
      engines.set(kind, { build: found.build, files: laidOutOf(found.files) });
      files.push(...found.files);
    }
  }
  const result = await unpackEngine({ stateDir, files });
  if (!result.ok) throw new Error(result.reason);
  const choice = await chooseEngine(wish, async (kind) => {
    const reason = whyGivenUp(kind) ?? reasons.get(kind);
    if (reason !== undefined) return reason;
    if (kind === 'tetragon') return await asked.whyNotTetragon();
    return kind === 'ebpf' ? await whyNoEbpf(join(directory, ENTRY[kind])) : undefined;
  });
  return { directory, choice, engines };

  function whyGivenUp(kind: EngineKind): string | undefined {
    const given = asked.givenUp?.get(kind);
    if (given === undefined || given.sum === null || kind === 'tetragon') return given?.reason;
    const inPlace = engines.get(kind)?.build.sum ?? given.sum;
    return inPlace === given.sum ? given.reason : undefined;
  }
}

/** Why a build that nothing is kept for does not run. */
export function whyNotTried(trial: EngineTrial): string {
  const refusal = refusalOf(trial);
  return refusal === null
    ? 'it is tried beside what runs first'
    : `it did not take over: ${refusal.reason}`;
}

async function isIntact(directory: string, { files }: KeptEngine): Promise<boolean> {
  const sums = await Promise.all(files.map(({ name }) => sumOfFile(join(directory, name))));
  return files.every(({ sum }, at) => sum === sums[at]);
}
