// Rows of alerts, and the writes that several of the store's calls share. decision: D130
import { type Kysely, type Selectable, sql, type Transaction } from 'kysely';
import type { NewNote, Raised } from '../../ports/detection/alert-moves.ts';
import { standingOf } from '../../ports/detection/alert-moves.ts';
import type { AlertQuery, AlertRow } from '../../ports/detection/alert-store.ts';
import { storableText } from '../../ports/plumbing/stored-text.ts';
import type { Database } from '../plumbing/tables.ts';
import type { AlertsTable } from './tables.ts';

const INBOX_LOCK = 7_130_001;

/** Findings are counted one write after the other, so that two of one key never make two alerts. */
export async function holdInbox(trx: Transaction<Database>): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(${sql.lit(INBOX_LOCK)})`.execute(trx);
}

export function alertRowOf(row: Selectable<AlertsTable>): AlertRow {
  return {
    ...row.standing,
    state: row.state,
    alert: row.alert,
    group: row.match_group,
    reopens: row.reopens,
    createdAtMs: row.created_at_ms,
    changedAtMs: row.changed_at_ms,
    toldAtMs: row.told_at_ms,
    revision: row.revision,
  };
}

/** A page of the inbox. */
export function alertPage(db: Kysely<Database>, query: AlertQuery) {
  let page = db.selectFrom('alerts').selectAll().orderBy('alert_id', 'desc').limit(query.limit);
  const { states, severities, kinds, sources, text } = query;
  if (states !== undefined) page = page.where('state', 'in', listed(states));
  if (severities !== undefined) page = page.where('severity', 'in', listed(severities));
  if (kinds !== undefined) page = page.where('kind', 'in', listed(kinds));
  if (sources !== undefined) page = page.where('source', 'in', listed(sources));
  for (const [column, value] of [
    ['sensor_id', query.sensorId],
    ['rule_id', query.ruleId],
    ['assignee', query.assignee],
  ] as const) {
    if (value !== undefined) page = page.where(column, '=', storableText(value));
  }
  if (query.fromMs !== undefined) page = page.where('created_at_ms', '>=', query.fromMs);
  if (query.toMs !== undefined) page = page.where('created_at_ms', '<', query.toMs);
  if (query.before !== null) page = page.where('alert_id', '<', storableText(query.before));
  if (text !== undefined) {
    const wanted = storableText(text.toLowerCase());
    page = page.where(
      sql<boolean>`(position(${wanted} in lower(headline)) > 0 OR position(${wanted} in lower(node_name)) > 0)`,
    );
  }
  return page;
}

// An empty list matches nothing; SQL has no empty IN.
function listed<T extends string>(values: readonly T[]): T[] {
  return values.length === 0 ? ['' as T] : [...values];
}

/** Writes what rows became, their notes after them. Old ones before new ones: one of a key is live at most. */
export async function writeRaised(
  trx: Transaction<Database>,
  made: readonly Raised[],
): Promise<void> {
  const rows = new Map<string, AlertRow>();
  for (const { row, before } of made) {
    if (before !== null) rows.set(before.alert.alertId, before);
    rows.set(row.alert.alertId, row);
  }
  if (rows.size === 0) return;
  const values = [...rows.values()].map(valuesOf);
  const live = values.filter(({ state }) => state === 'open' || state === 'acknowledged');
  for (const part of [values.filter((one) => !live.includes(one)), live]) await put(trx, part);
  await writeNotes(
    trx,
    made.flatMap(({ notes }) => notes),
  );
}

async function put(
  trx: Transaction<Database>,
  values: readonly ReturnType<typeof valuesOf>[],
): Promise<void> {
  if (values.length === 0) return;
  await trx
    .insertInto('alerts')
    .values([...values])
    .onConflict((conflict) =>
      conflict.column('alert_id').doUpdateSet((eb) => ({
        severity: eb.ref('excluded.severity'),
        state: eb.ref('excluded.state'),
        assignee: eb.ref('excluded.assignee'),
        standing: eb.ref('excluded.standing'),
        changed_at_ms: eb.ref('excluded.changed_at_ms'),
        told_at_ms: eb.ref('excluded.told_at_ms'),
        revision: eb.ref('excluded.revision'),
      })),
    )
    .execute();
}

function valuesOf(row: AlertRow) {
  const { alert } = row;
  const { state, ...context } = standingOf(row);
  return {
    alert_id: alert.alertId,
    rule_id: storableText(alert.ruleId),
    sensor_id: storableText(alert.sensorId),
    node_name: storableText(alert.nodeName),
    kind: alert.kind,
    source: alert.source,
    severity: row.severity,
    headline: storableText(alert.headline),
    dedup_key: storableText(alert.dedupKey),
    state,
    assignee: row.assignee === null ? null : storableText(row.assignee),
    alert: JSON.stringify(alert),
    standing: JSON.stringify(context),
    match_group: JSON.stringify(row.group),
    reopens: row.reopens,
    created_at_ms: row.createdAtMs,
    changed_at_ms: row.changedAtMs,
    told_at_ms: row.toldAtMs,
    revision: row.revision,
  };
}

async function writeNotes(trx: Transaction<Database>, notes: readonly NewNote[]): Promise<void> {
  if (notes.length === 0) return;
  const values = notes.map((note, place) => ({
    ...{ alert_id: note.alertId, at_ms: note.atMs, actor: storableText(note.actor) },
    ...{ what: note.what, body: storableText(note.text), place },
  }));
  await sql`
    INSERT INTO alert_notes (alert_id, sequence, at_ms, actor, what, body)
    SELECT v.alert_id,
      coalesce((SELECT max(n.sequence) FROM alert_notes AS n WHERE n.alert_id = v.alert_id), 0)
        + row_number() OVER (PARTITION BY v.alert_id ORDER BY v.place),
      v.at_ms, v.actor, v.what, v.body
    FROM json_to_recordset(${JSON.stringify(values)}::json)
      AS v (alert_id text, at_ms bigint, actor text, what text, body text, place integer)
  `.execute(trx);
}
