// What a checker owes to a PostgreSQL that forgets: of what it knows, the commits after the instant are gone, and nothing
// else. It is made anew from all it heard, without those; what people were told of them is in doubt, as is a word that was
// on its way when the server went. Truth is the accident's own instant.
import type { Observation, ObservationKind } from '../world/observation.ts';
import type { Checker, CheckerKind, FleetView } from './checker.ts';

/** Told at the very commit. */
const COMMITS: ReadonlySet<ObservationKind> = new Set<ObservationKind>([
  'token.created',
  'token.revoked',
  'sensor.enrolled',
  'certificate.issued',
  'certificate.activated',
  'sensor.revoked',
  'audit.sealed',
  'account.changed',
  'session.begun',
  'session.ended',
  'key.made',
  'key.ended',
]);
/** Told by people when they hear that something is committed, or of what is. */
const WORDS: ReadonlySet<ObservationKind> = new Set<ObservationKind>([
  'session.turned',
  'sessions.left',
  'sessions.closed',
  'factor.on',
  'setting.set',
  'settings.shown',
  'license.imported',
  'license.shown',
  'act.done',
  'alert.told',
  'search.told',
]);
/** From the commit to the ear of whoever asked. */
export const WORD_UNDER_WAY_MS = 10_000;

type Heard = { readonly seen: Observation; readonly atMs: number };

/** The same checker, which knows that PostgreSQL may forget. */
export function forgetful(kind: CheckerKind): CheckerKind {
  return { ...kind, make: (fleet, report) => makeForgetful(kind, fleet, report) };
}

function makeForgetful(
  kind: CheckerKind,
  fleet: FleetView,
  report: (detail: string) => void,
): Checker {
  if (!fleet.forgets) return kind.make(fleet, report);
  let isReplaying = false;
  const tell = (detail: string): void => {
    if (!isReplaying) report(detail);
  };
  let inner = kind.make(fleet, tell);
  let heard: Heard[] = [];
  let doubtUntilMs = 0;

  function goBack(forgot: Observation, sinceMs: number): void {
    // Everything keeps its number: what is gone is replaced by a word that means nothing to anybody.
    heard = heard.map((one) => (isGone(one, sinceMs) ? { ...one, seen: forgot } : one));
    isReplaying = true;
    inner = kind.make(fleet, tell);
    for (const { seen, atMs } of heard) inner.observe?.(seen, atMs);
    isReplaying = false;
  }

  return {
    observe(seen, atMs) {
      if (seen.kind === 'relational.forgot') {
        goBack(seen, seen.sinceMs);
        doubtUntilMs = atMs + WORD_UNDER_WAY_MS;
      }
      const isInDoubt = atMs < doubtUntilMs && WORDS.has(seen.kind);
      const kept: Observation = isInDoubt ? { kind: 'relational.forgot', sinceMs: atMs } : seen;
      heard.push({ seen: kept, atMs });
      inner.observe?.(kept, atMs);
    },
    probe: (atMs) => inner.probe?.(atMs),
    finish: (atMs) => inner.finish?.(atMs),
  };
}

function isGone({ seen, atMs }: Heard, sinceMs: number): boolean {
  return atMs > sinceMs && (COMMITS.has(seen.kind) || WORDS.has(seen.kind));
}
