// Addresses of both families as one kind of text that can be compared: 32 hexadecimal digits, IPv4 as ::ffff:a.b.c.d.

const DIGITS = 32;
const V4_PREFIX = '00000000000000000000ffff';
const V4_BITS = 32;
const V6_BITS = 128;
const V4 = /^(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3}$/;
const GROUP = /^[0-9a-f]{1,4}$/i;
const GROUPS = 8;
const ADDRESS_MAX_CHARS = 45;

/** The 32 digits of an address; null when the text is none. Zones (`%eth0`) are no part of an address. */
export function addressDigits(text: string): string | null {
  if (text.length > ADDRESS_MAX_CHARS) return null;
  if (V4.test(text)) return V4_PREFIX + v4Digits(text);
  if (!text.includes(':')) return null;
  return v6Digits(text);
}

export type Network = { readonly first: string; readonly last: string };

/** The first and last address of `a.b.c.d`, `a.b.c.d/24`, or the same of IPv6; null when it is none of them. */
export function networkOf(source: string): Network | null {
  const [base = '', length, more] = source.split('/');
  const digits = addressDigits(base);
  if (digits === null || more !== undefined) return null;
  if (length === undefined) return { first: digits, last: digits };
  const bits = V4.test(base) ? V4_BITS : V6_BITS;
  if (!/^\d{1,3}$/.test(length) || Number(length) > bits) return null;
  const free = bits - Number(length);
  const mask = (1n << BigInt(free)) - 1n;
  const value = BigInt(`0x${digits}`);
  return { first: hexOf(value & ~mask), last: hexOf(value | mask) };
}

function hexOf(value: bigint): string {
  return value.toString(16).padStart(DIGITS, '0');
}

function v4Digits(text: string): string {
  return text
    .split('.')
    .map((part) => Number(part).toString(16).padStart(2, '0'))
    .join('');
}

function v6Digits(text: string): string | null {
  const halves = text.split('::');
  if (halves.length > 2) return null;
  const [head, tail] = [groupsOf(halves[0] ?? ''), groupsOf(halves[1] ?? '')];
  if (head === null || tail === null) return null;
  // Only the end may be written as IPv4.
  if (halves.length === 2 && (halves[0] ?? '').includes('.')) return null;
  const missing = GROUPS - head.length - tail.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) return null;
  return [...head, ...Array.from({ length: missing }, () => '0000'), ...tail].join('');
}

function groupsOf(text: string): readonly string[] | null {
  if (text === '') return [];
  const parts = text.split(':');
  const last = parts.at(-1) ?? '';
  const groups: string[] = [];
  if (last.includes('.')) {
    if (!V4.test(last)) return null;
    const digits = v4Digits(last);
    parts.splice(-1, 1, digits.slice(0, 4), digits.slice(4));
  }
  for (const part of parts) {
    if (!GROUP.test(part)) return null;
    groups.push(part.toLowerCase().padStart(4, '0'));
  }
  return groups;
}
