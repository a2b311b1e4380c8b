// The fields of a message of protocol buffers, as far as lists of images need them. The bytes come from a runtime's socket:
// every length is judged against what is there, and a message that is torn is no message.

/** A field by its number: a message, text or bytes, or a whole number. */
export type ProtoField =
  | { readonly number: number; readonly bytes: Buffer }
  | { readonly number: number; readonly value: number };

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;
const VARINT_MAX_BYTES = 10;
/** More than any list that is read here has. */
const FIELDS_MAX = 65_536;

/** Every field in order; numbers that are not safe and fixed-width fields are left out. Null when the message is torn. */
export function protoFields(bytes: Buffer): readonly ProtoField[] | null {
  const fields: ProtoField[] = [];
  let at = 0;

  function varint(): number | null {
    let value = 0;
    for (let n = 0; n < VARINT_MAX_BYTES; n += 1) {
      const byte = bytes[at];
      if (byte === undefined) return null;
      at += 1;
      value += (byte & 0x7f) * 2 ** (7 * n);
      if (byte < 0x80) return value;
    }
    return null;
  }

  while (at < bytes.length) {
    const key = varint();
    if (key === null || !Number.isSafeInteger(key) || fields.length >= FIELDS_MAX) return null;
    const number = Math.floor(key / 8);
    const wire = key % 8;
    if (wire === VARINT) {
      const value = varint();
      if (value === null) return null;
      if (Number.isSafeInteger(value)) fields.push({ number, value });
    } else if (wire === BYTES) {
      const length = varint();
      if (length === null || length > bytes.length - at) return null;
      fields.push({ number, bytes: bytes.subarray(at, at + length) });
      at += length;
    } else if (wire === FIXED64 || wire === FIXED32) {
      at += wire === FIXED64 ? 8 : 4;
      if (at > bytes.length) return null;
    } else return null;
  }
  return fields;
}

/** The bytes of every field of this number. */
export function bytesAt(fields: readonly ProtoField[], number: number): readonly Buffer[] {
  return fields.flatMap((one) => (one.number === number && 'bytes' in one ? [one.bytes] : []));
}

/** The number in the last field of this number; undefined when there is none. */
export function numberAt(fields: readonly ProtoField[], number: number): number | undefined {
  const found = fields.findLast((one) => one.number === number && 'value' in one);
  return found !== undefined && 'value' in found ? found.value : undefined;
}
