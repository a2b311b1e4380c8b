// The inbox in PostgreSQL. decision: D60, D130
import { type Kysely, sql, type Transaction } from 'kysely';
import type { Finding, FoundMatch } from '../../../machines/console/detection/finding.ts';
import { acted, auditOfAct, type Raised, raised } from '../../ports/detection/alert-moves.ts';
import type { AlertNote, AlertRow, AlertStore } from '../../ports/detection/alert-store.ts';
import { storableText } from '../../ports/plumbing/stored-text.ts';
import { appendAudit } from '../audit/audit-log.ts';
import type { Database } from '../plumbing/tables.ts';
import { orUnavailable } from '../plumbing/unavailable.ts';
import { holdFence } from '../runtime/fence.ts';
import { alertPage, alertRowOf, holdInbox, writeRaised } from './alert-rows.ts';

type Act = Parameters<AlertStore['act']>[0];
type Acted = Awaited<ReturnType<AlertStore['act']>>;

/** Makes the store. */
export function createAlertStore(db: Kysely<Database>): AlertStore {
  const fenced = <T>(
    epoch: number | undefined,
    run: (trx: Transaction<Database>) => Promise<T>,
  ): Promise<T> =>
    orUnavailable(() =>
      db.transaction().execute(async (trx) => {
        await holdFence(trx, epoch);
        return run(trx);
      }),
    );
  return {
    ...readCalls(db),
    raise: (input) => fenced(input.epoch, (trx) => raise(trx, input)),
    told: (input) =>
      fenced(input.epoch, async (trx) => {
        await sql`
          UPDATE alerts AS a SET told_at_ms = ${input.nowMs}
          FROM unnest(${input.alerts.map(({ alertId }) => alertId)}::text[],
            ${input.alerts.map(({ revision }) => revision)}::int[]) AS v (alert_id, revision)
          WHERE a.alert_id = v.alert_id AND a.revision = v.revision
        `.execute(trx);
      }),
    act: (input) => fenced(input.epoch, (trx) => act(trx, input)),
    pass: (input) => fenced(input.epoch, (trx) => pass(trx, input)),
    sweep: (input) => fenced(input.epoch, (trx) => sweep(trx, input)),
  };
}

function readCalls(
  db: Kysely<Database>,
): Pick<AlertStore, 'untold' | 'list' | 'get' | 'events' | 'counted' | 'counts' | 'liveByRule'> {
  return {
    untold: (limit) =>
      orUnavailable(async () =>
        (
          await db
            .selectFrom('alerts')
            .selectAll()
            .where('told_at_ms', 'is', null)
            .orderBy('alert_id')
            .limit(limit)
            .execute()
        ).map(alertRowOf),
      ),
    list: (query) =>
      orUnavailable(async () => (await alertPage(db, query).execute()).map(alertRowOf)),
    get: (alertId) => orUnavailable(() => get(db, storableText(alertId))),
    events: (input) => orUnavailable(() => events(db, input)),
    async counted({ ruleId, matchIds }) {
      const { rows } = await orUnavailable(() =>
        sql<{ match_id: string }>`
          SELECT match_id FROM alert_matches
          WHERE rule_id = ${storableText(ruleId)}
            AND match_id = ANY(${matchIds.map(storableText)}::text[])
        `.execute(db),
      );
      return new Set(rows.map((row) => row.match_id));
    },
    async counts() {
      const { rows } = await orUnavailable(() =>
        sql<Awaited<ReturnType<AlertStore['counts']>>[number]>`
          SELECT state, severity, count(*)::bigint AS count FROM alerts
          WHERE state IN ('open', 'acknowledged')
          GROUP BY state, severity ORDER BY state COLLATE "C", severity COLLATE "C"
        `.execute(db),
      );
      return rows;
    },
    async liveByRule() {
      const { rows } = await orUnavailable(() =>
        sql<{ rule_id: string; count: number }>`
          SELECT rule_id, count(*)::bigint AS count FROM alerts
          WHERE state IN ('open', 'acknowledged') GROUP BY rule_id
        `.execute(db),
      );
      return new Map(rows.map((row) => [row.rule_id, row.count]));
    },
  };
}

async function raise(
  trx: Transaction<Database>,
  { nowMs, findings }: Parameters<AlertStore['raise']>[0],
): Promise<readonly AlertRow[]> {
  if (findings.length === 0) return [];
  await holdInbox(trx);
  const counted = await countedBefore(trx, findings);
  const last = await newestOf(trx, findings);
  const made: Raised[] = [];
  const matches: object[] = [];
  for (const finding of findings) {
    const ruleId = storableText(finding.alert.ruleId);
    const fresh: FoundMatch[] = [];
    for (const one of finding.matches) {
      const matchId = storableText(one.matchId);
      const name = `${ruleId} ${matchId}`;
      if (counted.has(name)) continue;
      counted.add(name);
      fresh.push({ ...one, matchId });
    }
    const key = storableText(finding.alert.dedupKey);
    const one = raised(finding, fresh, { last: last.get(key) ?? null, nowMs });
    if (one === null) continue;
    made.push(one);
    last.set(key, one.row);
    const { alertId: alert_id } = one.row.alert;
    for (const { matchId: match_id, isEvent: is_event, atMs: at_ms } of fresh) {
      matches.push({ rule_id: ruleId, match_id, alert_id, is_event, at_ms });
    }
  }
  await writeRaised(trx, made);
  if (matches.length > 0) {
    await sql`
      INSERT INTO alert_matches (rule_id, match_id, alert_id, is_event, at_ms)
      SELECT * FROM json_to_recordset(${JSON.stringify(matches)}::json)
        AS v (rule_id text, match_id text, alert_id text, is_event boolean, at_ms bigint)
    `.execute(trx);
  }
  return made.filter(({ isNew }) => isNew).map(({ row }) => row);
}

async function countedBefore(
  trx: Transaction<Database>,
  findings: readonly Finding[],
): Promise<Set<string>> {
  const names = findings.flatMap(({ alert, matches }) =>
    matches.map(({ matchId }) => ({ rule: storableText(alert.ruleId), id: storableText(matchId) })),
  );
  const { rows } = await sql<{ rule_id: string; match_id: string }>`
    SELECT m.rule_id, m.match_id
    FROM unnest(${names.map(({ rule }) => rule)}::text[], ${names.map(({ id }) => id)}::text[])
      AS v (rule_id, match_id)
    JOIN alert_matches AS m ON m.rule_id = v.rule_id AND m.match_id = v.match_id
  `.execute(trx);
  return new Set(rows.map((row) => `${row.rule_id} ${row.match_id}`));
}

/** The newest alert of each key, the live one before all others. */
async function newestOf(
  trx: Transaction<Database>,
  findings: readonly Finding[],
): Promise<Map<string, AlertRow>> {
  const keys = [...new Set(findings.map(({ alert }) => storableText(alert.dedupKey)))];
  const rows = await trx
    .selectFrom('alerts')
    .selectAll()
    .distinctOn('dedup_key')
    .where(sql<boolean>`dedup_key = ANY(${keys}::text[])`)
    .orderBy('dedup_key')
    .orderBy(sql`state IN ('open', 'acknowledged')`, 'desc')
    .orderBy('alert_id', 'desc')
    .execute();
  return new Map(rows.map((row) => [row.dedup_key, alertRowOf(row)]));
}

async function get(db: Kysely<Database>, alertId: string): ReturnType<AlertStore['get']> {
  const row = await db
    .selectFrom('alerts')
    .selectAll()
    .where('alert_id', '=', alertId)
    .executeTakeFirst();
  if (row === undefined) return null;
  const notes = await db
    .selectFrom('alert_notes')
    .selectAll()
    .where('alert_id', '=', alertId)
    .orderBy('sequence')
    .execute();
  return {
    row: alertRowOf(row),
    notes: notes.map(
      ({ sequence, at_ms: atMs, actor, what, body: text }): AlertNote => ({
        ...{ sequence, atMs, actor, what, text },
      }),
    ),
  };
}

async function events(
  db: Kysely<Database>,
  { alertId, limit, before }: Parameters<AlertStore['events']>[0],
): ReturnType<AlertStore['events']> {
  let page = db
    .selectFrom('alert_matches')
    .select(['match_id', 'at_ms'])
    .where('alert_id', '=', storableText(alertId))
    .where('is_event', '=', true)
    .orderBy('at_ms', 'desc')
    .orderBy('match_id', 'desc')
    .limit(limit);
  if (before !== null) {
    page = page.where(
      sql<boolean>`(at_ms, match_id) < (${before.atMs}::bigint, ${storableText(before.matchId)}::text COLLATE "C")`,
    );
  }
  const rows = await page.execute();
  return rows.map(({ match_id: matchId, at_ms: atMs }) => ({ matchId, atMs }));
}

async function act(trx: Transaction<Database>, input: Act): Promise<Acted> {
  await holdInbox(trx);
  const ids = input.alertIds.map(storableText);
  const rows = await trx
    .selectFrom('alerts')
    .selectAll()
    .where(sql<boolean>`alert_id = ANY(${ids}::text[])`)
    .execute();
  const byId = new Map(rows.map((row) => [row.alert_id, alertRowOf(row)]));
  const keys = [...new Set(rows.map((row) => row.dedup_key))];
  const liveKeys = input.act.act === 'reopen' ? await liveAmong(trx, keys) : new Set<string>();
  const made: Raised[] = [];
  const outcomes = input.alertIds.map((alertId): Acted[number] => {
    const row = byId.get(alertId);
    if (row === undefined) return { alertId, result: 'not_found' };
    const one = acted(row, input.act, { ...input, liveKeys });
    if (one === null) return { alertId, result: 'refused' };
    if (one.isNew) liveKeys.add(row.alert.dedupKey);
    made.push(one);
    byId.set(alertId, one.row);
    return { alertId, result: one.row };
  });
  await writeRaised(trx, made);
  const known = outcomes.filter(({ result }) => result !== 'not_found');
  await appendAudit(
    trx,
    known.map(({ alertId, result }) =>
      auditOfAct(input, alertId, result === 'refused' ? 'refused' : 'ok'),
    ),
  );
  return outcomes;
}

/** Those of the keys under which an alert is live. */
async function liveAmong(
  trx: Transaction<Database>,
  keys: readonly string[],
): Promise<Set<string>> {
  const rows = await trx
    .selectFrom('alerts')
    .select('dedup_key')
    .where(sql<boolean>`dedup_key = ANY(${keys}::text[])`)
    .where('state', 'in', ['open', 'acknowledged'])
    .execute();
  return new Set(rows.map((row) => row.dedup_key));
}

async function pass(
  trx: Transaction<Database>,
  { nowMs, dedupKeys }: Parameters<AlertStore['pass']>[0],
): Promise<number> {
  if (dedupKeys.length === 0) return 0;
  await holdInbox(trx);
  const rows = await trx
    .selectFrom('alerts')
    .selectAll()
    .where('state', 'in', ['open', 'acknowledged'])
    .where(sql<boolean>`dedup_key = ANY(${dedupKeys.map(storableText)}::text[])`)
    .execute();
  const by = { actor: 'console', nowMs };
  const made = rows.flatMap(
    (row) => acted(alertRowOf(row), { act: 'resolve', resolution: 'passed' }, by) ?? [],
  );
  await writeRaised(trx, made);
  return made.length;
}

async function sweep(
  trx: Transaction<Database>,
  { changedBeforeMs, limit }: Parameters<AlertStore['sweep']>[0],
): Promise<number> {
  // Documents are read as text: their words may hold what a field of theirs could not be taken out over. A quote within a
  // word is escaped, so no word looks like a name and its value.
  const { rows } = await sql`
    DELETE FROM alerts WHERE alert_id IN (
      SELECT a.alert_id FROM alerts AS a
      WHERE a.state IN ('resolved', 'reopened') AND a.changed_at_ms < ${changedBeforeMs}
        AND NOT EXISTS (
          SELECT 1 FROM hunting_documents AS item
          JOIN hunting_documents AS investigation ON investigation.id = item.parent_id
          WHERE item.kind = 'investigation_item'
            AND substring(item.body::text FROM '"alertId":"([^"]*)"') = a.alert_id
            AND position('"state":"closed"' IN investigation.body::text) = 0
        )
      ORDER BY a.changed_at_ms, a.alert_id LIMIT ${limit}
    ) RETURNING alert_id
  `.execute(trx);
  return rows.length;
}
