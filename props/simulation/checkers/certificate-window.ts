// The life of a certificate is exact. It is refused from its end on, by the clock of the Console that judges; a replaced
// one is accepted for exactly the overlap and never renews; one that another enrollment ended is never accepted. And
// nothing is refused before its time. Excuses: a Console that has not heard yet that a certificate was replaced or ended
// (REVOCATION_VIEW_MAX_AGE) or that PostgreSQL forgot it, and one whose clock was set back while it answered.
// invariant: I4; decisions: D12, D171
import { REVOCATION_VIEW_MAX_AGE_MS, WHEEL_TICK_MS } from '../../../machines/limits.ts';
import { SENSOR_PATHS } from '../../../machines/wire/enrollment.ts';
import type { ObservationOf } from '../world/observation.ts';
import type { CheckerKind } from './checker.ts';
import { ensure } from './columns.ts';

type Known = {
  readonly notAfterMs: number;
  /** By the clock of the Console that replaced it, and in true time without sleep. */
  superseded: { readonly byConsoleMs: number; readonly atMs: number } | null;
  endedAtMs: number | null;
};
const VIEW_MAX_MS = REVOCATION_VIEW_MAX_AGE_MS + 2 * WHEEL_TICK_MS;

export const certificateWindow: CheckerKind = {
  name: 'certificate-window',
  promise: 'A replaced certificate is accepted for exactly its overlap and never renews (I4).',
  make(fleet, report) {
    const overlapMs = fleet.intervals.PREVIOUS_CERTIFICATE_OVERLAP_MS;
    const awake = (ms: number): number => ms - fleet.world.scheduler.sleptMs();
    const known = new Map<string, Known>();
    const bySensor = new Map<string, Set<string>>();
    /** The certificate that waits for its first use, by sensor; a newer one ends it. */
    const pending = new Map<string, string>();
    /** When PostgreSQL forgot last, without sleep. */
    let forgotMs = Number.NEGATIVE_INFINITY;

    function add(sensor: string, fingerprint: string, notAfterMs: number): void {
      ensure(bySensor, sensor, () => new Set<string>()).add(fingerprint);
      ensure(known, fingerprint, () => ({ notAfterMs, superseded: null, endedAtMs: null }));
    }

    function end(sensor: string, except: readonly (string | null)[], atMs: number): void {
      for (const fingerprint of bySensor.get(sensor) ?? []) {
        if (!except.includes(fingerprint)) endOne(fingerprint, atMs);
      }
    }

    function endOne(fingerprint: string | undefined, atMs: number): void {
      const one = known.get(fingerprint ?? '');
      if (one !== undefined) one.endedAtMs ??= awake(atMs);
    }

    /** What the Console's clock shows now. */
    function clockOf(console: string): number {
      return fleet.consoles.find(({ name }) => name === console)?.clock.wallNow() ?? 0;
    }

    function accepted(seen: ObservationOf<'request.accepted'>): void {
      if (seen.fingerprint === null || seen.path === SENSOR_PATHS.enroll) return;
      const { console, consoleNowMs, askedAtMs } = seen;
      const own = known.get(seen.fingerprint);
      const what = `${console} accepted ${seen.path} of ${seen.fingerprint.slice(0, 12)}`;
      if (own === undefined) judgeUnknown(what, seen.fingerprint, askedAtMs);
      else if (clockOf(console) >= consoleNowMs) judge(what, own, consoleNowMs, askedAtMs);
      const { superseded } = own ?? { superseded: null };
      if (
        seen.path === SENSOR_PATHS.renew &&
        superseded !== null &&
        superseded.atMs < awake(askedAtMs)
      ) {
        report(`${what}, which was replaced before`);
      }
    }

    /** One that PostgreSQL forgot is accepted until this Console has heard that it did. */
    function judgeUnknown(what: string, fingerprint: string, askedAtMs: number): void {
      const wasIssued = fleet.stores.relational.sensorOf(fingerprint) !== undefined;
      if (!wasIssued) report(`${what}, which was never issued`);
      else if (awake(askedAtMs) - forgotMs > VIEW_MAX_MS) report(`${what}, which was forgotten`);
    }

    function judge(what: string, own: Known, consoleNowMs: number, askedAtMs: number): void {
      if (consoleNowMs >= own.notAfterMs) {
        report(`${what}, expired for ${consoleNowMs - own.notAfterMs} ms`);
      }
      if (own.endedAtMs !== null && awake(askedAtMs) - own.endedAtMs > VIEW_MAX_MS) {
        report(`${what}, which ended`);
      }
      const { superseded } = own;
      if (superseded === null || awake(askedAtMs) - superseded.atMs <= VIEW_MAX_MS) return;
      const overMs = consoleNowMs - superseded.byConsoleMs - overlapMs;
      if (overMs >= 0) report(`${what}, whose overlap is over for ${overMs} ms`);
    }

    function refused(seen: ObservationOf<'request.refused'>): void {
      const { console, consoleNowMs, code } = seen;
      const own = known.get(seen.fingerprint ?? '');
      const clockMs = clockOf(console);
      if (own === undefined || clockMs < consoleNowMs) return;
      const what = `${console} refused ${seen.path} with ${code}`;
      if (code === 'certificate_expired' && clockMs < own.notAfterMs) {
        report(`${what}, ${own.notAfterMs - clockMs} ms before it expires`);
      }
      if (code !== 'certificate_superseded' || own.endedAtMs !== null) return;
      const endsMs = (own.superseded?.byConsoleMs ?? Number.POSITIVE_INFINITY) + overlapMs;
      if (clockMs < endsMs) report(`${what}, ${endsMs - clockMs} ms before its overlap ends`);
    }

    return {
      observe(seen, atMs) {
        switch (seen.kind) {
          case 'sensor.enrolled':
            if (!seen.repeated) end(seen.sensor, [], atMs);
            if (!seen.repeated) pending.delete(seen.sensor);
            add(seen.sensor, seen.fingerprint, seen.notAfterMs);
            break;
          case 'certificate.issued':
            endOne(pending.get(seen.sensor), atMs);
            pending.set(seen.sensor, seen.fingerprint);
            add(seen.sensor, seen.fingerprint, seen.notAfterMs);
            break;
          case 'certificate.activated': {
            const { previous, supersededAtMs } = seen;
            const replaced = known.get(previous ?? '');
            if (replaced !== undefined && supersededAtMs !== null) {
              replaced.superseded ??= { byConsoleMs: supersededAtMs, atMs: awake(atMs) };
            }
            end(seen.sensor, [seen.fingerprint, previous], atMs);
            pending.delete(seen.sensor);
            break;
          }
          case 'relational.forgot':
            // A word in doubt, after the accident, is told with its own instant.
            if (seen.sinceMs < atMs) forgotMs = awake(atMs);
            break;
          case 'request.accepted':
            accepted(seen);
            break;
          case 'request.refused':
            refused(seen);
            break;
        }
      },
    };
  },
};
