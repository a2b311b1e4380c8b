// Sessions as people have them: begun by a login, turned to a new secret with every step up in trust, listed and ended.
// The secret is told once, to whoever it was made for; the store knows its hash. decision: D37; invariant: I11, I18
import { createHash } from 'node:crypto';
import { sessionEndOf, sessionStateOf } from '../../machines/console/access/session.rules.ts';
import { SESSION_RANDOM_BYTES } from '../../machines/limits.ts';
import type {
  JudgedLogin,
  SessionRow,
  SessionStage,
  SessionStore,
  SessionTurn,
} from '../../storage/ports/access/sessions.ts';
import type { AuditContext } from '../../storage/ports/plumbing/audit-context.ts';
import { type Chance, systemChance } from '../trust/chance.ts';

/** A session with the secret its cookie carries; told once. */
export type IssuedSession = { readonly secret: string; readonly session: SessionRow };

/** Rejects with StoreUnavailable. */
export type SessionService = {
  /** Begins a session; null when the person is gone, disabled, or not what was judged any more. */
  begin(input: {
    readonly userId: string;
    readonly stage: SessionStage;
    readonly method: string;
    readonly address: string;
    readonly userAgent: string;
    /** When credentials were shown where that was not just now; 0: nobody knows. */
    readonly authenticatedAtMs?: number;
    readonly judged?: JudgedLogin;
  }): Promise<IssuedSession | null>;
  /** What turns a session to a new secret, for a change that does it in its own transaction. */
  nextOf(
    from: Buffer,
    stage: SessionStage,
    shown: Shown,
  ): { readonly secret: string; readonly turn: SessionTurn };
  /** Goes on under a new secret; null when the session has ended meanwhile. */
  turn(from: Buffer, stage: SessionStage, shown: Shown): Promise<IssuedSession | null>;
  find(hash: Buffer): Promise<SessionRow | null>;
  /** The live ones of a person, newest first. */
  list(userId: string): Promise<readonly SessionRow[]>;
  end(input: Asked & { readonly hash: Buffer }): Promise<boolean>;
  endOf(input: Asked & { readonly userId: string; readonly sessionId: string }): Promise<boolean>;
  endAllOf(
    input: Asked & { readonly userId: string; readonly keep: Buffer | null },
  ): Promise<number>;
};
type Asked = Omit<AuditContext, 'nowMs'>;
/** `credentials`: all the account asks for was shown just now. `part`: less; the session is as fresh as it was. */
export type Shown = 'credentials' | 'part';

export type SessionServiceDeps = {
  readonly sessions: SessionStore;
  readonly idleMs: () => number;
  readonly lifetimeMs: () => number;
  readonly now: () => number;
  readonly chance?: Chance;
};

/** Makes the service. */
export function createSessionService(deps: SessionServiceDeps): SessionService {
  const { sessions, now, chance = systemChance } = deps;
  const newSecret = () => chance.randomBytes(SESSION_RANDOM_BYTES).toString('base64url');
  const endOf = (stage: SessionStage) =>
    sessionEndOf(stage, { nowMs: now(), lifetimeMs: deps.lifetimeMs() });
  const nextOf: SessionService['nextOf'] = (from, stage, shown) => {
    const secret = newSecret();
    const nowMs = now();
    const authenticatedAtMs = shown === 'credentials' ? nowMs : null;
    const times = { expiresAtMs: endOf(stage), authenticatedAtMs, nowMs };
    const turn = { from, to: hashOfSession(secret), sessionId: chance.newId(), stage, ...times };
    return { secret, turn };
  };
  return {
    async begin({ judged, authenticatedAtMs, ...input }) {
      const secret = newSecret();
      const createdAtMs = now();
      const row = {
        ...input,
        hash: hashOfSession(secret),
        sessionId: chance.newId(),
        createdAtMs,
        authenticatedAtMs: authenticatedAtMs ?? createdAtMs,
        expiresAtMs: endOf(input.stage),
      };
      const isBegun = await sessions.create(row, judged);
      const session = { ...row, lastSeenAtMs: createdAtMs, endedAtMs: null };
      return isBegun ? { secret, session } : null;
    },
    nextOf,
    async turn(from, stage, shown) {
      const { secret, turn } = nextOf(from, stage, shown);
      const session = await sessions.rotate(turn);
      return session === null ? null : { secret, session };
    },
    find: (hash) => sessions.findByHash(hash),
    async list(userId) {
      const at = { nowMs: now(), idleMs: deps.idleMs() };
      const rows = await sessions.listOf(userId, at.nowMs);
      return rows.filter((row) => sessionStateOf(row, at) !== 'idle_expired');
    },
    end: (input) => sessions.end({ ...input, nowMs: now() }),
    endOf: (input) => sessions.endOf({ ...input, nowMs: now() }),
    endAllOf: (input) => sessions.endAllOf({ ...input, nowMs: now() }),
  };
}

/** What is stored and looked up of a session's secret. */
export function hashOfSession(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}
