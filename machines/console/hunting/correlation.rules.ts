// When the same indicator on several sensors is one thing for people: which fields are indicators, and the alert that they
// become. Ordinary programs run everywhere, so only events that are remarkable by themselves are counted. decision: D145
import type { FieldName } from '../../detection/fields.ts';
import type { Severity } from '../../wire/event.ts';

export const INDICATORS = [
  { field: 'process.binary', name: 'program' },
  { field: 'network.domain', name: 'domain' },
  { field: 'network.destination_ip', name: 'destination' },
  { field: 'policy.name', name: 'policy' },
] as const satisfies readonly { readonly field: FieldName; readonly name: string }[];
export type IndicatorName = (typeof INDICATORS)[number]['name'] | 'rule';

/** The events that are counted. */
export const REMARKABLE = 'severity:>=high or anomaly_score:>=0.8';

export type SharedIndicator = {
  readonly name: IndicatorName;
  readonly value: string;
  /** Those that saw it, by id; the first of them where there are very many. */
  readonly sensorIds: readonly string[];
  readonly sensors: number;
  readonly events: number;
  readonly firstAtMs: number;
  readonly lastAtMs: number;
  readonly severity: Severity;
};

/** One alert for each indicator. */
export function correlationKeyOf({ name, value }: Pick<SharedIndicator, 'name' | 'value'>): string {
  return `fleet_correlation ${name} ${value}`;
}

export function correlationTextOf(
  { name, value, sensors, events }: SharedIndicator,
  windowMs: number,
): { readonly headline: string; readonly detail: string } {
  const minutes = Math.round(windowMs / 60_000);
  return {
    headline: `The same ${name} on ${sensors} sensors: ${value}`,
    detail: `${events} remarkable events with the ${name} ${value} on ${sensors} sensors within ${minutes} minutes.`,
  };
}
