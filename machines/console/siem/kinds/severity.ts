// Severities of events in the numbers of other standards.
import type { Severity } from '../../../wire/event.ts';

/** RFC 5424: critical, error, warning, notice, informational. */
export const SYSLOG_SEVERITY: Readonly<Record<Severity, number>> = {
  ...{ critical: 2, high: 3, medium: 4, low: 5, info: 6 },
};
/** OpenTelemetry's numbers and their short names. */
export const OTLP_SEVERITY: Readonly<Record<Severity, readonly [number, string]>> = {
  critical: [21, 'FATAL'],
  high: [17, 'ERROR'],
  medium: [13, 'WARN'],
  low: [10, 'INFO2'],
  info: [9, 'INFO'],
};
