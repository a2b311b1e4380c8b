// A webhook from its begin to its end, and deliveries that are sent again.
import { testAlertOf } from '../../../machines/console/delivery/test-alert.rules.ts';
import type { Walk } from '../plumbing/walk.fixture.ts';

export const delivery: Walk = async ({ step, relational, now, epoch }) => {
  // Nothing answers there: what is told of it is told whatever the receiver does.
  const made = await step('POST', '/webhooks', {
    ...{ webhook_type: 'generic', name: 'hook', target_url: 'https://hooks.invalid/path' },
    options: { alert_kinds: ['license_expiring'] },
  });
  const webhookId = String((made.body['webhook'] as Record<string, unknown>)['webhook_id']);
  const at = { id: webhookId };
  await step('PATCH', '/webhooks/:id', { revision: 1, name: 'other' }, at);
  await step('POST', '/webhooks/:id/rotate-secret', { overlap_hours: 1 }, at);
  await step('POST', '/webhooks/:id/test', {}, at);
  await step('POST', '/webhooks/:id/pause', {}, at);
  // One that was pushed out can be sent again.
  const { deliveries } = relational;
  const nowMs = now();
  const alert = { ...testAlertOf(crypto.randomUUID(), nowMs), severity: 'high' as const };
  const deliveryId = crypto.randomUUID();
  const { alertId } = alert;
  const posted = { alerts: [alert], deliveries: [{ deliveryId, webhookId, alertId }], marks: [] };
  await deliveries.post({ nowMs, ...posted });
  await deliveries.sweep({ epoch: epoch(), nowMs, waitingMax: 0, endedBeforeMs: 0, limit: 1 });
  await step('POST', '/deliveries/:id/replay', {}, { id: deliveryId });
  await step('POST', '/webhooks/:id/replay-dead', {}, at);
  await step('POST', '/webhooks/:id/resume', {}, at);
  await step('DELETE', '/webhooks/:id', undefined, at);
};
