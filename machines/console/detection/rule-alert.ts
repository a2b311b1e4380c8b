// What a rule found, as a finding of the inbox. decision: D130, D131
import type { CompiledRule, SensorLabels } from '../../detection/rule-compile.ts';
import type { RuleFound } from '../../detection/rule-found.ts';
import {
  ALERT_DETAIL_MAX_CHARS,
  ALERT_GROUP_VALUE_MAX_CHARS,
  ALERT_HEADLINE_MAX_CHARS,
} from '../../limits.ts';
import type { StoredEvent } from '../../wire/event.ts';
import type { Alert, OptionalTexts } from '../delivery/alert.ts';
import type { Finding } from './finding.ts';

/** The finding. `alertId` is used when it is a new alert. */
export function findingOfRule(
  rule: CompiledRule,
  found: RuleFound,
  { alertId, labels }: { readonly alertId: string; readonly labels: SensorLabels },
): Finding {
  const isOfFleet = rule.spec.across === 'fleet';
  const where = isOfFleet ? 'fleet' : found.sensorId;
  return {
    alert: alertOf(rule, found, { alertId, labels, where }),
    matches: matchesOf(found),
    group: Object.fromEntries(
      Object.entries(found.group).map(([name, value]) => [
        name,
        value.slice(0, ALERT_GROUP_VALUE_MAX_CHARS),
      ]),
    ),
    quietMs: (rule.spec.quiet_secs ?? 0) * 1_000,
    isToldAgain: false,
  };
}

/** Of which alert a finding of a rule is one more match. */
export function dedupKeyOf(ruleId: string, where: string, key: string): string {
  return `rule ${ruleId} ${where} ${key}`;
}

function matchesOf({ sensorId, events, sinceMs, last }: RuleFound): Finding['matches'] {
  if (sinceMs !== null) {
    const atMs = Date.parse(last.observed_at);
    return [{ matchId: `absence ${sensorId} ${sinceMs}`, isEvent: false, atMs }];
  }
  return events.map(({ id: matchId, atMs }) => ({ matchId, isEvent: true, atMs }));
}

function alertOf(
  { ruleId, spec, isOfScore }: CompiledRule,
  found: RuleFound,
  at: { readonly alertId: string; readonly labels: SensorLabels; readonly where: string },
): Alert {
  const { last, events, key } = found;
  const { alertId, labels, where } = at;
  const node = where === 'fleet' ? 'the fleet' : last.node_name;
  return {
    ...{
      alertId,
      kind: isOfScore ? 'anomaly' : 'security_event',
      severity: spec.severity,
      ruleId,
      sensorId: where,
    },
    nodeName: where === 'fleet' ? 'fleet' : last.node_name,
    headline: `${spec.rule_name} on ${node}`.slice(0, ALERT_HEADLINE_MAX_CHARS),
    detail: detailOf(spec.description, found).slice(0, ALERT_DETAIL_MAX_CHARS),
    occurredAtMs: Date.parse(last.observed_at),
    observedAtMs: Date.parse(last.observed_at),
    source: isOfScore ? 'anomaly' : 'security_event',
    dedupKey: dedupKeyOf(ruleId, where, key),
    texts: textsOf(spec, last, labels),
    tags: where === 'fleet' ? [] : labels.tags,
    groupIds: where === 'fleet' ? [] : labels.groupIds,
    relatedEventCount: events.length,
    search: null,
  };
}

function detailOf(description: string | undefined, { last, sinceMs }: RuleFound): string {
  const what =
    sinceMs === null ? last.message : `Nothing of it since ${new Date(sinceMs).toISOString()}.`;
  return description === undefined ? what : `${description}\n${what}`;
}

function textsOf(
  { rule_name, mitre }: CompiledRule['spec'],
  event: StoredEvent,
  labels: SensorLabels,
): OptionalTexts {
  const { process, parent, ancestors, workload, telecom } = event;
  const told = {
    rule_name,
    event_kind: event.event_kind,
    message: event.message,
    process: process?.binary,
    parent_executable: parent?.binary,
    mitre_technique: mitre?.technique ?? event.mitre?.technique,
    mitre_tactic: mitre?.tactic ?? event.mitre?.tactic,
    declared_role: labels.role ?? undefined,
    k8s_namespace: workload?.k8s_namespace,
    pod_name: workload?.pod_name,
    workload_type: workload?.workload_type,
    workload_name: workload?.workload_name,
    container_id: workload?.container_id,
    ancestors:
      ancestors === undefined ? undefined : JSON.stringify(ancestors.map((one) => one.binary)),
    telecom_protocol_family: telecom?.protocol_family,
    telecom_interface_context: telecom?.interface_context,
    telecom_transport_context: telecom?.transport_context,
  };
  return Object.fromEntries(Object.entries(told).filter(([, one]) => one !== undefined));
}
