// The reference store of the links with which passwords are set. invariant: I2, I11
import type { PasswordLinks } from '../../ports/access/password-links.ts';
import { auditOfUser } from '../../ports/access/user-audit.ts';
import type { UserRow } from '../../ports/access/users.ts';
import type { Calls } from '../plumbing/unsafe-port-of.ts';
import {
  dropLinksOf,
  endKeysOf,
  endSessionsOf,
  isOfRole,
  type PeopleState,
  type RecordEntry,
} from './people-state.ts';

/** Its calls on a state. */
export function linkCalls(state: PeopleState, record: RecordEntry): Calls<PasswordLinks> {
  const { users, links } = state;
  const ownerOf = (hash: Buffer, nowMs: number): UserRow | null => {
    const link = links.get(hash.toString('hex'));
    const isGood = link !== undefined && link.expiresAtMs > nowMs;
    const owner = isGood ? users.get(link.userId) : undefined;
    return owner?.status === 'active' ? owner : null;
  };
  return {
    createLink(input) {
      const user = users.get(input.userId);
      if (user === undefined || !isOfRole(user, input.judgedRole)) return false;
      dropLinksOf(state, user.userId);
      const { userId, expiresAtMs } = input;
      links.set(input.hash.toString('hex'), { userId, expiresAtMs });
      const after = { expires_at_ms: expiresAtMs };
      record(auditOfUser(input, { action: 'user.reset_link', user, after }));
      return true;
    },
    useLink(input) {
      const owner = ownerOf(input.hash, input.nowMs);
      if (owner === null) return null;
      const { passwordHash, nowMs: passwordChangedAtMs } = input;
      const user = { ...owner, passwordHash, passwordChangedAtMs, mustChangePassword: false };
      users.set(user.userId, user);
      dropLinksOf(state, user.userId);
      const ended = endSessionsOf(state, { userId: user.userId, nowMs: input.nowMs });
      const keys = input.keepsKeys === true ? 0 : endKeysOf(state, user.userId, input.nowMs);
      const detail = { sessions_ended: ended, api_keys_revoked: keys };
      record(auditOfUser(input, { action: 'user.reset', user, detail }));
      return user;
    },
    findLink: ownerOf,
  };
}
