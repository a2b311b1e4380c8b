// Second factors: one secret a person, whose steps are accepted in rising order only, and recovery codes that are used
// once. invariant: I11
import type { Kysely, Transaction } from 'kysely';
import type { RecoveryCodes, SecondFactorStore } from '../../ports/access/second-factors.ts';
import { auditOfUser } from '../../ports/access/user-audit.ts';
import type { UserRow } from '../../ports/access/users.ts';
import { storableText } from '../../ports/plumbing/stored-text.ts';
import { appendAudit } from '../audit/audit-log.ts';
import type { Database } from '../plumbing/tables.ts';
import { orUnavailable } from '../plumbing/unavailable.ts';
import { endSessionsOf, isOfRole, liveSession, lockUser, userOf } from './user-rows.ts';

type Doable = { readonly userId: string };

/** Makes the store of second factors. */
export function createSecondFactors(db: Kysely<Database>): SecondFactorStore {
  return {
    beginTotp: (input) => withUser(db, input, (trx, user) => begin(trx, user, input)),
    confirmTotp: (input) => withUser(db, input, (trx, user) => confirm(trx, user, input)),
    removeTotp: (input) => withUser(db, input, (trx, user) => remove(trx, user, input)),
    reseal: ({ userId, was, sealed }) =>
      orUnavailable(async () => {
        const { numUpdatedRows } = await db
          .updateTable('users')
          .set({ mfa_secret_sealed: sealed })
          .where('user_id', '=', storableText(userId))
          .where('mfa_secret_sealed', '=', was)
          .executeTakeFirst();
        return numUpdatedRows === 1n;
      }),
    acceptTotpStep: ({ userId, step }) =>
      orUnavailable(async () => {
        const { numUpdatedRows } = await db
          .updateTable('users')
          .set({ mfa_last_step: step })
          .where('user_id', '=', storableText(userId))
          .where('mfa_state', '=', 'on')
          .where('mfa_last_step', '<', step)
          .executeTakeFirst();
        return numUpdatedRows === 1n;
      }),
  };
}

/** Makes the store of recovery codes. */
export function createRecoveryCodes(db: Kysely<Database>): RecoveryCodes {
  return {
    useRecoveryCode: (input) => withUser(db, input, (trx, user) => useCode(trx, user, input)),
    replaceRecoveryCodes: (input) =>
      withUser(db, input, async (trx, user) => {
        if (user.mfa.state !== 'on') return false;
        await replaceCodes(trx, user.userId, input.hashes);
        const after = { recovery_codes_left: input.hashes.length };
        const action = 'mfa.recovery_codes';
        await appendAudit(trx, [auditOfUser(input, { action, user, after })]);
        return true;
      }),
    recoveryCodesLeft: (userId) => orUnavailable(() => codesLeft(db, userId)),
  };
}

/** Runs on a locked person; false when there is none. */
function withUser(
  db: Kysely<Database>,
  { userId }: Doable,
  run: (trx: Transaction<Database>, user: UserRow) => Promise<boolean>,
): Promise<boolean> {
  return orUnavailable(() =>
    db.transaction().execute(async (trx) => {
      const row = await lockUser(trx, userId);
      return row === undefined ? false : run(trx, userOf(row));
    }),
  );
}

async function begin(
  trx: Transaction<Database>,
  user: UserRow,
  input: Parameters<SecondFactorStore['beginTotp']>[0],
): Promise<boolean> {
  if (user.mfa.state === 'on') return false;
  await setTotp(trx, user.userId, {
    ...{ mfa_state: 'pending', mfa_secret_sealed: input.sealedSecret, mfa_last_step: 0 },
    mfa_changed_at_ms: input.nowMs,
  });
  const [before, after] = [{ mfa: user.mfa.state }, { mfa: 'pending' }];
  await appendAudit(trx, [auditOfUser(input, { action: 'mfa.begin', user, before, after })]);
  return true;
}

async function confirm(
  trx: Transaction<Database>,
  user: UserRow,
  input: Parameters<SecondFactorStore['confirmTotp']>[0],
): Promise<boolean> {
  const { userId, mfa } = user;
  if (mfa.state !== 'pending' || mfa.sealedSecret !== input.sealedSecret) return false;
  if (!(await goesOn(trx, input))) return false;
  const { nowMs, keepSession: keep } = input;
  await setTotp(trx, userId, {
    ...{ mfa_state: 'on', mfa_last_step: input.step, mfa_changed_at_ms: nowMs },
  });
  await replaceCodes(trx, userId, input.recoveryHashes);
  const ended = await endSessionsOf(trx, { userId, nowMs, keep });
  await appendAudit(trx, [
    auditOfUser(input, {
      ...{ action: 'mfa.enable', user, before: { mfa: 'pending' }, after: { mfa: 'on' } },
      detail: { sessions_ended: ended },
    }),
  ]);
  return true;
}

async function remove(
  trx: Transaction<Database>,
  user: UserRow,
  input: Parameters<SecondFactorStore['removeTotp']>[0],
): Promise<boolean> {
  const { userId, mfa } = user;
  if (mfa.state === 'off' || !(await goesOn(trx, input))) return false;
  if (!isOfRole(user, input.judgedRole)) return false;
  const { nowMs, keepSession: keep } = input;
  await setTotp(trx, userId, {
    ...{ mfa_state: 'off', mfa_secret_sealed: null, mfa_last_step: 0, mfa_changed_at_ms: nowMs },
  });
  await replaceCodes(trx, userId, []);
  await trx.deleteFrom('security_keys').where('user_id', '=', userId).execute();
  const ended = await endSessionsOf(trx, { userId, nowMs, keep });
  await appendAudit(trx, [
    auditOfUser(input, {
      ...{ action: 'mfa.disable', user, before: { mfa: mfa.state }, after: { mfa: 'off' } },
      detail: { sessions_ended: ended },
    }),
  ]);
  return true;
}

async function useCode(
  trx: Transaction<Database>,
  user: UserRow,
  input: Parameters<RecoveryCodes['useRecoveryCode']>[0],
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('user_recovery_codes')
    .set({ used_at_ms: input.nowMs })
    .where('user_id', '=', user.userId)
    .where('hash', '=', input.hash)
    .where('used_at_ms', 'is', null)
    .executeTakeFirst();
  if (numUpdatedRows !== 1n) return false;
  const left = await codesLeft(trx, user.userId);
  const [before, after] = [{ recovery_codes_left: left + 1 }, { recovery_codes_left: left }];
  const action = 'mfa.recovery_code_used';
  await appendAudit(trx, [auditOfUser(input, { action, user, before, after })]);
  return true;
}

async function goesOn(
  trx: Transaction<Database>,
  input: Doable & { readonly nowMs: number; readonly keepSession: Buffer | null },
): Promise<boolean> {
  const { userId, nowMs, keepSession: hash } = input;
  return hash === null || (await liveSession(trx, { userId, hash, nowMs })) !== undefined;
}

type TotpColumns = Partial<
  Pick<Database['users'], 'mfa_state' | 'mfa_secret_sealed' | 'mfa_last_step' | 'mfa_changed_at_ms'>
>;

async function setTotp(
  trx: Transaction<Database>,
  userId: string,
  columns: TotpColumns,
): Promise<void> {
  await trx.updateTable('users').set(columns).where('user_id', '=', userId).execute();
}

async function replaceCodes(
  trx: Transaction<Database>,
  userId: string,
  hashes: readonly Buffer[],
): Promise<void> {
  await trx.deleteFrom('user_recovery_codes').where('user_id', '=', userId).execute();
  if (hashes.length === 0) return;
  const rows = hashes.map((hash) => ({ user_id: userId, hash, used_at_ms: null }));
  await trx.insertInto('user_recovery_codes').values(rows).execute();
}

async function codesLeft(
  on: Kysely<Database> | Transaction<Database>,
  userId: string,
): Promise<number> {
  const { left } = await on
    .selectFrom('user_recovery_codes')
    .select((count) => count.fn.countAll<number>().as('left'))
    .where('user_id', '=', storableText(userId))
    .where('used_at_ms', 'is', null)
    .executeTakeFirstOrThrow();
  return left;
}
