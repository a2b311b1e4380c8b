// From an alert that is durable to a webhook that has it: node props/bench/delivery.ts [deliveries a second] [seconds]
// Twenty webhooks, one of them dead, on the product's own PostgreSQL and over TLS; the receiver is a process of its own.
import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAlertIntake } from '../../actors/delivery/alert-intake.ts';
import { createDeadLetters } from '../../actors/delivery/dead-letters.ts';
import { createDeliveryWorker } from '../../actors/delivery/delivery-worker.ts';
import { createWebhookSender } from '../../actors/delivery/webhook-sender.ts';
import { outboundPost } from '../../actors/outbound/outbound-post.ts';
import type { Alert } from '../../machines/console/delivery/alert.ts';
import { createPostgresLauncher } from '../../storage/embedded/postgres.ts';
import { applyMigrations } from '../../storage/migrate.ts';
import { wholeOptions } from '../../storage/ports/delivery/webhook-store.ts';
import { silentLogger as logger, openRealRelational } from '../contracts/real-stores.ts';
import { openWebhookReceiver } from '../peers/webhook-receiver.ts';

const WEBHOOKS = 20;
const STOP_MS = 10_000;

if (process.env['DELIVERY_BENCH_RECEIVER'] === 'yes') await receive();
else await measure(Number(process.argv[2] ?? 1_000), Number(process.argv[3] ?? 20));

/** The other process: takes everything, and tells which delivery came when. */
async function receive(): Promise<void> {
  const receiver = await openWebhookReceiver();
  receiver.answerWith(({ headers }) => {
    process.send?.({ id: headers['x-service-delivery'], atMs: Date.now() });
    receiver.received.length = 0;
    return { status: 204 };
  });
  process.send?.({ port: receiver.port, caPem: receiver.caPem });
  process.once('disconnect', () => void receiver.close());
}

type Opened = { readonly port: number; readonly caPem: string };
type Seen = { readonly id: string; readonly atMs: number };

async function measure(perSecond: number, seconds: number): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'delivery-bench-'));
  chmodSync(dataDir, 0o711);
  const child = fork(import.meta.filename, {
    env: { ...process.env, DELIVERY_BENCH_RECEIVER: 'yes' },
  });
  const opened = await firstOf<Opened>(child);
  const launcher = createPostgresLauncher({ dataDir: join(dataDir, 'pg'), logger });
  const postgres = await launcher.start(new AbortController().signal);
  const control = await openRealRelational(postgres.endpoint.url);
  try {
    await applyMigrations({
      pool: control.relational.pool,
      analytics: async () => undefined,
      only: ['relational'],
    });
    await run({ relational: control.relational, child, opened, perSecond, seconds });
  } finally {
    child.disconnect();
    await control.close();
    await postgres.stop(STOP_MS);
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function run(of: {
  readonly relational: Awaited<ReturnType<typeof openRealRelational>>['relational'];
  readonly child: ChildProcess;
  readonly opened: Opened;
  readonly perSecond: number;
  readonly seconds: number;
}): Promise<void> {
  const { relational, child, opened, perSecond, seconds } = of;
  const { webhooks, deliveries, designation } = relational;
  await addWebhooks(webhooks, opened);
  const tenure = await designation.stand({
    ...{ holder: 'bench', nowMs: Date.now(), onLost: () => undefined },
  });
  if (tenure === null) throw new Error('somebody else is designated');
  const { epoch } = tenure;
  const chance = { newId: () => randomUUID(), randomBytes: (count: number) => randomBytes(count) };
  const now = () => Date.now();
  let isDue = false;
  const wake = (): void => {
    isDue = true;
  };
  const intake = createAlertIntake({
    ...{ webhooks, deliveries, chance, now },
    onPosted: wake,
  });
  const worker = createDeliveryWorker({
    ...{ webhooks, deliveries, dead: createDeadLetters(chance), chance, logger, now },
    alerts: { raise: async () => [] },
    sender: createWebhookSender({
      ...{ post: outboundPost, allowList: () => ['127.0.0.1'], factsOf: () => null, now },
      ...{ baseUrl: () => 'https://console.example', version: 'bench' },
      sealer: { seal: (text) => text, open: (text) => text, isCurrent: () => true },
      monotonicNow: () => performance.now(),
    }),
    onDone: wake,
  });
  const durableAtMs = new Map<string, number>();
  const tookMs: number[] = [];
  child.on('message', ({ id, atMs }: Seen) => {
    const since = durableAtMs.get(id);
    if (since !== undefined) tookMs.push(atMs - since);
  });
  const began = process.cpuUsage();
  const beganMs = performance.now();
  const alerts = Math.ceil((perSecond / WEBHOOKS) * seconds);
  for (let posted = 0; posted < alerts || isDue; ) {
    const wanted = Math.min(
      alerts,
      ((performance.now() - beganMs) / 1_000) * (perSecond / WEBHOOKS),
    );
    const due = Math.floor(wanted) - posted;
    if (due > 0) {
      const batch = Array.from({ length: due }, alertOf);
      await intake.take({ alerts: batch, epoch });
      const rows = await deliveries.list({ limit: due * WEBHOOKS, before: null });
      for (const { deliveryId } of rows) durableAtMs.set(deliveryId, Date.now());
      posted += due;
    }
    isDue = false;
    const result = await worker.loop.run({ epoch, signal: new AbortController().signal });
    isDue ||= result?.hasMore === true || worker.running() > 0;
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  const { user, system } = process.cpuUsage(began);
  tell({ tookMs, cpuMs: (user + system) / 1_000, perSecond, seconds });
  worker.close();
  await tenure.release();
}

async function addWebhooks(
  webhooks: Awaited<ReturnType<typeof openRealRelational>>['relational']['webhooks'],
  { port, caPem }: Opened,
): Promise<void> {
  for (let at = 0; at < WEBHOOKS; at += 1) {
    await webhooks.create({
      ...{ actor: 'bench', nowMs: Date.now() },
      webhook: {
        ...{ webhookId: randomUUID(), type: 'generic', name: `hook ${at}` },
        // The last one is dead: nobody listens there.
        targetUrl: `https://127.0.0.1:${at === WEBHOOKS - 1 ? 9 : port}/hook/${at}`,
        ...{ secretSealed: 'a secret to sign with', nextSecretSealed: null, rotatesAtMs: null },
        options: wholeOptions({
          ...{ kinds: [], minSeverity: 'info', groupIds: [], caPem, ratePerMinute: 60_000 },
        }),
      },
    });
  }
}

function alertOf(): Alert {
  const id = randomUUID();
  return {
    ...{ alertId: id, kind: 'security_event', severity: 'high', ruleId: 'r', sensorId: id },
    ...{ nodeName: 'node', headline: 'something happened', detail: 'x'.repeat(400) },
    ...{ occurredAtMs: Date.now(), observedAtMs: null, source: 'security_event', dedupKey: id },
    ...{ texts: {}, tags: [], groupIds: [], relatedEventCount: null, search: null },
  };
}

function tell(of: {
  readonly tookMs: number[];
  readonly cpuMs: number;
  readonly perSecond: number;
  readonly seconds: number;
}): void {
  const sorted = of.tookMs.toSorted((a, b) => a - b);
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  process.stdout.write(
    `${of.perSecond} deliveries a second for ${of.seconds} s to ${WEBHOOKS} webhooks, one dead: ` +
      `${sorted.length} arrived, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, ` +
      `${((of.cpuMs / Math.max(1, sorted.length)) * 1_000).toFixed(0)} ms of CPU per 1,000\n`,
  );
}

function firstOf<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve) => child.once('message', (message) => resolve(message as T)));
}
