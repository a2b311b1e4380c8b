// Which destinations an alert goes to. decision: D103
import { type Alert, type AlertKind, type AlertSeverity, isAtLeast } from './alert.ts';

export type Route = {
  /** Only these kinds; empty: all. */
  readonly kinds: readonly AlertKind[];
  readonly minSeverity: AlertSeverity;
  /** Only sensors of one of these groups; empty: all, and what is of no single sensor. */
  readonly groupIds: readonly string[];
  /** Only alerts of one of these rules; empty or absent, as older rows have it: all, and what is of no rule. */
  readonly ruleIds?: readonly string[];
};

/** Whether a destination is told of an alert. */
export function isWanted(
  route: Route,
  alert: Pick<Alert, 'kind' | 'severity' | 'groupIds' | 'ruleId'>,
): boolean {
  const { kinds, minSeverity, groupIds, ruleIds = [] } = route;
  if (kinds.length > 0 && !kinds.includes(alert.kind)) return false;
  if (!isAtLeast(alert.severity, minSeverity)) return false;
  if (ruleIds.length > 0 && !ruleIds.includes(alert.ruleId)) return false;
  return groupIds.length === 0 || groupIds.some((id) => alert.groupIds.includes(id));
}
