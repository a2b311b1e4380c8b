// `service-sensor status`: read from the state directory alone, so it works offline and beside a running Sensor.
import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EXIT } from '../../machines/sensor/node.rules.ts';
import { trustStateAt } from '../../machines/sensor/renewal.rules.ts';
import { CAPABILITIES } from '../capabilities.ts';
import type { SensorConfig } from '../config/config.ts';
import { parseSensorState, type SensorState, STATE_FILES } from '../state-directory/identity.ts';
import { disabledHooks, engineLine, passedOver, readLive, refusedUpgrades } from './live-status.ts';
import { type Row, tableOf } from './status-table.ts';

/** Prints the status; exit code 5 when this node is not enrolled. */
export async function runStatus(config: SensorConfig, format: string): Promise<number> {
  const text = await readFile(join(config.stateDir, STATE_FILES.state), 'utf8').catch(() => null);
  const parsed = text === null ? null : parseSensorState(text);
  const state = parsed?.ok === true ? datedState(parsed.value, config) : null;
  if (format !== 'table' && format !== 'json') {
    process.stderr.write('service-sensor: --output is table or json\n');
    return EXIT.usage;
  }
  const live = await readLive(config.stateDir);
  const isRunning = live !== null;
  const broken = isRunning ? null : await missingPart(config.stateDir);
  const summary = summaryOf(state, isRunning, live, { broken });
  if (format === 'json') {
    const body = {
      summary,
      is_running: isRunning,
      state_dir: config.stateDir,
      identity: state,
      live,
    };
    process.stdout.write(`${JSON.stringify(body, null, 2)}\n`);
  } else
    process.stdout.write(tableOf(rowsOf(summary, config, state, live), process.stdout.columns));
  return state === null ? EXIT.notFound : EXIT.ok;
}

// What `run` would say of an identity that lacks a half. A kept other pair is something `run` can go on with.
async function missingPart(stateDir: string): Promise<string | null> {
  const isThere = (name: string) =>
    access(join(stateDir, name)).then(
      () => true,
      () => false,
    );
  const others = await Promise.all([
    isThere(STATE_FILES.nextCertificate),
    isThere(STATE_FILES.previousCertificate),
  ]);
  if (others.includes(true)) return null;
  if (!(await isThere(STATE_FILES.certificate))) return 'the key has no certificate: re-enroll';
  return (await isThere(STATE_FILES.key)) ? null : 'the certificate has no key: re-enroll';
}

// A Sensor that stands still writes nothing, but its certificate goes on ageing.
function datedState(state: SensorState, { intervals }: SensorConfig): SensorState {
  const expiresAtMs = Date.parse(state.certificate_expires_at);
  if (state.trust_state === 'trust_revoked' || Number.isNaN(expiresAtMs)) return state;
  const windows = {
    recommendedMs: intervals.RENEWAL_RECOMMENDED_MS,
    dueMs: intervals.RENEWAL_DUE_MS,
  };
  return { ...state, trust_state: trustStateAt(expiresAtMs, Date.now(), windows) };
}

/** One sentence: the state that a person has to know first. */
export function summaryOf(
  state: SensorState | null,
  isRunning: boolean,
  live: Readonly<Record<string, unknown>> | null,
  more: { readonly broken?: string | null; readonly nowMs?: number } = {},
): string {
  const { broken = null, nowMs = Date.now() } = more;
  if (state === null) return 'not enrolled: run `service-sensor enroll`';
  if (state.trust_state === 'trust_revoked') return 'revoked by the Console';
  if (broken !== null) return broken;
  const isWaiting = isRunning && live?.['state'] === 'awaiting_reenrollment';
  if (isWaiting || Date.parse(state.certificate_expires_at) <= nowMs) {
    return 'certificate expired: re-enroll';
  }
  if (!isRunning) return 'enrolled, not running';
  if (live?.['clock_dispute']) return 'running, the Console refuses the certificate: see CLOCK';
  return live?.['last_heartbeat_problem'] ? 'running, the Console is not reached' : 'running';
}

function rowsOf(
  summary: string,
  config: SensorConfig,
  state: SensorState | null,
  live: Readonly<Record<string, unknown>> | null,
): readonly Row[] {
  const part = (name: string, field: string): string =>
    String((live?.[name] as Readonly<Record<string, unknown>> | undefined)?.[field] ?? '-');
  const beatMs = Number(live?.['last_heartbeat_at_ms'] ?? Number.NaN);
  const rows: readonly Row[] = [
    ['STATUS', summary],
    ['SENSOR', state?.sensor_id ?? '-'],
    ['NODE', state?.node_name ?? config.nodeName],
    ['CONSOLE', state?.console_url ?? config.consoleUrl?.href ?? '-'],
    ['TRUST', state?.trust_state ?? '-'],
    ['CERTIFICATE UNTIL', state?.certificate_expires_at ?? '-'],
    ['RENEWAL', state?.renewal_status ?? '-'],
    ['TRUST ERROR', state?.last_trust_error_at ?? '-'],
    ['CONNECTION ERROR', state?.last_connection_error_at ?? '-'],
    ['LAST HEARTBEAT', Number.isNaN(beatMs) || beatMs === 0 ? '-' : new Date(beatMs).toISOString()],
    ['PROBLEM', String(live?.['last_heartbeat_problem'] ?? '-')],
    ['STREAM', live === null ? '-' : live['is_stream_open'] === true ? 'open' : 'closed'],
    ['SPOOL', live === null ? '-' : `${part('spool', 'depth')} events`],
    ['ENGINE', engineLine(live) ?? '-'],
    ['ENGINE PASSED OVER', ...passedOver(live)],
    ['ENGINE UPGRADE', ...refusedUpgrades(live)],
    ['DISABLED HOOKS', ...disabledHooks(live)],
    ...CAPABILITIES.flatMap(({ statusRows }) => statusRows?.(live) ?? []),
    ['CLOCK', String(live?.['clock_dispute'] ?? '-')],
    ['CLOCK OFFSET', live?.['clock_offset_ms'] == null ? '-' : `${live['clock_offset_ms']} ms`],
    ['STATE DIRECTORY', config.stateDir],
  ];
  // What is not known is left out: a table of dashes tells nobody anything.
  return rows.filter(([, first]) => first !== undefined && first !== '-');
}
