// How many rows a Parquet file says it has: the third field of the metadata at its end, in the compact protocol of Thrift.
// A file that was cut has no such end. decision: D157
const MAGIC = 'PAR1';
const TRAILER_BYTES = 8;
/** Of the metadata only the first fields are read: version, schema, rows. */
const DEPTH_MAX = 32;

/** How much of a file's end holds its metadata; null: this is no end of a Parquet file. */
export function footerBytesOf(end: Buffer): number | null {
  if (end.length < TRAILER_BYTES + MAGIC.length) return null;
  if (end.subarray(-MAGIC.length).toString('latin1') !== MAGIC) return null;
  return end.readUInt32LE(end.length - TRAILER_BYTES) + TRAILER_BYTES;
}

/** The number of rows that the end of a file tells; null when it cannot be read. */
export function rowsOfParquet(end: Buffer): number | null {
  const bytes = footerBytesOf(end);
  if (bytes === null || bytes > end.length) return null;
  const reader = { bytes: end.subarray(end.length - bytes, end.length - TRAILER_BYTES), at: 0 };
  try {
    let field = 0;
    for (;;) {
      const head = byteAt(reader);
      if (head === 0) return null;
      const type = head & 0x0f;
      field = head >> 4 === 0 ? zigzag(varint(reader)) : field + (head >> 4);
      if (field === 3 && type === 6) return zigzag(varint(reader));
      skip(reader, type, 0);
    }
  } catch {
    return null;
  }
}

type Reader = { readonly bytes: Buffer; at: number };

function byteAt(reader: Reader): number {
  const byte = reader.bytes[reader.at];
  if (byte === undefined) throw new RangeError('the metadata ends too early');
  reader.at += 1;
  return byte;
}

function varint(reader: Reader): number {
  let value = 0;
  for (let factor = 1; factor < Number.MAX_SAFE_INTEGER; factor *= 128) {
    const byte = byteAt(reader);
    value += (byte & 0x7f) * factor;
    if (byte < 0x80) return value;
  }
  throw new RangeError('a number is too long');
}

function zigzag(value: number): number {
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
}

/** Passes over a value of the compact protocol: 1 and 2 booleans, 3 a byte, 4-6 numbers, 7 a double, 8 bytes, 9-12 nested. */
function skip(reader: Reader, type: number, depth: number): void {
  if (depth > DEPTH_MAX) throw new RangeError('the metadata is nested too deep');
  if (type === 3) reader.at += 1;
  else if (type >= 4 && type <= 6) varint(reader);
  else if (type === 7) reader.at += 8;
  else if (type === 8) skipBytes(reader);
  else if (type === 9 || type === 10) skipList(reader, depth);
  else if (type === 12) skipStruct(reader, depth);
  else if (type !== 1 && type !== 2) throw new RangeError('a type is unknown');
}

function skipBytes(reader: Reader): void {
  // Read first: `at` of before would be taken otherwise.
  const length = varint(reader);
  reader.at += length;
}

function skipList(reader: Reader, depth: number): void {
  const head = byteAt(reader);
  const size = head >> 4 === 15 ? varint(reader) : head >> 4;
  const type = head & 0x0f;
  for (let at = 0; at < size; at += 1) {
    if (type === 1 || type === 2) reader.at += 1;
    else skip(reader, type, depth + 1);
    if (reader.at > reader.bytes.length) throw new RangeError('the metadata ends too early');
  }
}

function skipStruct(reader: Reader, depth: number): void {
  for (;;) {
    const head = byteAt(reader);
    if (head === 0) return;
    if (head >> 4 === 0) varint(reader);
    skip(reader, head & 0x0f, depth + 1);
  }
}
