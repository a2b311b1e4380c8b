// Puts the engines this program carries in place and chooses among them. A build that was refused stays out: what ran
// when it was tried still lies there, and is used when nobody changed it.
import { join } from 'node:path';
import type { EngineBuild } from '../../machines/sensor/engine.rules.ts';
import {
  CARRIED,
  type CarriedEngine,
  carriedEngine,
  ENTRY,
  type LaidOut,
  laidOutOf,
  type OwnKind,
} from './carried.ts';
import { chooseEngine, type EngineChoice, type EngineKind, type EngineWish } from './choice.ts';
import { whyNoEbpf } from './ebpf.ts';
import { engineDirectory, sumOfFile, unpackEngine } from './unpack.ts';

/** An engine of our own as it lies in place. */
export type OwnEngine = {
  readonly kind: OwnKind;
  readonly build: EngineBuild;
  readonly files: readonly LaidOut[];
};
/** What is kept in place of a build that was refused. */
export type Kept = { readonly refused: EngineBuild; readonly engine: OwnEngine };
type Asked = {
  /** Why no Tetragon runs here, after whatever it needs was put in place. */
  readonly whyNotTetragon: () => Promise<string | undefined>;
  readonly givenUp?: ReadonlyMap<EngineKind, string>;
  readonly carried?: URL;
  readonly kept?: ReadonlyMap<OwnKind, Kept>;
};

/** Puts the engines in place and says which of them runs here; rejects when the disk refuses. */
export async function layOutAndChoose(
  stateDir: string,
  wish: EngineWish,
  asked: Asked,
): Promise<{
  readonly directory: string;
  readonly choice: EngineChoice;
  readonly engines: ReadonlyMap<OwnKind, OwnEngine>;
}> {
  const carried = asked.carried ?? CARRIED;
  const directory = engineDirectory(stateDir);
  const engines = new Map<OwnKind, OwnEngine>();
  const reasons = new Map<EngineKind, string>();
  const files = [];
  for (const kind of ['procfs', 'ebpf'] as const) {
    const found = await carriedEngine(kind, carried);
    const kept = found.ok ? keptFor(found, asked.kept?.get(kind)) : undefined;
    if (!found.ok) reasons.set(kind, found.reason);
    else if (kept === undefined) {
      engines.set(kind, { kind, build: found.build, files: laidOutOf(found.files) });
      files.push(...found.files);
    } else if (await isIntact(directory, kept.files)) engines.set(kind, kept);
    else reasons.set(kind, 'its newer build was refused, and the one before was changed since');
  }
  const result = await unpackEngine({ stateDir, files });
  if (!result.ok) throw new Error(result.reason);
  const choice = await chooseEngine(wish, async (kind) => {
    const reason = asked.givenUp?.get(kind) ?? reasons.get(kind);
    if (reason !== undefined) return reason;
    if (kind === 'tetragon') return await asked.whyNotTetragon();
    return kind === 'ebpf' ? await whyNoEbpf(join(directory, ENTRY[kind])) : undefined;
  });
  return { directory, choice, engines };
}

function keptFor(
  found: CarriedEngine & { readonly ok: true },
  kept: Kept | undefined,
): OwnEngine | undefined {
  return kept?.refused.sum === found.build.sum ? kept.engine : undefined;
}

async function isIntact(directory: string, files: readonly LaidOut[]): Promise<boolean> {
  const sums = await Promise.all(files.map(({ name }) => sumOfFile(join(directory, name))));
  return files.every(({ sum }, at) => sum === sums[at]);
}
