// Lays the engine's files out under the state directory, where it runs from. A manifest of SHA-256 sums says whether what
// lies there is what this Sensor brings; anything else is written anew, each file beside its place and then renamed.
import { createHash } from 'node:crypto';
import { chmod, mkdir, open, readFile, rename } from 'node:fs/promises';
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

/** The files of the engine this program carries. */
export async function engineFiles(): Promise<readonly EngineFile[]> {
  const source = new URL(`./procfs/${PROCFS_ENGINE_FILE}`, import.meta.url);
  return [{ name: PROCFS_ENGINE_FILE, content: await readFile(source) }];
}

/** Makes `engine/v1.7.0/` hold exactly these contents; writes only what differs. Idempotent; a full disk is a result. */
export async function unpackEngine(options: {
  readonly stateDir: string;
  readonly files: readonly EngineFile[];
}): Promise<UnpackResult> {
  const directory = path.join(options.stateDir, 'engine', `v${ENGINE_VERSION}`);
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
    return { ok: true, directory, written };
  } catch (error) {
    return { ok: false, reason: String(error) };
  }
}

export function sumOf(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

async function sumOfFile(file: string): Promise<string | undefined> {
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
