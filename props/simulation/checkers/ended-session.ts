// What lets people in, as it is at the moment somebody shows it, on any Console: no session that ended, was turned to
// another, or is over by the clock of the Console that judges; none that nobody used for its idle time; no key that was
// revoked or is over; nobody who was closed out; and the role and scopes of now. A request is judged against what was
// committed before it was made, so what changes while it is under way may count or not; one that was under way when
// PostgreSQL forgot may have been judged by what it forgot. No excuses. invariant: I18
import { type Role, type Scope, scopesOf } from '../../../machines/trust/roles.rules.ts';
import type { ObservationOf } from '../world/observation.ts';
import type { CheckerKind } from './checker.ts';

type Credential = {
  readonly user: string | null;
  readonly expiresAtMs: number | null;
  /** Scopes of a key; null: a session holds its person's role whole. */
  readonly scopes: readonly string[] | null;
  /** By the clocks of the Consoles that took it, the latest. */
  usedAtMs: number;
  readonly order: number;
  endedOrder: number | null;
};
type Face = { readonly order: number; readonly role: Role; readonly isActive: boolean };
type Asked = { readonly order: number; readonly consoleNowMs: number };

export const endedSession: CheckerKind = {
  name: 'ended-session',
  promise:
    'An ended or expired session or key opens nothing on any Console, and a role counts at the next request (I18).',
  make({ intervals }, report) {
    const credentials = new Map<string, Credential>();
    const faces = new Map<string, Face[]>();
    const asked = new Map<number, Asked>();
    /** Under way when PostgreSQL forgot. */
    const doubtful = new Set<number>();
    let order = 0;

    function end(name: string): void {
      const credential = credentials.get(name);
      if (credential !== undefined) credential.endedOrder ??= order;
    }

    /** What a person was at some moment from the asking on. */
    function facesSince(user: string, sinceOrder: number): readonly Face[] {
      const all = faces.get(user) ?? [];
      const first = all.findLastIndex((face) => face.order < sinceOrder);
      return all.slice(Math.max(0, first));
    }

    function judge(seen: ObservationOf<'operator.admitted'>): void {
      const { ask, console, credential: name, stage } = seen;
      const since = asked.get(ask);
      const credential = credentials.get(name);
      const what = `${console} admitted ${name}`;
      if (doubtful.has(ask)) {
        if (credential !== undefined)
          credential.usedAtMs = Math.max(credential.usedAtMs, seen.consoleNowMs);
        return;
      }
      if (since === undefined || credential === undefined) {
        report(`${what}, which was never given out`);
        return;
      }
      if (credential.endedOrder !== null && credential.endedOrder < since.order) {
        report(`${what}, which had ended`);
      }
      judgeTimes(what, seen, credential, since);
      const { user } = credential;
      if (user === null || seen.user !== user) {
        report(`${what} as ${seen.user}, and it belongs to ${user}`);
        return;
      }
      const may = facesSince(user, since.order).filter(({ isActive }) => isActive);
      if (!may.some(({ role }) => role === seen.role)) {
        report(`${what} as ${seen.role}, which its person was not any more`);
      }
      const most = stage === 'full' ? scopesOf(seen.role, credential.scopes) : [];
      if (!holdsNoMore(seen.scopes, most)) report(`${what} with more than its role and it hold`);
      const usedAtMs = Math.max(seen.consoleNowMs, since.consoleNowMs);
      credential.usedAtMs = Math.max(credential.usedAtMs, usedAtMs);
    }

    // A clock that is set back while the request is under way makes the earlier time the one that counts.
    function judgeTimes(
      what: string,
      seen: ObservationOf<'operator.admitted'>,
      { expiresAtMs, usedAtMs, scopes }: Credential,
      since: Asked,
    ): void {
      const nowMs = Math.min(seen.consoleNowMs, since.consoleNowMs);
      if (expiresAtMs !== null && nowMs >= expiresAtMs) {
        report(`${what}, which was over for ${nowMs - expiresAtMs} ms`);
      }
      const isIdle = scopes === null && nowMs - usedAtMs >= intervals.SESSION_IDLE_MS;
      if (isIdle) report(`${what}, which nobody had used for ${nowMs - usedAtMs} ms`);
    }

    return {
      observe(seen) {
        order += 1;
        switch (seen.kind) {
          case 'account.changed': {
            const { user, role, isActive } = seen;
            faces.set(user, [...(faces.get(user) ?? []), { order, role, isActive }]);
            break;
          }
          case 'session.begun': {
            const { user, expiresAtMs, createdAtMs: usedAtMs } = seen;
            const plain = { user, expiresAtMs, usedAtMs, scopes: null, order, endedOrder: null };
            credentials.set(seen.session, plain);
            break;
          }
          case 'key.made': {
            const { user, expiresAtMs, scopes } = seen;
            const plain = { user, expiresAtMs, scopes, usedAtMs: 0, order, endedOrder: null };
            credentials.set(seen.key, plain);
            break;
          }
          case 'session.ended':
            end(seen.session);
            break;
          case 'session.turned':
            end(seen.from);
            break;
          case 'sessions.left':
            for (const [name, { user, scopes, order: begun }] of credentials) {
              const isLeft = user === seen.user && scopes === null && begun <= seen.before;
              if (isLeft && name !== seen.kept) end(name);
            }
            break;
          case 'key.ended':
            end(seen.key);
            break;
          case 'operator.asked':
            asked.set(seen.ask, { order, consoleNowMs: seen.consoleNowMs });
            break;
          case 'relational.forgot':
            for (const ask of asked.keys()) doubtful.add(ask);
            break;
          case 'operator.refused':
            asked.delete(seen.ask);
            break;
          case 'operator.admitted':
            judge(seen);
            asked.delete(seen.ask);
            doubtful.delete(seen.ask);
            break;
        }
      },
    };
  },
};

function holdsNoMore(scopes: readonly Scope[], most: readonly Scope[]): boolean {
  return scopes.every((scope) => most.includes(scope));
}
