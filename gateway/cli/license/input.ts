// A small document from a file or from standard input, bounded before it is read whole.
import { open } from 'node:fs/promises';
import { LICENSE_BODY_MAX_BYTES } from '../../../machines/limits.ts';
import { CommandFailure, EXIT } from '../plumbing/exit.ts';

export type ReadInput = (path: string) => Promise<string>;

/** Reads a file, or standard input for `-`; more than LICENSE_BODY_MAX_BYTES are refused. */
export const readInput: ReadInput = async (path) => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of await streamOf(path)) {
    const part = Buffer.from(chunk as Uint8Array);
    bytes += part.length;
    if (bytes > LICENSE_BODY_MAX_BYTES) {
      throw new CommandFailure(EXIT.usage, `${path} is over ${LICENSE_BODY_MAX_BYTES} bytes`);
    }
    chunks.push(part);
  }
  return Buffer.concat(chunks).toString('utf8');
};

async function streamOf(path: string) {
  if (path === '-') return process.stdin;
  try {
    return (await open(path, 'r')).createReadStream({ end: LICENSE_BODY_MAX_BYTES });
  } catch (error) {
    throw new CommandFailure(EXIT.usage, error instanceof Error ? error.message : String(error));
  }
}
