// Mistakes about people: what lets them in goes on doing so, or stands for what it is not.

import type { ApiKeys } from '../../../storage/ports/access/api-keys.ts';
import type { SessionRow, SessionStore } from '../../../storage/ports/access/sessions.ts';
import type { UserRow, UserStore } from '../../../storage/ports/access/users.ts';
import type { ConsoleTampering } from '../world/console-host.ts';
import type { Edge } from '../world/edge.ts';
import type { PlantedBug } from './planted-bug.ts';
import { CALM, LONG_LIVES } from './settings.ts';

/** Three people at two Consoles, whose sessions are over after minutes; slow networks keep the world from sleeping. */
const BUSY = {
  ...CALM,
  consoles: 2,
  people: 3,
  hours: 0.3,
  kinds: ['network.slow'],
  intervals: {
    ...LONG_LIVES,
    SESSION_IDLE_MS: 120_000,
    SESSION_ABSOLUTE_MS: 150_000,
    SEEN_WRITE_INTERVAL_MS: 5_000,
  },
} as const;

function withSessions(change: (sessions: SessionStore) => Partial<SessionStore>) {
  return (): ConsoleTampering => ({
    relational: (ports) => ({
      ...ports,
      sessions: { ...ports.sessions, ...change(ports.sessions) },
    }),
  });
}

function withUsers(change: (users: UserStore) => Partial<UserStore>) {
  return (): ConsoleTampering => ({
    relational: (ports) => ({ ...ports, users: { ...ports.users, ...change(ports.users) } }),
  });
}

function withKeys(change: (keys: ApiKeys) => Partial<ApiKeys>) {
  return (): ConsoleTampering => ({
    relational: (ports) => ({ ...ports, apiKeys: { ...ports.apiKeys, ...change(ports.apiKeys) } }),
  });
}

/** Answers a question once and from memory ever after. */
function remembering<Row>(ask: (key: string) => Promise<Row | null>) {
  const known = new Map<string, Row>();
  return async (key: string): Promise<Row | null> => {
    const row = known.get(key) ?? (await ask(key));
    if (row !== null) known.set(key, row);
    return row;
  };
}

/** A listener that takes a session for the certificate it saw last. */
function lending(edge: Edge): Edge {
  let lent = '';
  return {
    ...edge,
    request(request, onAnswer) {
      const { certPem, headers } = request;
      if (certPem !== '') lent = certPem;
      const own = headers['cookie'] === undefined ? certPem : lent;
      return edge.request({ ...request, certPem: own }, onAnswer);
    },
  };
}

export const ACCESS_BUGS: readonly PlantedBug[] = [
  {
    name: 'sessions-from-memory',
    mistake: 'A Console remembers sessions it once found, and does not look again.',
    foundBy: 'ended-session',
    options: BUSY,
    pinnedSeed: '1',
    console: withSessions((sessions) => {
      const find = remembering<SessionRow>((hash) => sessions.findByHash(Buffer.from(hash, 'hex')));
      return { findByHash: (hash) => find(hash.toString('hex')) };
    }),
  },
  {
    name: 'people-from-memory',
    mistake: 'A Console remembers what a person may do until it starts anew.',
    foundBy: 'ended-session',
    options: BUSY,
    pinnedSeed: '2',
    console: withUsers((users) => ({
      get: remembering<UserRow>((userId) => users.get(userId)),
    })),
  },
  {
    name: 'idle-sessions-live',
    mistake: 'A session that nobody uses ends with its lifetime only.',
    foundBy: 'ended-session',
    options: BUSY,
    pinnedSeed: '3',
    console: withSessions((sessions) => ({
      async findByHash(hash) {
        const row = await sessions.findByHash(hash);
        return row === null ? null : { ...row, lastSeenAtMs: row.expiresAtMs };
      },
    })),
  },
  {
    name: 'expired-sessions-live',
    mistake: 'A session that is used has no end.',
    foundBy: 'ended-session',
    options: BUSY,
    pinnedSeed: '1',
    console: withSessions((sessions) => ({
      async findByHash(hash) {
        const row = await sessions.findByHash(hash);
        return row === null ? null : { ...row, expiresAtMs: Number.MAX_SAFE_INTEGER };
      },
    })),
  },
  {
    name: 'turned-in-name-only',
    mistake: 'A new password gives the session a new secret and leaves the old one good.',
    foundBy: 'ended-session',
    options: BUSY,
    pinnedSeed: '4',
    console: () => ({
      relational: (ports) => ({
        ...ports,
        userPasswords: {
          ...ports.userPasswords,
          async setPassword({ userId, replaces, passwordHash, turn }) {
            const old = await ports.sessions.findByHash(turn.from);
            if (old === null || replaces === null) return null;
            await ports.userPasswords.rehash({ userId, replaces, passwordHash });
            const { to: hash, sessionId, stage, expiresAtMs, nowMs: createdAtMs } = turn;
            const row = { ...old, hash, sessionId, stage, expiresAtMs, createdAtMs };
            const isBegun = await ports.sessions.create(row);
            return isBegun ? { ...row, lastSeenAtMs: createdAtMs } : null;
          },
        },
      }),
    }),
  },
  {
    name: 'logged-out-here-only',
    mistake: 'Whoever logs out everywhere is told so, and the other sessions go on.',
    foundBy: 'ended-session',
    options: BUSY,
    pinnedSeed: '2',
    console: withSessions(() => ({ endAllOf: async () => 1 })),
  },
  {
    name: 'revoked-keys-open',
    mistake: 'A key is found by its hash, and nobody looks whether it was revoked.',
    foundBy: 'ended-session',
    options: BUSY,
    pinnedSeed: '2',
    console: withKeys((keys) => ({
      async findByHash(hash) {
        const row = await keys.findByHash(hash);
        return row === null ? null : { ...row, revokedAtMs: null };
      },
    })),
  },
  {
    name: 'keys-hold-the-role',
    mistake: 'A key holds all that the role of its person holds.',
    foundBy: 'ended-session',
    options: BUSY,
    pinnedSeed: '1',
    console: withKeys((keys) => ({
      async findByHash(hash) {
        const row = await keys.findByHash(hash);
        return row === null ? null : { ...row, scopes: ['admin'] };
      },
    })),
  },
  {
    name: 'session-for-a-certificate',
    mistake: 'The sensor plane takes a session for the certificate that the listener saw last.',
    foundBy: 'trust-domains',
    options: BUSY,
    pinnedSeed: '1',
    console: () => ({ edge: lending }),
  },
];
