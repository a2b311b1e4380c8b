// Numbers and spans as people read them: thousands separated, at most three significant digits with a unit.
const EXACT = new Intl.NumberFormat('en-GB');
const SHORT = new Intl.NumberFormat('en-US', {
  notation: 'compact',
  maximumSignificantDigits: 3,
});
const PERCENT = new Intl.NumberFormat('en-GB', { style: 'percent', maximumFractionDigits: 2 });
const SHORT_FROM = 10_000;
const BYTE_UNITS = ['B', 'kB', 'MB', 'GB', 'TB'] as const;
const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const;

export const exact = (value: number): string => EXACT.format(value);
export const short = (value: number): string =>
  value < SHORT_FROM ? EXACT.format(value) : SHORT.format(value);
export const percent = (value: number): string => PERCENT.format(value);

/** Bytes with their unit, in steps of a thousand. */
export function bytes(value: number): string {
  let [left, unit] = [value, 0];
  while (left >= 1_000 && unit < BYTE_UNITS.length - 1) {
    left /= 1_000;
    unit += 1;
  }
  return `${Number(left.toPrecision(3))} ${BYTE_UNITS[unit]}`;
}

/** A span in its two largest units: `1 h 12 min`, `45 s`. */
export function span(ms: number): string {
  let seconds = Math.max(0, Math.floor(ms / 1_000));
  const parts: string[] = [];
  for (const [name, size] of UNITS) {
    const count = Math.floor(seconds / size);
    seconds -= count * size;
    if (count > 0) parts.push(`${count} ${name}`);
    if (parts.length === 2) break;
  }
  return parts.length === 0 ? '0 s' : parts.join(' ');
}

/** An id with its middle left out. */
export function shortId(id: string): string {
  return id.length <= 13 ? id : `${id.slice(0, 8)}…${id.slice(-4)}`;
}
