// What a license is good for at an instant: valid until `valid_until`, then grace until `grace_until`, then new nodes above
// its number are refused and nothing else changes. The last instant of each is already too late. Time is the largest
// that was ever seen, so a clock that goes back gives nothing back. invariant: I16; decision: D32, D33
import { type Refusal, refuse } from '../errors.ts';
import {
  LICENSE_CHECK_MAX_MS,
  LICENSE_GRACE_DAYS,
  LICENSE_NOTICE_DAYS,
  SKEW_TOLERATED_MS,
} from '../limits.ts';
import type { LicenseDraft, LicensePayload } from '../wire/license.ts';

const DAY_MS = 86_400_000;
const WHOLE_SECONDS_CHARS = 19;

export const LICENSE_PHASES = ['absent', 'pending', 'valid', 'grace', 'expired'] as const;
export type LicensePhase = (typeof LICENSE_PHASES)[number];

/** A license whose signature was checked, with its dates in milliseconds. */
export type LicenseFacts = {
  readonly licenseId: string;
  readonly customerId: string;
  readonly workspaceId: string;
  readonly plan: string;
  readonly maxProtectedNodes: number;
  readonly validFromMs: number;
  readonly validUntilMs: number;
  readonly graceUntilMs: number;
  readonly issuedAtMs: number;
};
export type LicenseDates = Pick<
  LicenseFacts,
  'validFromMs' | 'validUntilMs' | 'graceUntilMs' | 'issuedAtMs'
>;
type FactsResult = { readonly ok: true; readonly facts: LicenseFacts } | Refusal;

/** Reads the dates of a payload and checks their order. */
export function factsOfLicense(payload: LicensePayload): FactsResult {
  const dates = {
    validFromMs: instantOf(payload.valid_from),
    validUntilMs: instantOf(payload.valid_until),
    graceUntilMs: instantOf(payload.grace_until),
    issuedAtMs: instantOf(payload.issued_at),
  };
  const mistakes = mistakesOf(dates);
  if (mistakes.length > 0) {
    return refuse('schema_violation', 'The dates of the license do not fit.', { errors: mistakes });
  }
  return {
    ok: true,
    facts: {
      licenseId: payload.license_id,
      customerId: payload.customer_id,
      workspaceId: payload.workspace_id,
      plan: payload.plan,
      maxProtectedNodes: payload.max_protected_nodes,
      ...dates,
    },
  };
}

/** Fills what a signer may leave out: issued now, the usual grace. A date that is none is left for the check. */
export function payloadOfDraft(
  draft: LicenseDraft,
  nowMs: number,
  graceDays = LICENSE_GRACE_DAYS,
): LicensePayload {
  const endMs = instantOf(draft.valid_until);
  const graceEndMs = endMs + graceDays * DAY_MS;
  return {
    ...draft,
    grace_until: draft.grace_until ?? textOf(graceEndMs, draft.valid_until),
    issued_at: draft.issued_at ?? textOf(nowMs, draft.valid_from),
  };
}

/** The phase at an instant. */
export function phaseOfLicense(dates: LicenseDates | null, atMs: number): LicensePhase {
  if (dates === null) return 'absent';
  if (atMs >= dates.graceUntilMs) return 'expired';
  if (atMs >= dates.validUntilMs) return 'grace';
  return atMs < dates.validFromMs ? 'pending' : 'valid';
}

/** How many nodes may be enrolled in all; null = no limit now. Only a license past its grace limits. invariant: I16 */
export function nodesAllowedBy(facts: LicenseFacts | null, atMs: number): number | null {
  if (facts === null || phaseOfLicense(facts, atMs) !== 'expired') return null;
  return facts.maxProtectedNodes;
}

/** Milliseconds until the phase may change or time is to be looked at again; at least one. */
export function checkDelayMs(dates: LicenseDates | null, atMs: number): number {
  if (dates === null) return LICENSE_CHECK_MAX_MS;
  const edges = [dates.validFromMs, dates.validUntilMs, dates.graceUntilMs];
  const next = Math.min(...edges.filter((edge) => edge > atMs));
  return Math.max(1, Math.min(next - atMs, LICENSE_CHECK_MAX_MS));
}

/**
 * Where the largest time seen begins anew when a license is imported. The first one, and one that was issued later than
 * the license in force, prove what time it is, and so heal a clock that once ran ahead; any other leaves it.
 * decision: D33
 */
export function seenAfterImport(
  change: { readonly before: LicenseDates | null; readonly next: LicenseDates },
  time: { readonly nowMs: number; readonly seenMs: number },
): number {
  const { before, next } = change;
  const isNewer = before === null || next.issuedAtMs > before.issuedAtMs;
  return isNewer ? Math.max(time.nowMs, next.issuedAtMs) : Math.max(time.nowMs, time.seenMs);
}

/** Whether the clock stands so far behind the largest time seen that it was set back. */
export function isClockBehind(nowMs: number, seenMs: number): boolean {
  return seenMs - nowMs > SKEW_TOLERATED_MS;
}

export type LicenseStretch = {
  readonly phase: Exclude<LicensePhase, 'absent'>;
  /** Null = since ever. */
  readonly fromMs: number | null;
  /** Null = for ever. */
  readonly untilMs: number | null;
};

/** The phases of a license in their order, without those that have no length. */
export function timelineOfLicense(dates: LicenseDates | null): readonly LicenseStretch[] {
  if (dates === null) return [];
  const { validFromMs, validUntilMs, graceUntilMs } = dates;
  const stretches: readonly LicenseStretch[] = [
    { phase: 'pending', fromMs: null, untilMs: validFromMs },
    { phase: 'valid', fromMs: validFromMs, untilMs: validUntilMs },
    { phase: 'grace', fromMs: validUntilMs, untilMs: graceUntilMs },
    { phase: 'expired', fromMs: graceUntilMs, untilMs: null },
  ];
  return stretches.filter((one) => one.fromMs !== one.untilMs);
}

export type LicenseBanner = {
  readonly level: 'info' | 'warning' | 'critical';
  readonly reason: 'absent' | 'pending' | 'ending_soon' | 'grace' | 'expired' | 'clock_behind';
  /** Whole days until the next edge, rounded up; null when there is none. */
  readonly daysLeft: number | null;
};

/** What operators are told without asking, worst first. */
export function bannersOfLicense(
  dates: LicenseDates | null,
  time: { readonly nowMs: number; readonly seenMs: number },
): readonly LicenseBanner[] {
  const atMs = Math.max(time.nowMs, time.seenMs);
  const banners: LicenseBanner[] = [];
  if (isClockBehind(time.nowMs, time.seenMs)) {
    banners.push({ level: 'warning', reason: 'clock_behind', daysLeft: null });
  }
  const own = phaseBanner(dates, atMs);
  if (own === null) return banners;
  return own.level === 'info' ? [...banners, own] : [own, ...banners];
}

function phaseBanner(dates: LicenseDates | null, atMs: number): LicenseBanner | null {
  if (dates === null) return { level: 'info', reason: 'absent', daysLeft: null };
  const phase = phaseOfLicense(dates, atMs);
  if (phase === 'expired') return { level: 'critical', reason: 'expired', daysLeft: null };
  if (phase === 'grace') {
    return { level: 'warning', reason: 'grace', daysLeft: daysUntil(dates.graceUntilMs, atMs) };
  }
  if (phase === 'pending') {
    return { level: 'info', reason: 'pending', daysLeft: daysUntil(dates.validFromMs, atMs) };
  }
  const daysLeft = daysUntil(dates.validUntilMs, atMs);
  return daysLeft > LICENSE_NOTICE_DAYS ? null : { level: 'info', reason: 'ending_soon', daysLeft };
}

function daysUntil(untilMs: number, atMs: number): number {
  return Math.ceil((untilMs - atMs) / DAY_MS);
}

function mistakesOf(dates: LicenseDates) {
  const { validFromMs, validUntilMs, graceUntilMs, issuedAtMs } = dates;
  const rules: readonly (readonly [pointer: string, holds: boolean, detail: string])[] = [
    ['/valid_from', Number.isFinite(validFromMs), 'is no date'],
    ['/valid_until', Number.isFinite(validUntilMs), 'is no date'],
    ['/grace_until', Number.isFinite(graceUntilMs), 'is no date'],
    ['/issued_at', Number.isFinite(issuedAtMs), 'is no date'],
    ['/valid_until', !(validUntilMs <= validFromMs), 'must be after valid_from'],
    ['/grace_until', !(graceUntilMs < validUntilMs), 'must not be before valid_until'],
    // What was issued later than it is good for would move the largest time seen past its own end.
    ['/issued_at', !(issuedAtMs >= validUntilMs), 'must be before valid_until'],
  ];
  return rules.flatMap(([pointer, holds, detail]) => (holds ? [] : [{ pointer, detail }]));
}

// A date such as 30 February must not become another one.
function instantOf(text: string): number {
  const ms = Date.parse(text);
  if (!Number.isFinite(ms)) return Number.NaN;
  const back = new Date(ms).toISOString();
  return back.slice(0, WHOLE_SECONDS_CHARS) === text.slice(0, WHOLE_SECONDS_CHARS)
    ? ms
    : Number.NaN;
}

function textOf(ms: number, otherwise: string): string {
  const date = new Date(ms);
  return Number.isFinite(date.getTime()) ? date.toISOString() : otherwise;
}
