// The inputs that are kept in the repository, one file each, named after its content: `corpus/<target>/` leads the
// search to every block reached so far, `crashes/<target>/` is replayed for ever.
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = import.meta.dirname;
export const CORPUS_FILES_MAX = 60;
export const CORPUS_TARGET_MAX_BYTES = 40_960;
export type Kept = 'corpus' | 'crashes';

/** Every kept input of a target, in the order of the file names. */
export function keptInputs(kept: Kept, target: string): Buffer[] {
  const folder = join(ROOT, kept, target);
  return namesIn(folder).map((name) => readFileSync(join(folder, name)));
}

/** Stores an input and answers its path. Storing it again changes nothing. */
export function keepInput(kept: Kept, target: string, bytes: Buffer): string {
  const folder = join(ROOT, kept, target);
  mkdirSync(folder, { recursive: true });
  const file = join(folder, nameOf(bytes));
  writeFileSync(file, bytes);
  return file;
}

/** Makes the corpus of a target exactly these inputs; the caller has chosen them within the bounds. */
export function replaceCorpus(target: string, inputs: readonly Buffer[]): void {
  const folder = join(ROOT, 'corpus', target);
  const names = new Set(inputs.map(nameOf));
  for (const name of namesIn(folder)) if (!names.has(name)) rmSync(join(folder, name));
  for (const bytes of inputs) keepInput('corpus', target, bytes);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}

function nameOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex').slice(0, 16);
}
