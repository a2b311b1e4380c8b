// Questions to ten million stored events of ninety days: the first page, the next one, a histogram, the values of a field, the
// export of a page and a backtest, each several times, cold and warm. node props/bench/search.ts [events] [rounds]
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@clickhouse/client';
import Table from 'cli-table3';
import { backtest } from '../../actors/detection/backtest.ts';
import { parseCondition } from '../../machines/detection/condition-parser.ts';
import { compileRule } from '../../machines/detection/rule-compile.ts';
import type { Analytics } from '../../storage/analytics/analytics.ts';
import { createClickhouseLauncher } from '../../storage/embedded/clickhouse.ts';
import { readMigrations } from '../../storage/migrate.ts';
import type { EventScope, EventStore } from '../../storage/ports/telemetry/event-store.ts';
import { silentLogger as logger, openRealAnalytics } from '../contracts/real-stores.ts';

const EVENTS = Number(process.argv[2] ?? 10_000_000);
const ROUNDS = Number(process.argv[3] ?? 5);
const DAYS = 90;
const DAY_MS = 86_400_000;
const SENSORS = 200;
const PAGE = 100;
const INSERT_ROWS = 500_000;
const FILL_TIMEOUT_MS = 600_000;
const BARS = 90;
const LABELS = { tags: [], groupIds: [], role: null };
// What an analyst asks: rare, frequent, a text, a network, a pattern.
const CONDITIONS: Readonly<Record<string, string>> = {
  everything: '',
  'one program': 'binary:/usr/bin/curl',
  'a rare program': 'event_kind:process_exec and binary:/opt/rare/agent',
  'a text anywhere': 'needle-77',
  'a network': 'destination_ip:10.3.0.0/16 and destination_port:443',
  'a pattern': 'arguments=~"--token=[a-f0-9]+7 .*"',
  'high severity': 'severity:(high, critical)',
};
/** What rules look for: few events, and so many that a backtest ends at its bound. */
const RULES = [
  'binary:/opt/rare/agent',
  'severity:(medium, high, critical)',
  'binary:/usr/bin/curl',
];
const say = (text: string) => process.stdout.write(`${text}\n`);

const dataDir = mkdtempSync(join(tmpdir(), 'search-bench-'));
chmodSync(dataDir, 0o711);
const launcher = createClickhouseLauncher({ dataDir: join(dataDir, 'ch'), logger });
const store = await launcher.start(new AbortController().signal);
const { analytics, close } = await openRealAnalytics(store.endpoint);
try {
  const nowMs = Date.now();
  await fill(nowMs);
  await questions(nowMs);
} finally {
  await close();
  await store.stop(10_000);
  rmSync(dataDir, { recursive: true, force: true });
}

async function fill(nowMs: number): Promise<void> {
  for (const { store: of, sql } of await readMigrations()) {
    if (of !== 'analytics') continue;
    for (const statement of sql.split(/^;$/m)) {
      if (statement.trim() !== '') await analytics.command(statement);
    }
  }
  const clickhouse_settings = { send_progress_in_http_headers: 1 } as const;
  // With more patience than the product's own, for a machine that has other work.
  const client = createClient({
    ...store.endpoint,
    request_timeout: FILL_TIMEOUT_MS,
    clickhouse_settings,
  });
  const began = performance.now();
  for (let from = 0; from < EVENTS; from += INSERT_ROWS) {
    const query = insertOf(from, Math.min(INSERT_ROWS, EVENTS - from), nowMs);
    await client.command({ query });
  }
  await client.close();
  say(`${EVENTS.toLocaleString('en')} events stored in ${seconds(performance.now() - began)} s`);
}

/** Events `from` on, oldest first, of all sensors by turns: programs, connections and files, with long arguments. */
function insertOf(from: number, count: number, nowMs: number): string {
  const beganMs = nowMs - DAYS * DAY_MS + 60_000;
  const stepNs = Math.floor((DAYS * DAY_MS * 1e6) / EVENTS);
  return `INSERT INTO runtime_events (sensor_id, node_name, received_at, stream_id, channel, sequence, batch_digest,
      event_id, schema_version, observed_at, event_kind, severity, message, process, parent, network, file)
    WITH ${from} + number AS n,
      fromUnixTimestamp64Nano(${beganMs}000000 + toInt64(n) * ${stepNs}) AS at,
      cityHash64(n) AS h,
      multiIf(h % 5000 = 0, '/opt/rare/agent', concat('/usr/bin/',
        ['bash','curl','python3','sshd','nginx','node','cat','find','ls','git'][1 + h % 10])) AS program,
      ['process_exec','process_exit','network_connect','file_open'][1 + n % 4] AS kind,
      kind = 'network_connect' AS isNet
    SELECT concat('sensor-', toString(h % ${SENSORS})), concat('node-', toString(h % ${SENSORS})),
      toDateTime64(at, 3, 'UTC') + toIntervalMillisecond(200), 'stream', 'batch', intDiv(n, 100) + 1, 'd',
      lower(hex(cityHash64(n, 1))) || lower(hex(h)), 1, at, kind,
      multiIf(h % 100000 = 0, 'critical', h % 10000 = 0, 'high', h % 100 = 0, 'medium', 'info'),
      concat(program, ' ran'),
      (concat('exec-', toString(n)), 1000 + h % 30000, h % 3, program,
        concat('--run ', toString(n), ' --token=', lower(hex(h)), ' --config /etc/app/', toString(h % 97), '.yaml',
          if(h % 1000000 = 77, ' needle-77', '')), '/srv', NULL),
      (concat('parent-', toString(h % 500)), 900, 0, '/usr/bin/bash', '-l', '/', NULL),
      (if(isNet, 'tcp', NULL), if(isNet, 'outbound', ''), if(isNet, '10.0.0.1', NULL), if(isNet, 40000, NULL),
        if(isNet, concat('10.', toString(h % 16), '.', toString(h % 200), '.7'), NULL),
        if(isNet, if(h % 2 = 0, 443, 22), NULL), NULL),
      (if(kind = 'file_open', concat('/srv/data/', toString(h % 5000)), ''), if(kind = 'file_open', 'open', NULL))
    FROM numbers(${count})`;
}

async function questions(nowMs: number): Promise<void> {
  const { events } = analytics as Analytics;
  const head = ['of 90 days', 'first page', 'next page', 'histogram', 'values'];
  const table = new Table({ head, style: { head: [], border: [] } });
  for (const [name, text] of Object.entries(CONDITIONS)) {
    const parsed = text === '' ? null : parseCondition(text);
    if (parsed !== null && !parsed.ok) throw new Error(`${name}: ${JSON.stringify(parsed)}`);
    const scope: EventScope & { fromMs: number; toMs: number } = {
      ...{ fromMs: nowMs - DAYS * DAY_MS, toMs: nowMs },
      ...(parsed === null ? {} : { condition: parsed.condition }),
    };
    const [last] = (await events.search({ ...scope, limit: PAGE })).slice(-1);
    const after = last && { observedAt: last.observed_at, eventId: last.event_id };
    table.push([
      name,
      await times(() => events.search({ ...scope, limit: PAGE })),
      await times(() => events.search({ ...scope, limit: PAGE, after: after ?? null })),
      await times(() => events.histogram({ ...scope, bucketMs: (DAYS * DAY_MS) / BARS })),
      await times(() => events.topValues({ ...scope, field: 'process.binary', limit: 10 })),
    ]);
  }
  say(`${table}`);
  const whole = { fromMs: nowMs - DAYS * DAY_MS, toMs: nowMs };
  const every = { ...whole, field: 'process.arguments', limit: 10 } as const;
  say(`values of a field with as many as events: ${await times(() => events.topValues(every))}`);
  for (const condition of RULES) await backtestOf(events, condition, nowMs);
}

async function backtestOf(events: EventStore, condition: string, nowMs: number): Promise<void> {
  const detect = { kind: 'count' as const, condition, threshold: 3, window_secs: 600 };
  const compiled = compileRule('bench', { rule_name: 'bench', severity: 'medium', detect });
  if (!compiled.ok) throw new Error(JSON.stringify(compiled));
  const time = { monotonicNow: () => performance.now(), setTimeout };
  const deps = { events, labelsOf: () => LABELS, time };
  const range = { fromMs: nowMs - DAYS * DAY_MS, toMs: nowMs, bars: BARS };
  const { judged, findings, isTruncated, tookMs } = await backtest(deps, compiled.rule, range);
  say(
    `backtest of ${condition}: ${tookMs.toFixed(0)} ms; ${judged} events judged, ` +
      `${findings} findings, truncated: ${isTruncated}`,
  );
}

/** The first time, then the median of the others: the store remembers which parts of the table a condition is true of. */
async function times(ask: () => Promise<unknown>): Promise<string> {
  const took: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const began = performance.now();
    try {
      await ask();
    } catch (error) {
      return `refused: ${error instanceof Error ? error.message : error}`;
    }
    took.push(performance.now() - began);
  }
  const [first = 0, ...others] = took;
  const median = others.toSorted((a, b) => a - b)[Math.floor(others.length / 2)] ?? first;
  return `${first.toFixed(0)}, ${median.toFixed(0)} ms`;
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(0);
}
