// Numbers as people read them: thousands separated, at most three significant digits with a unit.
const EXACT = new Intl.NumberFormat('en-GB');
const SHORT = new Intl.NumberFormat('en-US', {
  notation: 'compact',
  maximumSignificantDigits: 3,
});
const PERCENT = new Intl.NumberFormat('en-GB', { style: 'percent', maximumFractionDigits: 2 });
const SHORT_FROM = 10_000;
const BYTE_UNITS = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

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

/** An id with its middle left out. */
export function shortId(id: string): string {
  return id.length <= 13 ? id : `${id.slice(0, 8)}…${id.slice(-4)}`;
}
