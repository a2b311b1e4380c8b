// Trace stamps and ours are CLOCK_MONOTONIC; the wall clock is followed, small corrections are not.

let clockOffsetUs = 0;
export const monotonicUs = (): number => Math.floor(Number(process.hrtime.bigint()) / 1_000);
export function followWallClock(): void {
  const offset = Date.now() * 1_000 + 500 - monotonicUs();
  if (Math.abs(offset - clockOffsetUs) > 2_000) clockOffsetUs = offset;
}
export function isoTime(us: number): string {
  const wall = us + clockOffsetUs;
  const seconds = new Date(Math.floor(wall / 1_000)).toISOString().slice(0, 19);
  return `${seconds}.${String(wall % 1_000_000).padStart(6, '0')}000Z`;
}
