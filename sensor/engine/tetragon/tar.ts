// Reads a tar archive forward, one entry at a time, and trusts nothing in it: sizes and names are bounded, a header whose
// checksum is wrong ends the reading. Knows ustar, GNU long names and pax paths, which is what `tar` and Docker write.
import {
  TETRAGON_BUNDLE_BYTES_MAX,
  TETRAGON_BUNDLE_ENTRIES_MAX,
  TETRAGON_BUNDLE_NAME_MAX_BYTES,
} from '../../../machines/sensor/tetragon-limits.ts';

export type TarEntry = {
  readonly path: string;
  /** Anything else is a link, a device or the like. */
  readonly isFile: boolean;
  /** To be read, if at all, before the next entry is asked for. */
  readonly body: AsyncIterable<Uint8Array>;
};

const BLOCK = 512;
const NAMES_A_FILE = new Set(['0', '\0', '7']);
const DIRECTORY = '5';

/** The entries of an archive but for its directories. Throws with a reason on what is no sound archive. */
export async function* readTar(source: AsyncIterable<Uint8Array>): AsyncGenerator<TarEntry> {
  const input = createInput(source);
  let longName: string | undefined;
  for (let entries = 0; ; entries += 1) {
    if (entries > TETRAGON_BUNDLE_ENTRIES_MAX) throw new Error('the archive has too many entries');
    const header = await input.exactly(BLOCK);
    if (header === undefined || header.every((byte) => byte === 0)) return;
    const { name, size, type } = parseHeader(header);
    const padding = (BLOCK - (size % BLOCK)) % BLOCK;
    if (type === 'L' || type === 'x' || type === 'g') {
      if (size > TETRAGON_BUNDLE_NAME_MAX_BYTES) throw new Error('a name in it is too long');
      const text = ((await input.exactly(size)) ?? Buffer.alloc(0)).toString('utf8');
      await input.exactly(padding);
      if (type !== 'g')
        longName = (type === 'L' ? text.replace(/\0.*$/s, '') : paxPath(text)) ?? longName;
      continue;
    }
    const path = longName ?? name;
    longName = undefined;
    let left = size;
    async function* body(): AsyncGenerator<Uint8Array> {
      while (left > 0) {
        const chunk = await input.some(left);
        if (chunk === undefined) throw new Error('the archive ends too early');
        left -= chunk.byteLength;
        yield chunk;
      }
    }
    if (type !== DIRECTORY) yield { path, isFile: NAMES_A_FILE.has(type), body: body() };
    for await (const chunk of body()) void chunk;
    if (padding > 0 && (await input.exactly(padding)) === undefined) {
      throw new Error('the archive ends too early');
    }
  }
}

function parseHeader(header: Buffer): {
  readonly name: string;
  readonly size: number;
  readonly type: string;
} {
  const text = (from: number, to: number): string =>
    header.toString('utf8', from, to).replace(/\0.*$/s, '');
  const sum = Number.parseInt(text(148, 156).trim(), 8);
  let actual = 0;
  for (const [at, byte] of header.entries()) actual += at >= 148 && at < 156 ? 0x20 : byte;
  if (sum !== actual) throw new Error('it is no tar archive, or a broken one');
  const digits = text(124, 136).trim();
  const size = /^[0-7]*$/.test(digits) ? Number.parseInt(digits || '0', 8) : Number.NaN;
  if (!(size <= TETRAGON_BUNDLE_BYTES_MAX)) throw new Error('an entry in it is too large');
  const isUstar = header.toString('latin1', 257, 262) === 'ustar';
  const prefix = isUstar ? text(345, 500) : '';
  const name = text(0, 100);
  return {
    name: prefix === '' ? name : `${prefix}/${name}`,
    size,
    type: header.toString('latin1', 156, 157),
  };
}

/** The path among the records of a pax header, each `<length> key=value\n`. */
function paxPath(text: string): string | undefined {
  return /(?:^|\n)\d+ path=([^\n]*)\n/.exec(text)?.[1];
}

function createInput(source: AsyncIterable<Uint8Array>) {
  const chunks = source[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);
  let total = 0;
  async function fill(): Promise<boolean> {
    while (rest.byteLength === 0) {
      const next = await chunks.next();
      if (next.done === true) return false;
      total += next.value.byteLength;
      if (total > TETRAGON_BUNDLE_BYTES_MAX) throw new Error('it is too large when unpacked');
      rest = Buffer.from(next.value.buffer, next.value.byteOffset, next.value.byteLength);
    }
    return true;
  }
  /** At most so many bytes, at least one; undefined at the end. */
  async function some(bytes: number): Promise<Buffer | undefined> {
    if (!(await fill())) return undefined;
    const taken = rest.subarray(0, bytes);
    rest = rest.subarray(taken.byteLength);
    return taken;
  }
  async function exactly(bytes: number): Promise<Buffer | undefined> {
    const parts: Buffer[] = [];
    for (let left = bytes; left > 0; ) {
      const part = await some(left);
      if (part === undefined) return undefined;
      parts.push(part);
      left -= part.byteLength;
    }
    return Buffer.concat(parts);
  }
  return { some, exactly };
}
