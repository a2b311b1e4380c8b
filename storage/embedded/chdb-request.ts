// Reads one request of the ClickHouse HTTP interface: what to run, with which settings and parameters, in which format.
// Pure text work, so that it can be tried without a server. decision: D7

export type ClickhouseRequest = {
  readonly sql: string;
  /** Rows sent along with an INSERT; null when the statement is all there is. */
  readonly insert: InsertTarget | null;
  readonly format: string;
  readonly queryId: string | null;
  readonly database: string | null;
  readonly settings: Readonly<Record<string, string>>;
  readonly parameters: Readonly<Record<string, string>>;
  readonly wantsCompression: boolean;
  readonly lane: Lane;
};
export type InsertTarget = {
  readonly table: string;
  readonly columns: readonly string[] | null;
  readonly format: 'JSONEachRow' | 'JSONCompactEachRow' | 'CSV' | 'CSVWithNames' | 'TabSeparated';
};
/** Writes, reads and control work in lanes of their own, so that a slow search never stalls an insert. */
export type Lane = 'write' | 'read' | 'control';

// What this interface itself understands; everything else in the query string is a setting.
const OWN_KEYS = new Set([
  'query',
  'database',
  'query_id',
  'default_format',
  'user',
  'password',
  'session_id',
  'session_timeout',
  'session_check',
  'role',
  'wait_end_of_query',
  'send_progress_in_http_headers',
  'http_headers_progress_interval_ms',
  'enable_http_compression',
  'decompress',
  'compress',
]);
const SETTING_NAME = /^[a-z][a-z0-9_]{0,127}$/;
const INSERT =
  /^\s*INSERT\s+INTO\s+(?:TABLE\s+)?([\w.`]+)\s*(?:\(([^()]*)\))?\s*(?:SETTINGS\s+[^)]*?)?\s*FORMAT\s+(\w+)\s*;?\s*$/i;
const INSERT_FORMATS = new Set([
  'JSONEachRow',
  'JSONCompactEachRow',
  'CSV',
  'CSVWithNames',
  'TabSeparated',
]);

/** Plans a request; a text is why it cannot be served. */
export function planRequest(url: URL, body: string | Buffer): ClickhouseRequest | string {
  const parameters: Record<string, string> = {};
  const settings: Record<string, string> = {};
  for (const [key, value] of url.searchParams) {
    if (key.startsWith('param_')) parameters[key.slice('param_'.length)] = value;
    else if (OWN_KEYS.has(key)) continue;
    else if (SETTING_NAME.test(key)) settings[key] = value;
    else
      return `Code: 115. DB::Exception: Setting ${key.slice(0, 64)} is neither a builtin setting nor started with the prefix 'SQL_'. (UNKNOWN_SETTING)`;
  }
  const inQuery = url.searchParams.get('query');
  const sql = inQuery ?? body.toString();
  const insert = inQuery === null ? null : insertTargetOf(inQuery);
  return {
    sql: rewriteKill(sql),
    insert: insert !== null && body.length > 0 ? insert : null,
    format: url.searchParams.get('default_format') ?? 'TabSeparated',
    queryId: url.searchParams.get('query_id'),
    database: url.searchParams.get('database'),
    settings,
    parameters,
    wantsCompression: url.searchParams.get('enable_http_compression') === '1',
    lane: laneOf(sql),
  };
}

/** The target of `INSERT INTO t (a, b) FORMAT F`; null for any other statement. */
export function insertTargetOf(sql: string): InsertTarget | null {
  const [, table = '', columns, format = ''] = INSERT.exec(sql) ?? [];
  if (table === '' || !INSERT_FORMATS.has(format)) return null;
  return {
    table: table.replaceAll('`', ''),
    columns: columns?.split(',').map((name) => name.trim().replaceAll('`', '')) ?? null,
    format: format as InsertTarget['format'],
  };
}

/** SET statements that give a fresh session its settings and query parameters. Values are quoted, never spliced. */
export function preludeOf(request: ClickhouseRequest, comment: string): string {
  const lines = Object.entries(request.settings).map(
    ([name, value]) => `SET ${name} = ${quote(value)}`,
  );
  for (const [name, value] of Object.entries(request.parameters)) {
    if (/^\w{1,128}$/.test(name)) lines.push(`SET param_${name} = ${quote(value)}`);
  }
  lines.push(`SET log_comment = ${quote(comment)}`);
  if (request.database !== null && /^\w{1,128}$/.test(request.database)) {
    lines.unshift(`USE ${request.database}`);
  }
  return lines.join(';\n');
}

/** A ClickHouse string literal. */
export function quote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

function laneOf(sql: string): Lane {
  const word = /^\s*(?:--[^\n]*\n\s*)*(\w+)/.exec(sql)?.[1]?.toUpperCase() ?? '';
  if (word === 'INSERT') return 'write';
  return word === 'SELECT' || word === 'WITH' ? 'read' : 'control';
}

// The engine numbers its queries itself; ours are known by their comment, and so a KILL by query_id finds them.
function rewriteKill(sql: string): string {
  if (!/^\s*KILL\s+QUERY\b/i.test(sql)) return sql;
  return sql.replaceAll(/\bquery_id\b/g, "Settings['log_comment']").replace(/\bSYNC\b/i, 'ASYNC');
}
