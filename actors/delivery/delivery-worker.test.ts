import { randomBytes, randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Alert } from '../../machines/console/delivery/alert.ts';
import { createMemoryRelational } from '../../storage/memory/memory-relational.ts';
import { wholeOptions } from '../../storage/ports/delivery/webhook-store.ts';
import { createDeadLetters } from './dead-letters.ts';
import { createDeliveryWorker } from './delivery-worker.ts';
import type { Attempted } from './webhook-sender.ts';

const silent = (): void => undefined;
const logger = { debug: silent, info: silent, warn: silent, error: silent };
const { signal } = new AbortController();
const ACCEPTED: Attempted = {
  ...{ outcome: { kind: 'answered', status: 204, retryAfterMs: null }, status: 204 },
  ...{ detail: '', durationMs: 1, request: '', response: '' },
};

function alertOf(): Alert {
  const alertId = randomUUID();
  return {
    ...{ alertId, kind: 'security_event', severity: 'high', ruleId: 'r', sensorId: 'fleet' },
    ...{ nodeName: 'fleet', headline: 'h', detail: 'd', occurredAtMs: 0, observedAtMs: null },
    ...{ source: 'security_event', dedupKey: alertId, texts: {}, tags: [], groupIds: [] },
    ...{ relatedEventCount: null, search: null },
  };
}

it('should write what comes back while other results are being written', async () => {
  const { webhooks, deliveries, designation } = createMemoryRelational();
  const webhookId = randomUUID();
  await webhooks.create({
    ...{ actor: 'test', from: '', nowMs: 0 },
    webhook: {
      ...{ webhookId, type: 'generic', name: 'hook', targetUrl: 'https://hooks.example.org/' },
      ...{ secretSealed: null, nextSecretSealed: null, rotatesAtMs: null },
      options: wholeOptions({
        ...{ kinds: [], minSeverity: 'info', groupIds: [], caPem: null, ratePerMinute: 600 },
      }),
    },
  });
  const tenure = await designation.stand({ holder: 'test', nowMs: 0, onLost: silent });
  const { epoch = 0 } = tenure ?? {};
  const alerts = [alertOf(), alertOf()];
  const made = alerts.map(({ alertId }) => ({ deliveryId: randomUUID(), webhookId, alertId }));
  await deliveries.post({ epoch, nowMs: 0, alerts, deliveries: made, marks: [] });
  const answers = new Map<string, PromiseWithResolvers<void>>(
    made.map(({ deliveryId }) => [deliveryId, Promise.withResolvers<void>()]),
  );
  const gate = Promise.withResolvers<void>();
  const settling = Promise.withResolvers<void>();
  const back = Promise.withResolvers<void>();
  let came = 0;
  const worker = createDeliveryWorker({
    ...{ webhooks, logger: { ...logger, child: () => logger as never } },
    deliveries: {
      reclaim: deliveries.reclaim,
      claim: deliveries.claim,
      async settle(input) {
        settling.resolve();
        await gate.promise;
        await deliveries.settle(input);
      },
    },
    sender: {
      async send({ deliveryId }) {
        await answers.get(deliveryId)?.promise;
        return ACCEPTED;
      },
    },
    alerts: { raise: async () => [] },
    dead: createDeadLetters({ newId: randomUUID }),
    ...{ chance: { randomBytes }, now: () => 1 },
    onDone() {
      came += 1;
      if (came === 1) first.resolve();
      else back.resolve();
    },
  });
  const first = Promise.withResolvers<void>();
  const run = () => worker.loop.run({ epoch, signal });
  await run();
  const [one, two] = made;
  answers.get(one?.deliveryId ?? '')?.resolve();
  await first.promise;
  const second = run();
  await settling.promise;
  answers.get(two?.deliveryId ?? '')?.resolve();
  await back.promise;
  gate.resolve();
  expect(await second).toEqual({ hasMore: true });
  await run();
  const states = (await deliveries.list({ limit: 10, before: null })).map(({ state }) => state);
  expect(states).toEqual(['delivered', 'delivered']);
  worker.close();
});
