// An alert as a rule of this project raises it, for journeys of the page.
import type { Finding } from '../../machines/console/detection/finding.ts';

/** A shell below a web server, the one of a number; the number makes its time, its rule and its severity. */
export function shellFinding(of: {
  readonly index: number;
  readonly sensorId: string;
  readonly nowMs: number;
  readonly eventId: string;
}): Finding {
  const { index, sensorId, nowMs, eventId } = of;
  const alertId = `0199${index.toString(16).padStart(4, '0')}-0000-7000-8000-000000000000`;
  const atMs = nowMs - index * 60_000;
  return {
    alert: {
      ...{ alertId, kind: 'security_event', severity: index % 2 === 0 ? 'critical' : 'medium' },
      ...{ ruleId: `rule-${index}`, sensorId, nodeName: 'node-0001', source: 'security_event' },
      ...{ headline: `Shell below a web server, number ${index}`, detail: 'nginx began bash.' },
      ...{ occurredAtMs: atMs, observedAtMs: null, dedupKey: `key ${index}` },
      ...{ texts: { process: '/bin/bash' }, tags: [], groupIds: [] },
      ...{ relatedEventCount: null, search: null },
    },
    matches: [{ matchId: eventId, isEvent: true, atMs }],
    ...{ group: { 'process.binary': '/bin/bash' }, quietMs: 0, isToldAgain: false },
  };
}
