// The reference store of API keys, by the hash of their secret. invariant: I11
import { API_KEYS_ENDED_KEPT_MAX, API_KEYS_PER_USER_MAX } from '../../../machines/limits.ts';
import type { ApiKeyRow, ApiKeys } from '../../ports/access/api-keys.ts';
import { auditOfKeyCreate, auditOfKeyRevoke } from '../../ports/audit/audit-entries.ts';
import type { AuditEntry } from '../../ports/audit/audit-log.ts';
import { storableText } from '../../ports/plumbing/stored-text.ts';
import type { Calls } from '../plumbing/unsafe-port-of.ts';

type RecordEntry = (entry: AuditEntry) => void;
type HasUser = (userId: string) => boolean;
type IsLive = (of: { userId: string; hash: Buffer; nowMs: number }) => boolean;

/** Ends the keys of a person that are not revoked yet; which. */
export function endKeysOf(
  byHash: Map<string, ApiKeyRow>,
  { userId, nowMs }: { readonly userId: string; readonly nowMs: number },
): readonly string[] {
  const open = [...byHash].filter(([, row]) => row.userId === userId && row.revokedAtMs === null);
  for (const [hash, row] of open) byHash.set(hash, { ...row, revokedAtMs: nowMs });
  return open.map(([, row]) => row.keyId);
}

/** The calls on a store whose rows stand by the hash of their secret. */
export function apiKeyCalls(
  record: RecordEntry = () => undefined,
  hasUser: HasUser = () => false,
  byHash = new Map<string, ApiKeyRow>(),
  isLive: IsLive = () => true,
): Calls<ApiKeys> {
  const newestFirst = () => [...byHash.values()].sort((a, b) => (a.keyId < b.keyId ? 1 : -1));

  function refuseMore(userId: string, nowMs: number) {
    if (!hasUser(userId)) return 'no_user';
    const own = newestFirst().filter((row) => row.userId === userId);
    const isOver = ({ revokedAtMs, expiresAtMs }: ApiKeyRow) =>
      revokedAtMs !== null || (expiresAtMs !== null && expiresAtMs <= nowMs);
    const over = own.filter(isOver);
    if (own.length - over.length >= API_KEYS_PER_USER_MAX) return 'too_many';
    const forgotten = new Set(over.slice(API_KEYS_ENDED_KEPT_MAX).map(({ keyId }) => keyId));
    for (const [hash, row] of byHash) if (forgotten.has(row.keyId)) byHash.delete(hash);
    return null;
  }

  function create(input: Parameters<ApiKeys['create']>[0]) {
    const hash = input.hash.toString('hex');
    const { keyId, nowMs, expiresAtMs, userId = null, bySession: by } = input;
    const isOver = by !== undefined && userId !== null && !isLive({ userId, hash: by, nowMs });
    if (isOver) return 'no_session';
    const refused = userId === null ? null : refuseMore(userId, nowMs);
    if (refused !== null) return refused;
    const isTaken = byHash.has(hash) || [...byHash.values()].some((one) => one.keyId === keyId);
    if (isTaken) throw new Error('a key with this id or hash exists');
    const [name, scopes] = [storableText(input.name), [...input.scopes]];
    byHash.set(hash, {
      ...{ keyId, name, scopes, userId, createdAtMs: nowMs, expiresAtMs },
      ...{ lastUsedAtMs: null, revokedAtMs: null },
    });
    record(auditOfKeyCreate(input));
    return 'created';
  }

  function revoke(input: Parameters<ApiKeys['revoke']>[0]): ApiKeyRow | null {
    const { keyId, userId, nowMs } = input;
    const found = [...byHash].find(
      ([, row]) => row.keyId === keyId && (userId === undefined || row.userId === userId),
    );
    const isOpen = found?.[1].revokedAtMs === null;
    record(
      auditOfKeyRevoke(input, found === undefined ? 'not_found' : isOpen ? 'ok' : 'unchanged'),
    );
    if (found === undefined) return null;
    const [hash, row] = found;
    const revoked = { ...row, revokedAtMs: row.revokedAtMs ?? nowMs };
    byHash.set(hash, revoked);
    return revoked;
  }

  return {
    create,
    findByHash: (hash) => byHash.get(hash.toString('hex')) ?? null,
    get: (keyId) => [...byHash.values()].find((row) => row.keyId === keyId) ?? null,
    touch(seen) {
      for (const { hash, atMs } of seen) {
        const row = byHash.get(hash.toString('hex'));
        const lastUsedAtMs = Math.max(atMs, row?.lastUsedAtMs ?? 0);
        if (row !== undefined) byHash.set(hash.toString('hex'), { ...row, lastUsedAtMs });
      }
    },
    list: ({ userId, limit, before }) =>
      newestFirst()
        .filter((row) => userId === undefined || row.userId === userId)
        .filter((row) => before === null || row.keyId < before)
        .slice(0, limit),
    revoke,
  };
}
