// What the bench of detection judges: events of a busy fleet, and a hundred rules as people write them. The starter library
// comes first; what is missing to the hundred looks for names, parts, beginnings, networks and patterns.
import { readRuleLibrary } from '../../gateway/cli/detection/rule-library.ts';
import type { RuleSpec } from '../../machines/detection/rule-spec.ts';
import type { RuntimeEvent } from '../../machines/wire/event.ts';
import type { EventBatch } from '../../storage/ports/telemetry/event-store.ts';

const BINARIES = ['bash', 'curl', 'python3', 'sshd', 'nginx', 'node', 'cat', 'find', 'ls', 'git'];
const SENSORS = 50;

export type NamedRule = { readonly ruleId: string; readonly spec: RuleSpec };

const CONDITIONS: readonly ((n: number) => string)[] = [
  (n) => `event_kind:process_exec and binary:/opt/tool-${n}/bin/run`,
  (n) => `event_kind:process_exec and arguments~"--token-${n}"`,
  (n) => `event_kind:process_exec and arguments=~"--(user|name)=admin-${n} .*"`,
  (n) => `event_kind:file_open and path:/etc/secret-${n}/*`,
  (n) => `event_kind:network_connect and destination_ip:10.${n}.0.0/16 and destination_port:4444`,
  (n) => `event_kind:process_exec and binary:*/hidden-${n} and parent_binary:*/bash`,
];

/** So many rules. */
export async function rulesOf(count: number): Promise<readonly NamedRule[]> {
  const library = (await readRuleLibrary()).flatMap((one) => (one.ok ? [one.file] : []));
  const rules: NamedRule[] = library.map(({ ruleId, spec }) => ({ ruleId, spec }));
  for (let at = 0; rules.length < count; at += 1) rules.push(ruleOf(`made-${at}`, at));
  return rules.slice(0, count);
}

/** A rule by its number. */
export function ruleOf(ruleId: string, at: number): NamedRule {
  const condition = CONDITIONS[at % CONDITIONS.length]?.(at) ?? '';
  const spec: RuleSpec = {
    ...{ rule_name: ruleId, severity: 'medium', detect: { kind: 'match', condition } },
  };
  return { ruleId, spec };
}

/** Event number `at`: half are starts and ends of programs, the others connections, files and names. */
export function eventOf(at: number, nowMs: number): RuntimeEvent {
  const binary = `/usr/bin/${BINARIES[at % BINARIES.length]}`;
  const process = { exec_id: `exec-${at}`, pid: 1_000 + (at % 30_000), uid: at % 3, binary };
  const base = {
    ...{ event_id: at.toString(16).padStart(32, '0'), schema_version: 1 as const },
    ...{ observed_at: new Date(nowMs).toISOString(), severity: 'info' as const, message: binary },
    process: {
      ...process,
      arguments: `--run ${at} --config /etc/app/${at % 97}.yaml`,
      cwd: '/srv',
    },
    parent: { exec_id: `parent-${at % 500}`, pid: 900, binary: '/usr/bin/bash' },
  };
  const draw = at % 20;
  if (draw < 6) return { ...base, event_kind: 'process_exec' };
  if (draw < 10) return { ...base, event_kind: 'process_exit' };
  if (draw < 14) {
    const network = {
      ...{ protocol: 'tcp' as const, direction: 'outbound' as const, source_ip: '10.0.0.1' },
      ...{ source_port: 40_000 + (at % 9_000), destination_port: 443 },
      destination_ip: `172.16.${at % 200}.${at % 250}`,
    };
    return { ...base, event_kind: 'network_connect', network };
  }
  const file = { path: `/srv/data/${at % 5_000}`, operation: 'open' as const };
  return { ...base, event_kind: 'file_open', file };
}

/** A batch of so many events from number `from` on. */
export function batchOf(from: number, count: number, nowMs: number): EventBatch {
  return {
    ...{ sensorId: `sensor-${(from / count) % SENSORS}`, nodeName: 'node', streamId: 's' },
    ...{ channel: 'batch', sequence: 1 + from / count, digest: '', receivedAtMs: nowMs },
    events: Array.from({ length: count }, (_, at) => eventOf(from + at, nowMs)),
  };
}
