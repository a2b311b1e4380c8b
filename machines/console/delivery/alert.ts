// What is told to destinations: one alert, with everything that any format shows of it. Facts alone; a format decides how
// they look. Optional facts that are not known are null or absent.
import Type from 'typebox';
import { ALERT_SEVERITIES } from '../../wire/words.ts';

export { ALERT_SEVERITIES };

export const ALERT_KINDS = [
  'security_event',
  'saved_search_match',
  'test_delivery',
  'certificate_renewal_recommended',
  'certificate_renewal_due',
  'certificate_expired',
  'certificate_renewed',
  'sensor_revoked',
  'identity_conflict',
  'fleet_correlation',
  'anomaly',
  'coverage_loss',
  'sensor_stale',
  'policy_rollout_halted',
  'containment_changed',
  'exercise_result',
  'license_expiring',
  'destination_failing',
  'analytics_unhealthy',
] as const;
export type AlertKind = (typeof ALERT_KINDS)[number];

export type AlertSeverity = (typeof ALERT_SEVERITIES)[number];

export const ALERT_SOURCES = [
  'security_event',
  'saved_search',
  'trust',
  'fleet_correlation',
  'anomaly',
  'coverage',
  'policy',
  'system',
  'v2_api_test',
] as const;
export type AlertSource = (typeof ALERT_SOURCES)[number];

/** What may be left out. Names are those of the generic payload. */
export const OPTIONAL_TEXTS = [
  'event_kind',
  'rule_name',
  'message',
  'process',
  'parent_executable',
  'mitre_technique',
  'mitre_tactic',
  'declared_role',
  'os_name',
  'os_version',
  'architecture',
  'kernel_version',
  'k8s_namespace',
  'pod_name',
  'workload_type',
  'workload_name',
  'container_id',
  'ancestors',
  'telecom_protocol_family',
  'telecom_interface_context',
  'telecom_transport_context',
] as const;
export type OptionalTexts = { readonly [Name in (typeof OPTIONAL_TEXTS)[number]]?: string };

/** A saved search whose threshold was crossed. */
export type SearchMatch = {
  readonly searchId: string;
  readonly searchName: string;
  readonly matchCount: number;
  readonly windowSecs: number;
  readonly threshold: number;
  readonly eventSearchUrl: string;
};

export type Alert = {
  readonly alertId: string;
  readonly kind: AlertKind;
  readonly severity: AlertSeverity;
  /** Of the rule or the search; otherwise the kind. */
  readonly ruleId: string;
  /** The word `fleet` where it is of no single sensor. */
  readonly sensorId: string;
  readonly nodeName: string;
  readonly headline: string;
  readonly detail: string;
  readonly occurredAtMs: number;
  readonly observedAtMs: number | null;
  readonly source: AlertSource;
  /** Pending alerts of one key become one delivery. */
  readonly dedupKey: string;
  readonly texts: OptionalTexts;
  readonly tags: readonly string[];
  readonly groupIds: readonly string[];
  readonly relatedEventCount: number | null;
  readonly search: SearchMatch | null;
};

/** What an alert says that is of no single sensor. */
export const OF_FLEET = {
  ...{ sensorId: 'fleet', nodeName: 'fleet', observedAtMs: null, texts: {} },
  ...{ tags: [], groupIds: [], relatedEventCount: null, search: null },
} as const satisfies Partial<Alert>;

/** What is true when it is sent. */
export type AtDelivery = {
  readonly deliveredAtMs: number;
  readonly trustHealth: string;
  readonly isContained: boolean;
  readonly inboxUrl: string;
  readonly relatedEventCount: number | null;
};

export const AlertKindName = Type.Enum([...ALERT_KINDS]);
export const AlertSeverityName = Type.Enum([...ALERT_SEVERITIES]);

/** Whether a severity is at least another one. */
export function isAtLeast(severity: AlertSeverity, least: AlertSeverity): boolean {
  return ALERT_SEVERITIES.indexOf(severity) >= ALERT_SEVERITIES.indexOf(least);
}
