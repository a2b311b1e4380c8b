// A Console sends its daily digests to a mail server and to a webhook of the tests, over days that pass between two calls: each
// day once, what failed is tried again under the same number, a day that passed unseen is told as such, and an attempt that a
// Console did not live to end is told and never repeated. decision: D166; invariant: I11
import { createHmac } from 'node:crypto';
import PostalMime from 'postal-mime';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  type ConsoleUnderTest,
  removeSharedKeys,
  startConsole,
} from '../attacks/console.fixture.ts';
import { MAIL_PASSWORD, MAIL_USER, type MailReceiver, openMailReceiver } from './mail-receiver.ts';
import { openWebhookReceiver, type WebhookReceiver } from './webhook-receiver.ts';

const LONG_MS = 180_000;
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const SECRET = 'S1gns-the-body';
const NAME = '<b>fleet</b> & "<img src=x>"';

let mail: MailReceiver;
let webhook: WebhookReceiver;
let console: ConsoleUnderTest;
let admin = '';
let nowMs = Date.UTC(2026, 10, 20, 12);

beforeAll(async () => {
  [mail, webhook] = [await openMailReceiver('tls'), await openWebhookReceiver()];
  console = await startConsole();
  console.holdAt(nowMs);
  admin = (await console.newKey(['admin'])).secret;
  const [list] = console.settings.view().filter(({ name }) => name === 'webhook_allow_list');
  const changed = await console.settings.change({
    ...{ actor: 'test', values: { webhook_allow_list: ['127.0.0.1'] } },
    revisions: { webhook_allow_list: list?.revision ?? 0 },
  });
  expect(changed).toEqual({ ok: true });
}, LONG_MS);
afterAll(async () => {
  await console.stop();
  await mail.close();
  await webhook.close();
  await removeSharedKeys();
});
afterEach(async () => {
  for (const { digestId } of await console.stores.relational.digests.list()) {
    await call('DELETE', `/digests/${digestId}`);
  }
  mail.behave('take');
  mail.received.length = 0;
  webhook.answerWith({ status: 204 });
  webhook.received.length = 0;
});

async function call(method: string, path: string, body?: unknown) {
  const headers = { authorization: `Bearer ${admin}` };
  const answer = await console.ask(null, `/api/v2${path}`, body, { method, headers });
  return { status: answer.status, body: answer.body as Record<string, unknown> };
}

async function create(way: object): Promise<string> {
  const plan = { name: NAME, time_zone: 'Europe/Berlin', at: '07:30', ca_pem: null, ...way };
  const made = await call('POST', '/digests', plan);
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  return String(made.body['digest_id']);
}
const byMail = () => ({
  mail: {
    ...{ host: '127.0.0.1', port: mail.port, security: 'tls', username: MAIL_USER },
    ...{ sender: 'console@example.org', recipients: ['ada@example.org'] },
  },
  ...{ secret: MAIL_PASSWORD, ca_pem: mail.caPem },
});

/** Time passes, and the loop looks. */
async function pass(ms: number): Promise<void> {
  nowMs += ms;
  console.holdAt(nowMs);
  const ran = await call('POST', '/system/loops/fleet-digest/run');
  expect(ran.status, JSON.stringify(ran.body)).toBe(200);
}
async function runsOf(id: string) {
  const { body } = await call('GET', `/digests/${id}/runs`);
  const items = body['items'] as readonly { day: string; state: string; attempts: number }[];
  return items.map(({ day, state, attempts }) => [day, state, attempts]);
}

/** What people are told of a digest: its alerts, by headline, state and count. */
async function alertsOf(id: string) {
  const { body } = await call('GET', '/alerts?limit=200');
  const items = body['items'] as readonly Record<string, unknown>[];
  return items
    .filter(({ rule_id }) => rule_id === id)
    .map(({ headline, state, match_count }) => [headline, state, match_count]);
}

describe('a digest by mail', { timeout: LONG_MS }, () => {
  it('should come once a day, whole, with no markup of others and no image of elsewhere', async () => {
    const id = await create(byMail());
    await pass(0);
    expect(await runsOf(id)).toEqual([]);
    await pass(DAY_MS);
    await pass(HOUR_MS);
    expect(await runsOf(id)).toEqual([['2026-11-21', 'sent', 1]]);
    expect(mail.received).toHaveLength(1);
    const [first] = mail.received;
    expect(first).toMatchObject({ isSecure: true, user: MAIL_USER, to: ['ada@example.org'] });
    const read = await PostalMime.parse(first?.raw ?? '');
    const html = read.html ?? '';
    for (const part of [html, read.text ?? '']) {
      expect(part).toMatch(/alert/i);
      expect(part).toMatch(/license/i);
      expect(part).toMatch(/certificate/i);
    }
    expect(html).not.toMatch(
      /<(img|script|link|iframe|style|object)\b|<[^>]*\b(src|background)=|url\(/i,
    );
    expect(read.attachments).toEqual([]);
    const preview = await call('GET', `/digests/${id}/preview`);
    expect(preview.status).toBe(200);
    expect(JSON.stringify((await call('GET', '/digests')).body)).not.toContain(MAIL_PASSWORD);
    await pass(DAY_MS);
    expect(await runsOf(id)).toEqual([
      ['2026-11-22', 'sent', 1],
      ['2026-11-21', 'sent', 1],
    ]);
    const ids = await Promise.all(
      mail.received.map(async ({ raw }) => (await PostalMime.parse(raw)).messageId),
    );
    expect(new Set(ids).size).toBe(2);
  });

  it('should be tried again under the same number, and tell of days that nobody was told of', async () => {
    const id = await create(byMail());
    mail.behave('later');
    await pass(DAY_MS);
    const [[day] = []] = await runsOf(id);
    expect(await runsOf(id)).toEqual([[day, 'waiting', 1]]);
    mail.behave('take');
    await pass(HOUR_MS);
    expect(await runsOf(id)).toEqual([[day, 'sent', 2]]);
    expect(mail.received).toHaveLength(1);
    // Three days without anybody who looks.
    await pass(3 * DAY_MS);
    const runs = await runsOf(id);
    expect(runs.map(([, state]) => state)).toEqual(['sent', 'missed', 'missed', 'sent']);
    const read = await PostalMime.parse(mail.received.at(-1)?.raw ?? '');
    for (const [missed] of runs.slice(1, 3)) expect(read.text).toContain(String(missed));
    // Told while it was so, and over with the one that came.
    const headline = expect.stringContaining(`A digest was missed: ${NAME}, `);
    expect(await alertsOf(id)).toEqual([[headline, 'resolved', 2]]);
  });

  it('should say by its button what the mail server says', async () => {
    const id = await create(byMail());
    expect((await call('POST', `/digests/${id}/test`)).body).toMatchObject({ is_taken: true });
    mail.behave('refuse');
    const refused = await call('POST', `/digests/${id}/test`);
    expect(refused.body).toMatchObject({ is_taken: false });
    expect(String(refused.body['detail'])).toContain('not from you');
    expect(await runsOf(id)).toEqual([]);
  });
});

describe('a digest to a webhook', { timeout: LONG_MS }, () => {
  it('should hold the same, signed over the bytes that come', async () => {
    const id = await create({
      webhook: { target_url: webhook.url() },
      secret: SECRET,
      ca_pem: webhook.caPem,
    });
    await pass(DAY_MS);
    const [[day] = []] = await runsOf(id);
    expect(await runsOf(id)).toEqual([[day, 'sent', 1]]);
    const [sent] = webhook.received;
    const body = JSON.parse(String(sent?.body));
    expect(body).toMatchObject({ name: NAME });
    const signature = createHmac('sha256', SECRET)
      .update(sent?.body ?? '')
      .digest('hex');
    expect(JSON.stringify(sent?.headers)).toContain(signature);
    webhook.answerWith({ status: 500 });
    await pass(DAY_MS);
    webhook.answerWith({ status: 204 });
    await pass(HOUR_MS);
    expect((await runsOf(id))[0]).toEqual([expect.any(String), 'sent', 2]);
  });
});

describe('a digest to a webhook that is cut off', { timeout: LONG_MS }, () => {
  it('should be unsure and not be sent again, whatever connection was kept', async () => {
    const id = await create({
      ...{ webhook: { target_url: webhook.url() }, secret: SECRET, ca_pem: webhook.caPem },
    });
    // A connection is there that could be used again.
    expect((await call('POST', `/digests/${id}/test`)).body).toMatchObject({ is_taken: true });
    webhook.answerWith('cut');
    await pass(DAY_MS);
    await pass(HOUR_MS);
    expect((await runsOf(id)).map(([, state, attempts]) => [state, attempts])).toEqual([
      ['unsure', 1],
    ]);
    expect(webhook.received).toHaveLength(2);
    const headline = expect.stringContaining('Nobody knows whether a digest arrived');
    expect(await alertsOf(id)).toEqual([[headline, 'open', 1]]);
    webhook.answerWith({ status: 400 });
    await pass(DAY_MS);
    expect((await alertsOf(id)).map(([, state, count]) => [state, count])).toEqual([['open', 2]]);
    expect((await runsOf(id))[0]).toEqual([expect.any(String), 'failed', 1]);
    webhook.answerWith({ status: 204 });
    await pass(DAY_MS);
    expect((await alertsOf(id)).map(([, state]) => state)).toEqual(['resolved']);
  });
});

describe('a digest whose Console dies in the middle', { timeout: LONG_MS }, () => {
  it('should be told as unsure and not be sent again', async () => {
    const id = await create(byMail());
    const { digests } = console.stores.relational;
    nowMs += DAY_MS;
    console.holdAt(nowMs);
    const day = new Date(nowMs).toISOString().slice(0, 10);
    // What the loop writes before its first attempt, and nothing after it.
    const epoch = Number((await call('GET', '/system/loops')).body['epoch'] ?? 1);
    const slot = { digestId: id, day, fromMs: nowMs - DAY_MS, toMs: nowMs, missed: [] };
    await digests.begin({ epoch, nowMs, leaseUntilMs: nowMs + 600_000, ...slot });
    await pass(HOUR_MS);
    await pass(HOUR_MS);
    expect(await runsOf(id)).toEqual([[day, 'unsure', 1]]);
    expect((await alertsOf(id)).map(([, state, count]) => [state, count])).toEqual([['open', 1]]);
    expect(mail.received).toEqual([]);
  });
});
