// Changes of bytes that know nothing of what they mean: flips, pieces taken out, doubled, moved or brought from another
// input, words of the target's dictionary, numbers at the edges.
import type { Random } from './random.ts';

const EDGE_NUMBERS = [
  '0',
  '-1',
  '-0',
  '1e309',
  '1.5',
  '255',
  '256',
  '65535',
  '65536',
  '2147483647',
  '2147483648',
  '4294967296',
  '9007199254740991',
  '9007199254740992',
  '18446744073709551616',
];
const EDGE_BYTES = [0x00, 0x01, 0x0a, 0x0d, 0x20, 0x22, 0x2c, 0x5c, 0x7b, 0x7f, 0x80, 0xc0, 0xff];
const PIECE_MAX = 64;

export type MutationMeans = {
  readonly random: Random;
  readonly dictionary: readonly string[];
  /** Another input to take pieces from. */
  readonly other: Buffer;
};
type Change = (bytes: Buffer, means: MutationMeans) => Buffer;

const CHANGES: readonly Change[] = [
  function flipBit(bytes, { random }) {
    const copy = Buffer.from(bytes);
    const at = random.below(copy.length);
    copy[at] = (copy[at] ?? 0) ^ (1 << random.below(8));
    return copy;
  },
  function setByte(bytes, { random }) {
    const copy = Buffer.from(bytes);
    copy[random.below(copy.length)] = random.once(2) ? random.below(256) : random.pick(EDGE_BYTES);
    return copy;
  },
  function insertByte(bytes, { random }) {
    const byte = random.once(2) ? random.below(256) : random.pick(EDGE_BYTES);
    return replace(bytes, random.below(bytes.length + 1), 0, Buffer.of(byte));
  },
  function takeOut(bytes, { random }) {
    return replace(bytes, random.below(bytes.length), pieceLength(random), Buffer.alloc(0));
  },
  function cutShort(bytes, { random }) {
    return bytes.subarray(0, random.below(bytes.length + 1));
  },
  function double(bytes, { random }) {
    const from = random.below(bytes.length);
    const piece = bytes.subarray(from, from + pieceLength(random));
    const times = random.once(8) ? 1 + random.below(64) : 1;
    const many = Buffer.concat(Array.from({ length: times }, () => piece));
    return replace(bytes, random.below(bytes.length + 1), 0, many);
  },
  function move(bytes, { random }) {
    const from = random.below(bytes.length);
    const piece = Buffer.from(bytes.subarray(from, from + pieceLength(random)));
    const without = replace(bytes, from, piece.length, Buffer.alloc(0));
    return replace(without, random.below(without.length + 1), 0, piece);
  },
  function bring(bytes, { random, other }) {
    const from = random.below(other.length);
    const piece = other.subarray(from, from + pieceLength(random) * 4);
    const instead = random.once(2) ? piece.length : 0;
    return replace(bytes, random.below(bytes.length + 1), instead, piece);
  },
  function joinHalves(bytes, { random, other }) {
    return Buffer.concat([
      bytes.subarray(0, random.below(bytes.length + 1)),
      other.subarray(random.below(other.length + 1)),
    ]);
  },
  function putWord(bytes, { random, dictionary }) {
    const word = Buffer.from(dictionary.length === 0 ? '\0' : random.pick(dictionary));
    const instead = random.once(2) ? word.length : 0;
    return replace(bytes, random.below(bytes.length + 1), instead, word);
  },
  function putNumber(bytes, { random }) {
    const found = [...bytes.toString('latin1').matchAll(/\d+/g)];
    const place = found.length === 0 ? undefined : random.pick(found);
    const text = Buffer.from(random.pick(EDGE_NUMBERS));
    return replace(
      bytes,
      place?.index ?? random.below(bytes.length + 1),
      place?.[0].length ?? 0,
      text,
    );
  },
  function changeLittle(bytes, { random }) {
    const copy = Buffer.from(bytes);
    const at = random.below(copy.length);
    copy[at] = (copy[at] ?? 0) + random.below(33) - 16;
    return copy;
  },
];

/** One to eight changes in a row. */
export function mutateBytes(bytes: Buffer, means: MutationMeans): Buffer {
  let changed = bytes;
  const changes = means.random.once(3) ? 1 + means.random.below(8) : 1;
  for (let at = 0; at < changes; at += 1) {
    changed = means.random.pick(CHANGES)(changed, means);
  }
  return changed;
}

function pieceLength(random: Random): number {
  return 1 + (random.once(4) ? random.below(PIECE_MAX * 16) : random.below(PIECE_MAX));
}

function replace(bytes: Buffer, at: number, length: number, by: Buffer): Buffer {
  return Buffer.concat([bytes.subarray(0, at), by, bytes.subarray(at + length)]);
}
