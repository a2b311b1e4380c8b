// Files that people write for `apply`: YAML, and JSON with it.
import { parse } from 'yaml';
import { readInput } from '../license/input.ts';
import { CommandFailure, EXIT } from './exit.ts';

/** The fields of a file; `-` is standard input. Throws CommandFailure with what is wrong and where. */
export async function readFields(path: string): Promise<Readonly<Record<string, unknown>>> {
  const text = await readInput(path);
  try {
    const value: unknown = parse(text, { maxAliasCount: 0 });
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  } catch (error) {
    throw new CommandFailure(EXIT.usage, `${path}: ${error instanceof Error ? error.message : ''}`);
  }
  throw new CommandFailure(EXIT.usage, `${path} holds no fields`);
}
