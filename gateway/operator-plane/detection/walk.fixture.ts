// A rule comes, changes and goes; of two alerts one goes from its begin to its end and on, one is among many.
import { testAlertOf } from '../../../machines/console/delivery/test-alert.rules.ts';
import { findingOf } from '../../../machines/console/detection/finding.ts';
import type { Walk, WalkPlace } from '../plumbing/walk.fixture.ts';

export const detection: Walk = async (place) => {
  await walkRules(place);
  await walkAlerts(place);
};

async function walkRules({ step }: WalkPlace) {
  const spec = {
    ...{ rule_name: 'root opens a shell', severity: 'high' },
    detect: { kind: 'match', condition: 'uid:0' },
  };
  const id = 'root-shell';
  await step('POST', '/alert-rules', { rule_id: id, spec });
  const next = { ...spec, severity: 'low' };
  await step('PUT', '/alert-rules/:id', { version: 1, spec: next }, { id });
  await step('DELETE', '/alert-rules/:id', undefined, { id });
}

async function walkAlerts({ step, relational, now }: WalkPlace) {
  const [nowMs, id, other] = [now(), crypto.randomUUID(), crypto.randomUUID()];
  const findings = [id, other].map((one) => findingOf(testAlertOf(one, nowMs), one));
  await relational.alerts.raise({ nowMs, findings });
  await step('POST', '/alerts/:id/acknowledge', undefined, { id });
  await step('POST', '/alerts/:id/assign', { assignee: 'new@example.test' }, { id });
  await step('POST', '/alerts/:id/comments', { text: 'a drill' }, { id });
  await step('POST', '/alerts/:id/resolve', { resolution: 'expected' }, { id });
  await step('POST', '/alerts/:id/reopen', undefined, { id });
  await step('POST', '/alerts/bulk', { alert_ids: [other], act: 'acknowledge' });
}
