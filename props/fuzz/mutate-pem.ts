// Changes inside PEM: the DER behind the base64 is changed and wrapped again, by bytes or by whole elements with their
// lengths put right, so that the change is read and not only the armour.
import type { Random } from './random.ts';

const ARMOR = /-----BEGIN ([A-Z ]+)-----([\s\S]*?)-----END \1-----/;
const TAGS = [0x02, 0x03, 0x04, 0x05, 0x06, 0x0c, 0x13, 0x16, 0x17, 0x18, 0x30, 0x31, 0xa0, 0xa3];
const LENGTHS = [0x00, 0x7f, 0x80, 0x81, 0x82, 0x83, 0x84, 0xff];

/** Changes what the first PEM block holds; changes the text itself when there is none. */
export function mutatePem(bytes: Buffer, random: Random): Buffer {
  const text = bytes.toString('latin1');
  const found = ARMOR.exec(text);
  if (found === null || random.once(10)) return changeDer(bytes, random);
  const [whole, label, base64 = ''] = found;
  const der = changeDer(Buffer.from(base64, 'base64'), random);
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  const armored = `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----`;
  return Buffer.from(
    text.replace(whole, () => armored),
    'latin1',
  );
}

type Element = { readonly at: number; readonly head: number; readonly length: number };

/** Changes one element of DER, or one byte. */
export function changeDer(der: Buffer, random: Random): Buffer {
  const path = descend(der, random);
  const last = path.at(-1);
  if (last === undefined || random.once(4)) {
    const copy = Buffer.from(der);
    const at = random.below(copy.length);
    if (copy.length > 0) copy[at] = random.once(2) ? random.below(256) : random.pick(LENGTHS);
    return copy;
  }
  const whole = der.subarray(last.at, last.at + last.head + last.length);
  return rebuild(der, path, changeElement(whole, last, random));
}

function changeElement(whole: Buffer, { head }: Element, random: Random): Buffer {
  const content = whole.subarray(head);
  switch (random.below(6)) {
    case 0:
      return Buffer.alloc(0);
    case 1:
      return Buffer.concat([whole, whole]);
    case 2:
      return Buffer.concat([Buffer.of(random.pick(TAGS)), whole.subarray(1)]);
    case 3:
      return wrap(whole[0] ?? 0, content.subarray(0, random.below(content.length + 1)));
    case 4:
      return wrap(random.pick(TAGS), whole);
    default: {
      const copy = Buffer.from(content);
      if (copy.length > 0) copy[random.below(copy.length)] = random.below(256);
      return wrap(whole[0] ?? 0, copy);
    }
  }
}

/** The elements on a random way down from the outermost. */
function descend(der: Buffer, random: Random): Element[] {
  const path: Element[] = [];
  let [from, to] = [0, der.length];
  while (path.length < 12) {
    const children = childrenOf(der, from, to);
    if (children.length === 0) break;
    const child = random.pick(children);
    path.push(child);
    const isConstructed = ((der[child.at] ?? 0) & 0x20) !== 0;
    if (!isConstructed || random.once(5)) break;
    from = child.at + child.head;
    to = from + child.length;
  }
  return path;
}

function childrenOf(der: Buffer, from: number, to: number): Element[] {
  const children: Element[] = [];
  for (let at = from; at + 2 <= to && children.length < 64; ) {
    const first = der[at + 1] ?? 0;
    const lengthBytes = first & 0x80 ? first & 0x7f : 0;
    if (lengthBytes > 3 || at + 2 + lengthBytes > to) break;
    const length = lengthBytes === 0 ? first : der.readUIntBE(at + 2, lengthBytes);
    const head = 2 + lengthBytes;
    if (at + head + length > to) break;
    children.push({ at, head, length });
    at += head + length;
  }
  return children;
}

// Replaces the innermost element of a way and writes the lengths of those around it anew.
function rebuild(der: Buffer, path: readonly Element[], by: Buffer): Buffer {
  let [inner, before] = [by, path.at(-1)];
  for (const around of path.slice(0, -1).toReversed()) {
    if (before === undefined) break;
    const start = around.at + around.head;
    const content = Buffer.concat([
      der.subarray(start, before.at),
      inner,
      der.subarray(before.at + before.head + before.length, start + around.length),
    ]);
    inner = wrap(der[around.at] ?? 0, content);
    before = around;
  }
  const end = before === undefined ? 0 : before.at + before.head + before.length;
  return Buffer.concat([der.subarray(0, before?.at ?? 0), inner, der.subarray(end)]);
}

function wrap(tag: number, content: Buffer): Buffer {
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.of(tag, length), content]);
  if (length < 0x100) return Buffer.concat([Buffer.of(tag, 0x81, length), content]);
  return Buffer.concat([Buffer.of(tag, 0x82, (length >> 8) & 0xff, length & 0xff), content]);
}
