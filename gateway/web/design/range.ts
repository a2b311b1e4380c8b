// A range of time as the address holds it: `now-1h`, or instants. Moved and widened it becomes absolute.
const UNIT_MS: Readonly<Record<string, number>> = {
  ...{ s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 },
};
const RELATIVE = /^now(?:([-+])(\d{1,6})([smhdw]))?$/;
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/;
const LEAST_MS = 1_000;

/** As in an address; without an end it lasts until now. */
export type Range = { readonly from?: string | undefined; readonly to?: string | undefined };
export type Span = { readonly fromMs: number; readonly toMs: number };

/** The instant that a text means; null when it means none. */
export function instantOf(text: string, nowMs: number): number | null {
  const [isRelative, sign, amount = '0', unit = 's'] = RELATIVE.exec(text) ?? [];
  if (isRelative !== undefined) {
    const shiftMs = Number(amount) * (UNIT_MS[unit] ?? 0);
    return sign === '-' ? nowMs - shiftMs : nowMs + shiftMs;
  }
  const ms = INSTANT.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) ? null : ms;
}

/** From where to where it goes; null when it goes nowhere. */
export function spanOf(range: Range, fallback: string, nowMs: number): Span | null {
  const fromMs = instantOf(range.from ?? fallback, nowMs);
  const toMs = instantOf(range.to ?? 'now', nowMs);
  return fromMs === null || toMs === null || fromMs > toMs ? null : { fromMs, toMs };
}

export function rangeOf({ fromMs, toMs }: Span): Required<Range> {
  return { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() };
}

/** Half of its length earlier (-1) or later (1). */
export function shifted({ fromMs, toMs }: Span, direction: -1 | 1): Span {
  const byMs = (direction * Math.max(LEAST_MS, toMs - fromMs)) / 2;
  return { fromMs: Math.round(fromMs + byMs), toMs: Math.round(toMs + byMs) };
}

/** Twice as long around its middle, never past now. */
export function widened({ fromMs, toMs }: Span, nowMs: number): Span {
  const halfMs = Math.max(LEAST_MS, toMs - fromMs) / 2;
  return {
    fromMs: Math.round(fromMs - halfMs),
    toMs: Math.round(Math.min(Math.max(toMs, nowMs), toMs + halfMs)),
  };
}
