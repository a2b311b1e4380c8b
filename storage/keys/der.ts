// Reads DER one level at a time, without recursion: the caller asks for the children of one element, so depth is what
// the caller's own code has and hostile nesting costs nothing. Definite, minimal lengths only. Errors throw DerError;
// a caller that reads foreign bytes catches it.

export class DerError extends Error {}

export type DerElement = {
  readonly tag: number;
  /** The whole element as it stood, header included: what a signature covers. */
  readonly raw: Buffer;
  readonly content: Buffer;
};

const LENGTH_BYTES_MAX = 3;

/** The element at `at`; its bytes are views, not copies. */
export function readElement(bytes: Buffer, at = 0): DerElement {
  const tag = bytes[at];
  const first = bytes[at + 1];
  if (tag === undefined || first === undefined) throw new DerError('an element is cut off');
  if ((tag & 0x1f) === 0x1f) throw new DerError('long tags are not used here');
  const lengthBytes = first & 0x80 ? first & 0x7f : 0;
  if (first === 0x80 || lengthBytes > LENGTH_BYTES_MAX) throw new DerError('a length is refused');
  const start = at + 2 + lengthBytes;
  if (start > bytes.length) throw new DerError('a length is cut off');
  const length = lengthBytes === 0 ? first : bytes.readUIntBE(at + 2, lengthBytes);
  if (lengthBytes > 0 && (length < 0x80 || bytes[at + 2] === 0))
    throw new DerError('a length is not minimal');
  if (start + length > bytes.length) throw new DerError('an element is cut off');
  const end = start + length;
  return { tag, raw: bytes.subarray(at, end), content: bytes.subarray(start, end) };
}

/** The children of a constructed element with the expected tag, at most `max`. */
export function readChildren(element: DerElement, tag: number, max: number): DerElement[] {
  if (element.tag !== tag) throw new DerError(`tag ${element.tag} stands where ${tag} belongs`);
  const children: DerElement[] = [];
  for (let at = 0; at < element.content.length; ) {
    if (children.length === max) throw new DerError('there are too many elements');
    const child = readElement(element.content, at);
    children.push(child);
    at += child.raw.length;
  }
  return children;
}

/** One element made of parts that are already encoded. */
export function writeElement(tag: number, parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const length = content.length;
  if (length < 0x80) return Buffer.concat([Buffer.of(tag, length), content]);
  const lengthBytes = length < 0x100 ? 1 : length < 0x10000 ? 2 : 3;
  const header = Buffer.alloc(2 + lengthBytes);
  header[0] = tag;
  header[1] = 0x80 | lengthBytes;
  header.writeUIntBE(length, 2, lengthBytes);
  return Buffer.concat([header, content]);
}
