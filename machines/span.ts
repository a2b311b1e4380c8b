// Spans of time as people read them, on the page and in sentences of both programs.
const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const;

/** A span in its two largest units: `1 h 12 min`, `45 s`; rounded down, nothing below none. */
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
