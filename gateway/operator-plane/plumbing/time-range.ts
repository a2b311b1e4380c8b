// Instants of a query: RFC 3339 text, or relative to now (`now`, `now-15m`, `now-7d`). Absolute times win no precision
// beyond milliseconds here; the event keyset carries the full text.
const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** Pattern of a time parameter, for the schema; `parseInstant` decides. */
export const INSTANT_PATTERN =
  '^(now([-+]\\d{1,6}[smhdw])?|\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,9})?(Z|[+-]\\d{2}:\\d{2}))$';

/** Milliseconds of an instant, or null when the text is none. */
export function parseInstant(text: string, nowMs: number): number | null {
  const relative = /^now(?:([-+])(\d{1,6})([smhdw]))?$/.exec(text);
  if (relative !== null) {
    const [, sign, amount = '0', unit = 's'] = relative;
    const shiftMs = Number(amount) * (UNIT_MS[unit] ?? 0);
    return sign === '-' ? nowMs - shiftMs : nowMs + shiftMs;
  }
  if (!new RegExp(INSTANT_PATTERN).test(text)) return null;
  // `Date.parse` reads the 31st of February as the 3rd of March.
  const [year = 0, month = 0, day = 0] = text.slice(0, 10).split('-').map(Number);
  if (new Date(Date.UTC(year, month - 1, day)).getUTCDate() !== day) return null;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? null : ms;
}

/** RFC 3339 UTC with milliseconds. */
export function timeText(ms: number): string {
  return new Date(ms).toISOString();
}

/** The same, for times that may be absent. */
export function timeTextOrNull(ms: number | null | undefined): string | null {
  return ms === null || ms === undefined ? null : timeText(ms);
}
