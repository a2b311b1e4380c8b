// What a webhook type is: how an alert is laid out, where it is sent, and which headers go with it.
import type { Alert, AtDelivery } from '../alert.ts';

export type Outgoing = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Laid out as JSON. */
  readonly body: unknown;
};
export type Told = {
  readonly alert: Alert;
  readonly at: AtDelivery;
  readonly targetUrl: string;
  /** Null: none was set. */
  readonly secret: string | null;
};
export type Format = {
  /** Its place among the types that are offered, smallest first. */
  readonly rank: number;
  /** Whether nothing can be sent without a secret. */
  readonly needsSecret: boolean;
  /** Whether the body is signed with the secret; otherwise it is a key of the receiver's making. */
  readonly isSigned: boolean;
  lay(told: Told): Outgoing;
};

/** RFC 3339. */
export function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}

/** What incidents and cases are told apart by. */
export function incidentKeyOf({ ruleId, sensorId }: Pick<Alert, 'ruleId' | 'sensorId'>): string {
  return `service-${ruleId}-${sensorId}`;
}

/** What a chat shows on top. */
export function titleOf(alert: Alert): string {
  return alert.search?.searchName ?? alert.texts.rule_name ?? alert.headline;
}

/** What a chat shows below it. */
export function messageOf(alert: Alert): string {
  const { search } = alert;
  if (search === null) return alert.texts.message ?? alert.detail;
  const { matchCount, windowSecs, threshold } = search;
  return `${matchCount} matches in ${windowSecs} s (threshold ${threshold})`;
}

/** Where `Open in Console` leads; empty for a test. */
export function linkOf({ alert, at }: Pick<Told, 'alert' | 'at'>): string {
  return alert.search?.eventSearchUrl ?? at.inboxUrl;
}

/** The operating system in a few words; empty when it is not known. */
function systemOf({ texts }: Alert): string {
  return [texts.os_name, texts.os_version, texts.architecture].filter(isText).join(' ');
}

/** The pod and the workload; empty outside of a cluster. */
export function workloadOf({ texts }: Alert): string {
  const kind = [texts.workload_type, texts.workload_name].filter(isText).join(' ');
  const parts = [texts.k8s_namespace, texts.pod_name, kind, texts.container_id].filter(isText);
  return parts.filter((part) => part !== '').join(' / ');
}

/** The telecom context; empty elsewhere. */
export function telecomOf({ texts }: Alert): string {
  const { telecom_protocol_family: family, telecom_interface_context: at } = texts;
  return [family, at, texts.telecom_transport_context].filter(isText).join(' / ');
}

/** The technique and the tactic of ATT&CK. */
function mitreOf({ texts }: Alert): string {
  return [texts.mitre_technique, texts.mitre_tactic].filter(isText).join(' / ');
}

/** What a saved search shows in place of process and role. */
export function searchFieldsOf({
  search,
  occurredAtMs,
}: Alert): readonly (readonly [string, string])[] {
  if (search === null) return [];
  return [
    ['Matches', String(search.matchCount)],
    ['Window', `${search.windowSecs} s`],
    ['Threshold', String(search.threshold)],
    ['Triggered', timeOf(occurredAtMs)],
  ];
}

/** A name that a chat shows, and what it stands for. */
export type Label = readonly [name: string, fact: keyof ReturnType<typeof factsOf>];
export type Field = readonly [name: string, value: string];

/** What a chat can show of an alert; empty where there is none. */
function factsOf({ alert, at }: Pick<Told, 'alert' | 'at'>) {
  const { texts } = alert;
  return {
    sensor: alert.nodeName,
    role: texts.declared_role ?? '',
    event: texts.event_kind ?? alert.kind,
    process: texts.process ?? '',
    severity: alert.severity,
    system: systemOf(alert),
    parent: texts.parent_executable ?? '',
    telecom: telecomOf(alert),
    tags: alert.tags.join(', '),
    mitre: mitreOf(alert),
    related: at.relatedEventCount === null ? '' : String(at.relatedEventCount),
    workload: workloadOf(alert),
  };
}

/** What stands on top of a chat's message: these, or what a saved search shows instead. */
export function mainFields(
  told: Pick<Told, 'alert' | 'at'>,
  labels: readonly Label[],
): readonly Field[] {
  if (told.alert.search !== null) return searchFieldsOf(told.alert);
  const facts = factsOf(told);
  return labels.map(([name, fact]) => [name, facts[fact] || '-']);
}

/** What follows it: those that there are. */
export function furtherFields(
  told: Pick<Told, 'alert' | 'at'>,
  labels: readonly Label[],
): readonly Field[] {
  const facts = factsOf(told);
  return labels.flatMap(([name, fact]) =>
    facts[fact] === '' ? [] : [[name, facts[fact]] as const],
  );
}

function isText(text: string | undefined): text is string {
  return text !== undefined && text !== '';
}
