// The reference store of security keys and challenges. invariant: I11, I18
import { SECURITY_KEYS_PER_USER_MAX } from '../../../machines/console/access/limits.ts';
import { isCounterAcceptable } from '../../../machines/console/access/security-key.rules.ts';
import type { ChallengePurpose, SecurityKeyStore } from '../../ports/access/security-keys.ts';
import { auditOfKey } from '../../ports/access/user-audit.ts';
import { storableText } from '../../ports/plumbing/stored-text.ts';
import type { Calls } from '../plumbing/unsafe-port-of.ts';
import { isLiveSession, type PeopleState, type RecordEntry } from './people-state.ts';

/** The calls on a state. */
export function securityKeyCalls(state: PeopleState, record: RecordEntry): Calls<SecurityKeyStore> {
  const { securityKeys, challenges, sessions, users } = state;
  const placeOf = (session: Buffer, purpose: ChallengePurpose) =>
    `${purpose} ${session.toString('hex')}`;
  return {
    listOf: (userId) =>
      [...securityKeys.values()]
        .filter((row) => row.userId === userId)
        .sort((a, b) => a.madeAtMs - b.madeAtMs || (a.keyId < b.keyId ? -1 : 1)),
    putChallenge({ session, purpose, challenge, expiresAtMs, nowMs }) {
      const userId = sessions.get(session.toString('hex'))?.userId;
      if (userId === undefined || !isLiveSession(state, { userId, hash: session, nowMs }))
        return false;
      challenges.set(placeOf(session, purpose), { challenge, expiresAtMs });
      return true;
    },
    takeChallenge({ session, purpose, nowMs }) {
      const place = placeOf(session, purpose);
      const held = challenges.get(place);
      challenges.delete(place);
      return held === undefined || held.expiresAtMs <= nowMs ? null : held.challenge;
    },
    add(input) {
      const { userId, bySession: hash, nowMs, key } = input;
      const user = users.get(userId);
      if (user?.mfa.state !== 'on') return 'no_factor';
      if (!isLiveSession(state, { userId, hash, nowMs })) return 'no_session';
      const all = [...securityKeys.values()];
      if (all.filter((row) => row.userId === userId).length >= SECURITY_KEYS_PER_USER_MAX)
        return 'too_many';
      if (all.some(({ credentialId }) => credentialId === key.credentialId)) return 'known';
      const name = storableText(key.name);
      securityKeys.set(key.keyId, { ...key, name, userId, madeAtMs: nowMs, usedAtMs: null });
      record(auditOfKey(input, { action: 'mfa.key_add', user, key }));
      return 'added';
    },
    use({ userId, keyId, counter, nowMs }) {
      const row = securityKeys.get(keyId);
      if (row?.userId !== userId || users.get(userId)?.mfa.state !== 'on') return false;
      if (!isCounterAcceptable({ stored: row.counter, shown: counter })) return false;
      securityKeys.set(keyId, { ...row, counter, usedAtMs: nowMs });
      return true;
    },
    remove(input) {
      const { userId, keyId, bySession: hash, nowMs } = input;
      const [user, key] = [users.get(userId), securityKeys.get(keyId)];
      if (user === undefined || key?.userId !== userId) return false;
      if (!isLiveSession(state, { userId, hash, nowMs })) return false;
      securityKeys.delete(keyId);
      record(auditOfKey(input, { action: 'mfa.key_remove', user, key }));
      return true;
    },
  };
}
