// Identity providers, the subjects tied to users, and logins that are under way, in PostgreSQL. A flow is taken by the
// DELETE that finds it, so that of many callers one has it. invariant: I11, I18; decision: D40
import type { Kysely, Selectable, Transaction } from 'kysely';
import { SSO_FLOWS_MAX } from '../../../machines/limits.ts';
import {
  auditOfLink,
  auditOfProviderChange,
  auditOfProviderCreate,
  auditOfProviderRemoval,
} from '../../ports/access/sso-audit.ts';
import type { SsoFlowRow, SsoProviderRow, SsoStore } from '../../ports/access/sso-store.ts';
import { storableText } from '../../ports/plumbing/stored-text.ts';
import { appendAudit } from '../audit/audit-log.ts';
import type { Database } from '../plumbing/tables.ts';
import { orUnavailable } from '../plumbing/unavailable.ts';
import type { AccessTables } from './tables.ts';

const FOREIGN_KEY_VIOLATION = '23503';

/** Makes the store; it keeps at most `flowsMax` logins that are under way. */
export function createSsoStore(db: Kysely<Database>, flowsMax = SSO_FLOWS_MAX): SsoStore {
  const transaction = <T>(run: (trx: Transaction<Database>) => Promise<T>): Promise<T> =>
    orUnavailable(() => db.transaction().execute(run));
  return {
    async listProviders() {
      const rows = await orUnavailable(() =>
        db.selectFrom('sso_providers').selectAll().orderBy('provider_id').execute(),
      );
      return rows.map(providerOf);
    },
    getProvider: (providerId) => orUnavailable(() => findProvider(db, providerId)),
    createProvider: (input) => transaction((trx) => createProvider(trx, input)),
    changeProvider: (input) => transaction((trx) => changeProvider(trx, input)),
    reseal: ({ providerId, was, sealed }) =>
      orUnavailable(async () => {
        const { numUpdatedRows } = await db
          .updateTable('sso_providers')
          .set({ client_secret_sealed: sealed })
          .where('provider_id', '=', storableText(providerId))
          .where('client_secret_sealed', '=', was)
          .executeTakeFirst();
        return numUpdatedRows === 1n;
      }),
    removeProvider: (input) =>
      transaction(async (trx) => {
        const row = await trx
          .deleteFrom('sso_providers')
          .where('provider_id', '=', storableText(input.providerId))
          .returningAll()
          .executeTakeFirst();
        if (row === undefined) return false;
        await appendAudit(trx, [auditOfProviderRemoval(input, providerOf(row))]);
        return true;
      }),
    async findIdentity(providerId, subject) {
      const row = await orUnavailable(() =>
        db
          .selectFrom('sso_identities')
          .select('user_id')
          .where('provider_id', '=', storableText(providerId))
          .where('subject', '=', storableText(subject))
          .executeTakeFirst(),
      );
      return row?.user_id ?? null;
    },
    link: (input) => unlessGone(() => transaction((trx) => link(trx, input)), false),
    async identitiesOf(userId) {
      const rows = await orUnavailable(() =>
        db
          .selectFrom('sso_identities')
          .select(['provider_id', 'subject'])
          .where('user_id', '=', storableText(userId))
          .orderBy('provider_id')
          .orderBy('subject')
          .execute(),
      );
      return rows.map((row) => ({ providerId: row.provider_id, subject: row.subject }));
    },
    saveFlow: (row) =>
      unlessGone(() => transaction((trx) => saveFlow(trx, row, flowsMax)), undefined),
    takeFlow: (stateHash, nowMs) => orUnavailable(() => takeFlow(db, stateHash, nowMs)),
  };
}

async function findProvider(
  db: Kysely<Database>,
  providerId: string,
): Promise<SsoProviderRow | null> {
  const row = await db
    .selectFrom('sso_providers')
    .selectAll()
    .where('provider_id', '=', storableText(providerId))
    .executeTakeFirst();
  return row === undefined ? null : providerOf(row);
}

async function createProvider(
  trx: Transaction<Database>,
  input: Parameters<SsoStore['createProvider']>[0],
): Promise<SsoProviderRow> {
  const { provider, nowMs } = input;
  const row = await trx
    .insertInto('sso_providers')
    .values({
      provider_id: storableText(provider.providerId),
      kind: provider.kind,
      name: storableText(provider.name),
      issuer: storableText(provider.issuer),
      client_id: storableText(provider.clientId),
      client_secret_sealed: provider.clientSecretSealed,
      options: JSON.stringify(provider.options),
      enabled: provider.enabled,
      created_at_ms: nowMs,
      changed_at_ms: nowMs,
      revision: 1,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  await appendAudit(trx, [auditOfProviderCreate(input)]);
  return providerOf(row);
}

async function changeProvider(
  trx: Transaction<Database>,
  input: Parameters<SsoStore['changeProvider']>[0],
): Promise<SsoProviderRow | 'not_found' | 'conflict'> {
  const providerId = storableText(input.providerId);
  const found = await trx
    .selectFrom('sso_providers')
    .selectAll()
    .where('provider_id', '=', providerId)
    .forUpdate()
    .executeTakeFirst();
  if (found === undefined) return 'not_found';
  if (found.revision !== input.revision) return 'conflict';
  const { name, issuer, clientId, clientSecretSealed, options, enabled } = input.patch;
  const row = await trx
    .updateTable('sso_providers')
    .set({
      name: storableText(name ?? found.name),
      issuer: storableText(issuer ?? found.issuer),
      client_id: storableText(clientId ?? found.client_id),
      client_secret_sealed: clientSecretSealed ?? found.client_secret_sealed,
      options: JSON.stringify(options ?? found.options),
      enabled: enabled ?? found.enabled,
      changed_at_ms: input.nowMs,
      revision: found.revision + 1,
    })
    .where('provider_id', '=', providerId)
    .returningAll()
    .executeTakeFirstOrThrow();
  const changed = providerOf(row);
  await appendAudit(trx, [auditOfProviderChange(input, providerOf(found), changed)]);
  return changed;
}

async function link(
  trx: Transaction<Database>,
  input: Parameters<SsoStore['link']>[0],
): Promise<boolean> {
  const row = await trx
    .insertInto('sso_identities')
    .values({
      provider_id: storableText(input.providerId),
      subject: storableText(input.subject),
      user_id: storableText(input.userId),
      linked_at_ms: input.nowMs,
    })
    .onConflict((conflict) => conflict.columns(['provider_id', 'subject']).doNothing())
    .returning('user_id')
    .executeTakeFirst();
  if (row === undefined) return false;
  await appendAudit(trx, [auditOfLink(input)]);
  return true;
}

async function saveFlow(
  trx: Transaction<Database>,
  row: SsoFlowRow,
  flowsMax: number,
): Promise<void> {
  await trx
    .insertInto('sso_flows')
    .values({
      state_hash: row.stateHash,
      provider_id: storableText(row.providerId),
      browser_hash: row.browserHash,
      nonce: row.nonce,
      code_verifier: row.codeVerifier,
      return_to: storableText(row.returnTo),
      expires_at_ms: row.expiresAtMs,
    })
    .execute();
  const tooMany = trx
    .selectFrom('sso_flows')
    .select('state_hash')
    .orderBy('expires_at_ms', 'desc')
    .orderBy('state_hash')
    .offset(flowsMax)
    .forUpdate()
    .skipLocked();
  await trx.deleteFrom('sso_flows').where('state_hash', 'in', tooMany).execute();
}

async function takeFlow(
  db: Kysely<Database>,
  stateHash: Buffer,
  nowMs: number,
): Promise<SsoFlowRow | null> {
  const row = await db
    .deleteFrom('sso_flows')
    .where('state_hash', '=', stateHash)
    .returningAll()
    .executeTakeFirst();
  // Rows that another caller removes now are left to it: two sweeps never wait for each other.
  const tooOld = db
    .selectFrom('sso_flows')
    .select('state_hash')
    .where('expires_at_ms', '<=', nowMs)
    .forUpdate()
    .skipLocked();
  await db.deleteFrom('sso_flows').where('state_hash', 'in', tooOld).execute();
  return row === undefined || row.expires_at_ms <= nowMs ? null : flowOf(row);
}

/** A provider or user that was removed meanwhile is an answer, not a failure. */
async function unlessGone<T>(call: () => Promise<T>, gone: T): Promise<T> {
  try {
    return await call();
  } catch (error) {
    const isGone =
      error instanceof Error && 'code' in error && error.code === FOREIGN_KEY_VIOLATION;
    if (isGone) return gone;
    throw error;
  }
}

function providerOf(row: Selectable<AccessTables['sso_providers']>): SsoProviderRow {
  return {
    providerId: row.provider_id,
    kind: row.kind,
    name: row.name,
    issuer: row.issuer,
    clientId: row.client_id,
    clientSecretSealed: row.client_secret_sealed,
    options: row.options,
    enabled: row.enabled,
    createdAtMs: row.created_at_ms,
    changedAtMs: row.changed_at_ms,
    revision: row.revision,
  };
}

function flowOf(row: Selectable<AccessTables['sso_flows']>): SsoFlowRow {
  return {
    stateHash: row.state_hash,
    providerId: row.provider_id,
    browserHash: row.browser_hash,
    nonce: row.nonce,
    codeVerifier: row.code_verifier,
    returnTo: row.return_to,
    expiresAtMs: row.expires_at_ms,
  };
}
