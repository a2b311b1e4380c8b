// What the program carries of its own engines, each with the sum that tells one build of it from another. A package
// upgrade replaces these files while the Sensor runs; halfway through, a program and its sum do not fit. decision: D50
import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { EngineBuild } from '../../machines/sensor/engine.rules.ts';
import type { LaidOutFile } from '../../machines/sensor/engine-trials.rules.ts';
import { EBPF_ENGINE_FILE, ebpfEngineFile, ebpfSources } from './ebpf.ts';
import {
  ENGINE_VERSION,
  type EngineFile,
  engineFiles,
  engineSources,
  PROCFS_ENGINE_FILE,
  sumOf,
} from './unpack.ts';

export type OwnKind = 'ebpf' | 'procfs';
export type CarriedEngine =
  | { readonly ok: true; readonly files: readonly EngineFile[]; readonly build: EngineBuild }
  | { readonly ok: false; readonly reason: string };

/** Where this program carries its engines. */
export const CARRIED = new URL('.', import.meta.url);
/** What is started of each. */
export const ENTRY: Readonly<Record<OwnKind, string>> = {
  ebpf: EBPF_ENGINE_FILE,
  procfs: PROCFS_ENGINE_FILE,
};
const NAME_SUM_CHARS = 12;

/** Reads an engine whole. Rejects when `procfs`, which every machine can run, cannot be read. */
export async function carriedEngine(kind: OwnKind, carried: URL): Promise<CarriedEngine> {
  if (kind === 'procfs') return carriedOf(kind, await engineFiles(new URL('procfs/', carried)));
  const ebpf = await ebpfEngineFile(new URL('native/', carried));
  return ebpf.ok ? carriedOf(kind, [ebpf.file]) : ebpf;
}

function carriedOf(kind: OwnKind, files: readonly EngineFile[]): CarriedEngine {
  const sum = sumOfAll(laidOutOf(files));
  const name = `${kind} ${ENGINE_VERSION} (${sum.slice(0, NAME_SUM_CHARS)})`;
  return { ok: true, files, build: { kind, sum, name } };
}

export function laidOutOf(files: readonly EngineFile[]): readonly LaidOutFile[] {
  return files.map(({ name, content }) => ({ name, sum: sumOf(content) }));
}

/** One file stands for itself; of several, as `sha256sum` would list them. */
function sumOfAll(files: readonly LaidOutFile[]): string {
  const [first] = files;
  if (first !== undefined && files.length === 1) return first.sum;
  const whole = createHash('sha256');
  for (const { name, sum } of files) whole.update(`${sum}  ${name}\n`);
  return whole.digest('hex');
}

/** What changes with every replacement of an engine's files and costs no reading of them. Rejects while one is missing. */
export async function marksOf(kind: OwnKind, carried: URL): Promise<string> {
  const sources =
    kind === 'ebpf'
      ? ebpfSources(new URL('native/', carried))
      : await engineSources(new URL('procfs/', carried));
  const marks = sources.map(async (source) => {
    const { ino, size, mtimeNs, ctimeNs } = await stat(fileURLToPath(source), { bigint: true });
    return [source.pathname, ino, size, mtimeNs, ctimeNs].join(' ');
  });
  return (await Promise.all(marks)).join('\n');
}
