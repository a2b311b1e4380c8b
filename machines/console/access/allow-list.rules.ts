// What may stand in a list of allowed destinations: a host name (or all names below one), an address, or a network. A
// number that merely looks like an address (0x7f.1, 127.1) is none of them, and no entry allows everything.

const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?$/i;
const HOST_MAX_CHARS = 253;
const NETWORK_BITS_MIN_V4 = 8;
const NETWORK_BITS_MIN_V6 = 16;

/** Whether a text may stand in the list. */
export function isAllowListEntry(text: string): boolean {
  const [address = '', bits, more] = text.split('/');
  if (more !== undefined) return false;
  if (isV4(address)) return bits === undefined || isBits(bits, NETWORK_BITS_MIN_V4, 32);
  if (isV6(address)) return bits === undefined || isBits(bits, NETWORK_BITS_MIN_V6, 128);
  return bits === undefined && isHostName(text);
}

function isBits(text: string, min: number, max: number): boolean {
  return /^\d{1,3}$/.test(text) && Number(text) >= min && Number(text) <= max;
}

function isV4(text: string): boolean {
  const parts = text.split('.');
  return (
    parts.length === 4 && parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && +part < 256)
  );
}

function isV6(text: string): boolean {
  const halves = text.split('::');
  if (halves.length > 2 || !text.includes(':')) return false;
  const groups = halves.flatMap((half) => (half === '' ? [] : half.split(':')));
  if (!groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return false;
  return halves.length === 2 ? groups.length < 8 : groups.length === 8;
}

function isHostName(text: string): boolean {
  const labels = (text.startsWith('*.') ? text.slice(2) : text).split('.');
  const last = labels.at(-1) ?? '';
  const looksNumeric = /^(0x[0-9a-f]*|\d+)$/i.test(last);
  return text.length <= HOST_MAX_CHARS && labels.every((one) => LABEL.test(one)) && !looksNumeric;
}
