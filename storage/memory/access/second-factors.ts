// The reference stores of second factors and of the codes that stand for them. invariant: I11
import type { RecoveryCodes, SecondFactorStore } from '../../ports/access/second-factors.ts';
import { auditOfUser } from '../../ports/access/user-audit.ts';
import type { UserRow } from '../../ports/access/users.ts';
import type { Calls } from '../plumbing/unsafe-port-of.ts';
import {
  dropSecurityKeysOf,
  endSessionsOf,
  isLiveSession,
  isOfRole,
  type PeopleState,
  type RecordEntry,
} from './people-state.ts';

type Kept = { readonly keepSession: Buffer | null };

/** The calls about second factors on a state. */
export function secondFactorCalls(
  state: PeopleState,
  record: RecordEntry,
): Calls<SecondFactorStore> {
  const { users } = state;
  const set = (user: UserRow, mfa: UserRow['mfa']) => users.set(user.userId, { ...user, mfa });
  const goesOn = (input: { readonly userId: string; readonly nowMs: number } & Kept) =>
    input.keepSession === null || isLiveSession(state, { ...input, hash: input.keepSession });
  return {
    beginTotp(input) {
      const user = users.get(input.userId);
      if (user === undefined || user.mfa.state === 'on') return false;
      const { sealedSecret, nowMs: changedAtMs } = input;
      set(user, { state: 'pending', sealedSecret, lastStep: 0, changedAtMs });
      const [before, after] = [{ mfa: user.mfa.state }, { mfa: 'pending' }];
      record(auditOfUser(input, { action: 'mfa.begin', user, before, after }));
      return true;
    },
    confirmTotp(input) {
      const user = users.get(input.userId);
      if (user?.mfa.state !== 'pending' || user.mfa.sealedSecret !== input.sealedSecret) {
        return false;
      }
      if (!goesOn(input)) return false;
      const { sealedSecret, step: lastStep, nowMs: changedAtMs } = input;
      set(user, { state: 'on', sealedSecret, lastStep, changedAtMs });
      replaceCodes(state, user.userId, input.recoveryHashes);
      const ended = endSessionsOf(state, { ...input, keep: input.keepSession });
      const what = { user, before: { mfa: 'pending' }, after: { mfa: 'on' } };
      record(
        auditOfUser(input, { action: 'mfa.enable', ...what, detail: { sessions_ended: ended } }),
      );
      return true;
    },
    removeTotp(input) {
      const user = users.get(input.userId);
      if (user === undefined || user.mfa.state === 'off' || !goesOn(input)) return false;
      if (!isOfRole(user, input.judgedRole)) return false;
      set(user, { state: 'off', sealedSecret: null, lastStep: 0, changedAtMs: input.nowMs });
      replaceCodes(state, user.userId, []);
      dropSecurityKeysOf(state, user.userId);
      const ended = endSessionsOf(state, { ...input, keep: input.keepSession });
      const before = { mfa: user.mfa.state };
      const what = { user, before, after: { mfa: 'off' } };
      record(
        auditOfUser(input, { action: 'mfa.disable', ...what, detail: { sessions_ended: ended } }),
      );
      return true;
    },
    reseal({ userId, was, sealed: sealedSecret }) {
      const user = users.get(userId);
      if (user === undefined || user.mfa.sealedSecret !== was) return false;
      set(user, { ...user.mfa, sealedSecret });
      return true;
    },
    acceptTotpStep({ userId, step }) {
      const user = users.get(userId);
      if (user?.mfa.state !== 'on' || user.mfa.lastStep >= step) return false;
      set(user, { ...user.mfa, lastStep: step });
      return true;
    },
  };
}

/** The calls about recovery codes on a state. */
export function recoveryCodeCalls(state: PeopleState, record: RecordEntry): Calls<RecoveryCodes> {
  const { users, codes } = state;
  const left = (userId: string) =>
    [...(codes.get(userId)?.values() ?? [])].filter((isUsed) => !isUsed).length;
  return {
    useRecoveryCode(input) {
      const user = users.get(input.userId);
      const own = codes.get(input.userId);
      const hash = input.hash.toString('hex');
      if (user === undefined || own?.get(hash) !== false) return false;
      own.set(hash, true);
      const now = left(user.userId);
      const [before, after] = [{ recovery_codes_left: now + 1 }, { recovery_codes_left: now }];
      record(auditOfUser(input, { action: 'mfa.recovery_code_used', user, before, after }));
      return true;
    },
    recoveryCodesLeft: left,
    replaceRecoveryCodes(input) {
      const user = users.get(input.userId);
      if (user?.mfa.state !== 'on') return false;
      replaceCodes(state, user.userId, input.hashes);
      const after = { recovery_codes_left: input.hashes.length };
      record(auditOfUser(input, { action: 'mfa.recovery_codes', user, after }));
      return true;
    },
  };
}

function replaceCodes({ codes }: PeopleState, userId: string, hashes: readonly Buffer[]): void {
  codes.set(userId, new Map(hashes.map((hash) => [hash.toString('hex'), false])));
}
