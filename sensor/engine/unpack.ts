// Lays the engine's files out under the state directory, where it runs from. A manifest of SHA-256 sums says whether what
// lies there is what this Sensor brings; anything else is written anew, each file beside its place and then renamed, so
// that an engine which runs from there keeps the file it was started with.
import { createHash } from 'node:crypto';
import { chmod, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';

export const ENGINE_VERSION = '1.7.0';
export const PROCFS_ENGINE_FILE = 'procfs-engine.ts';
const MANIFEST = 'manifest.json';

export type EngineFile = {
  readonly name: string;
  readonly content: Uint8Array;
  /** Whether it is run by the kernel, not by Node. */
  readonly isProgram?: boolean;
};
export type UnpackResult =
  | { readonly ok: true; readonly directory: string; readonly written: readonly string[] }
  | { readonly ok: false; readonly reason: string };

const PROCFS = new URL('./procfs/', import.meta.url);

/** The sources of the engine that Node runs, which is all of that folder but its tests. */
export async function engineSources(directory: URL = PROCFS): Promise<readonly URL[]> {
  const names = (await readdir(directory)).filter(
    (name) => name.endsWith('.ts') && !name.endsWith('.test.ts'),
  );
  return names.sort().map((name) => new URL(name, directory));
}

/** Their contents. */
export async function engineFiles(directory: URL = PROCFS): Promise<readonly EngineFile[]> {
  const sources = await engineSources(directory);
  return await Promise.all(
    sources.map(async (source) => ({
      name: path.basename(source.pathname),
      content: await readFile(source),
    })),
  );
}

/** Where the engine runs from; `beside` for one that is tried while another runs. */
export function engineDirectory(stateDir: string, place?: 'beside'): string {
  const directory = path.join(stateDir, 'engine', `v${ENGINE_VERSION}`);
  return place === undefined ? directory : path.join(directory, 'next');
}

/** Moves what was laid out beside to where an engine is started from. */
export async function settleEngine(stateDir: string, names: readonly string[]): Promise<void> {
  const [from, to] = [engineDirectory(stateDir, 'beside'), engineDirectory(stateDir)];
  for (const name of [...names, MANIFEST]) await rename(path.join(from, name), path.join(to, name));
  await syncDirectory(to);
  await clearBeside(stateDir);
}

/** Removes what was laid out beside and not settled. */
export async function clearBeside(stateDir: string): Promise<void> {
  await rm(engineDirectory(stateDir, 'beside'), { recursive: true, force: true });
}

/** Makes `engine/v1.7.0/` hold exactly these contents; writes only what differs. Idempotent; a full disk is a result. */
export async function unpackEngine(options: {
  readonly stateDir: string;
  readonly files: readonly EngineFile[];
  readonly place?: 'beside';
}): Promise<UnpackResult> {
  const directory = engineDirectory(options.stateDir, options.place);
  const sums = options.files.map((file): [string, string] => [file.name, sumOf(file.content)]);
  const manifest = `${JSON.stringify({ version: ENGINE_VERSION, sha256: Object.fromEntries(sums) })}\n`;
  const wanted: readonly EngineFile[] = [
    ...options.files,
    { name: MANIFEST, content: Buffer.from(manifest) },
  ];
  const written: string[] = [];
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    for (const file of wanted) {
      const place = path.join(directory, file.name);
      const mode = file.isProgram === true ? 0o700 : 0o600;
      if ((await sumOfFile(place)) === sumOf(file.content)) {
        await chmod(place, mode);
        continue;
      }
      await writeDurably(place, file.content, mode);
      written.push(file.name);
    }
    if (written.length > 0) await syncDirectory(directory);
    return { ok: true, directory, written };
  } catch (error) {
    return { ok: false, reason: String(error) };
  }
}

export function sumOf(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/** What a file holds now; undefined when it cannot be read. */
export async function sumOfFile(file: string): Promise<string | undefined> {
  const content = await readFile(file).catch(() => undefined);
  return content === undefined ? undefined : sumOf(content);
}

async function writeDurably(place: string, content: Uint8Array, mode: number): Promise<void> {
  const temporary = `${place}.new`;
  const handle = await open(temporary, 'w', mode);
  try {
    await handle.chmod(mode);
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, place);
}

/** After it, renames survive a power loss: what is kept in place of another build is known by what lies there. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
