// A Console forwards stored events to receivers of the tests, which read each kind as its maker documents it: every event that
// the filter wants, in the order of receipt, whatever the receiver says in between. decision: D152, D153, D154; invariant: I11
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { SiemKindName } from '../../machines/console/siem/kinds/kinds.ts';
import { SIEM_DESTINATIONS_MAX } from '../../machines/limits.ts';
import {
  type ConsoleUnderTest,
  removeSharedKeys,
  startConsole,
} from '../attacks/console.fixture.ts';
import { batch, event, HOSTILE } from '../contracts/samples.ts';
import { openConnectProxy } from './connect-proxy.ts';
import {
  readHuntress,
  readObserve,
  readOtlp,
  readSumo,
  readSyslog,
  type SeenEvent,
} from './siem-forms.ts';
import { openSyslogReceiver } from './syslog-receiver.ts';
import { openWebhookReceiver, type Received, type WebhookReceiver } from './webhook-receiver.ts';

const LONG_MS = 180_000;
const TOKEN = 'T0ken-of-a-receiver/+=';
type Alerts = {
  readonly items: readonly { readonly rule_id: string; readonly state: string }[];
};
let receiver: WebhookReceiver;
let syslog: Awaited<ReturnType<typeof openSyslogReceiver>>;
let console: ConsoleUnderTest;
let admin = '';
let sequence = 0;
let lastReceivedAtMs = 0;

beforeAll(async () => {
  receiver = await openWebhookReceiver();
  syslog = await openSyslogReceiver();
  console = await startConsole();
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
  await receiver.close();
  await syslog.close();
  await removeSharedKeys();
});
afterEach(async () => {
  for (const { destinationId } of await console.stores.relational.siem.list()) {
    await call('DELETE', `/siem-destinations/${destinationId}`);
  }
  receiver.answerWith({ status: 204 });
  receiver.received.length = 0;
  syslog.whole.length = 0;
  syslog.behave('take');
});

async function call(method: string, path: string, body?: unknown) {
  const headers = { authorization: `Bearer ${admin}` };
  const answer = await console.ask(null, `/api/v2${path}`, body, { method, headers });
  return { status: answer.status, body: answer.body as Record<string, unknown> };
}

async function add(kind: SiemKindName, more: Record<string, unknown> = {}) {
  const { options, ...rest } = more as { options?: object };
  const isSyslog = kind === 'syslog';
  const made = await call('POST', '/siem-destinations', {
    ...{ kind, name: `to ${kind}`, target_url: isSyslog ? syslog.url : receiver.url('/') },
    ...rest,
    options: { ca_pem: isSyslog ? syslog.caPem : receiver.caPem, ...options },
  });
  expect(made).toMatchObject({ status: 201 });
  return String(made.body['destination_id']);
}

/** Events as hostile as they may be, stored now; in a later millisecond than the last ones, so that receipt orders them. */
async function store(count: number, more: object = {}): Promise<readonly string[]> {
  sequence += 1;
  const events = Array.from({ length: count }, () =>
    event({
      message: `${HOSTILE}"]\\ ]\n<13>1 forged`,
      process: {
        exec_id: 'a',
        pid: Number.MAX_SAFE_INTEGER,
        binary: HOSTILE,
        arguments: '\r\n99 x',
      },
      network: { protocol: 'tcp', direction: 'outbound', destination_port: 443 },
      anomaly_score: 0.25,
      ...more,
    }),
  );
  const receivedAtMs = Math.max(console.time.now(), lastReceivedAtMs + 1);
  lastReceivedAtMs = receivedAtMs;
  await console.stores.events.sink.append(batch({ sequence, receivedAtMs, events }));
  return events.map(({ event_id: id }) => id);
}

const seen: (read: (one: Received) => readonly SeenEvent[]) => readonly string[] = (read) =>
  receiver.received.flatMap((one) => read(one).map(({ event_id: id }) => id));

/** Waits for requests until every id was seen. */
async function until(ids: readonly string[], read: (one: Received) => readonly SeenEvent[]) {
  for (let count = 1; ; count += 1) {
    await receiver.has(count);
    const found = new Set(seen(read));
    if (ids.every((id) => found.has(id))) return seen(read);
  }
}

describe('forwarding to a SIEM', () => {
  it(
    'should have the form that each maker documents, and bring every event once, in order',
    async () => {
      const observed = { target_url: receiver.url('/v1/http/fleet?env=test'), token: TOKEN };
      const kinds: readonly [SiemKindName, object, (one: Received) => readonly SeenEvent[]][] = [
        ['observe', observed, (one) => readObserve(one, TOKEN)],
        ['huntress', { token: TOKEN }, (one) => readHuntress(one, TOKEN)],
        [
          'sumologic',
          { target_url: receiver.url('/receiver/v1/http/ZaVnC4dhaV1==') },
          (one) => readSumo(one, '/receiver/v1/http/ZaVnC4dhaV1=='),
        ],
        ['otlp', { token: `Bearer ${TOKEN}` }, readOtlp],
      ];
      for (const [kind, more, read] of kinds) {
        const id = await add(kind, more as Record<string, unknown>);
        const ids = [...(await store(3)), ...(await store(2))];
        const found = await until(ids, read);
        expect([...found].sort()).toEqual([...ids].sort());
        // Batches stay in the order of receipt.
        expect(new Set(found.slice(0, 3))).toEqual(new Set(ids.slice(0, 3)));
        const shown = (await call('GET', `/siem-destinations/${id}`)).body;
        expect(JSON.stringify(shown)).not.toContain(TOKEN);
        expect(JSON.stringify(shown)).not.toContain('ZaVnC4dhaV1');
        // All of it is there, so what lags is less than the test has lasted.
        expect(shown['lag_seconds']).toEqual(expect.any(Number));
        expect(Number(shown['lag_seconds'])).toBeLessThan(LONG_MS / 1_000);
        await call('DELETE', `/siem-destinations/${id}`);
        receiver.received.length = 0;
      }
      const audited = JSON.stringify(await console.audited());
      expect(audited).not.toContain(TOKEN);
      expect(audited).not.toContain('ZaVnC4dhaV1');
    },
    LONG_MS,
  );

  it(
    'should frame syslog by octets, so that no text ends a frame, and count only what was taken whole',
    async () => {
      syslog.behave('reset');
      await add('syslog');
      const ids = await store(3, { severity: 'critical', message: 'x'.repeat(2_000) });
      await syslog.until(() => syslog.resets() > 0);
      syslog.behave('take');
      await syslog.until(() => syslog.whole.length > 0);
      const messages = syslog.whole.flatMap((one) => readSyslog(one));
      expect(new Set(messages.map((one) => one.event.event_id))).toEqual(new Set(ids));
      expect(messages[0]).toMatchObject({ priority: 16 * 8 + 2, app: 'fleet-runtime-security' });
      expect(messages[0]?.params.get('event_id')).toBe(messages[0]?.event.event_id);
    },
    LONG_MS,
  );

  it(
    'should send only what its filter wants, from the instant that was given',
    async () => {
      const fromMs = console.time.now();
      const old = await store(2, { severity: 'high' });
      const token = TOKEN;
      const target_url = receiver.url('/v1/http/x');
      const start_at = new Date(fromMs).toISOString();
      await add('observe', { token, target_url, filter: 'severity:high', start_at });
      await store(2, { severity: 'low' });
      const wanted = await store(2, { severity: 'high' });
      const found = await until(wanted, (one) => readObserve(one, TOKEN));
      expect(new Set(found)).toEqual(new Set([...old, ...wanted]));
    },
    LONG_MS,
  );

  it(
    'should wait as the receiver wants, make batches smaller that it finds too big, and lose nothing',
    async () => {
      const sizes: number[] = [];
      const read = (one: Received) => readObserve(one, TOKEN);
      let isBusy = true;
      receiver.answerWith((request) => {
        const count = read(request).length;
        sizes.push(count);
        if (isBusy) {
          isBusy = false;
          return { status: 429, headers: { 'retry-after': '1' } };
        }
        return { status: count > 2 ? 413 : 200 };
      });
      await add('observe', { token: TOKEN, target_url: receiver.url('/v1/http/x') });
      const ids = await store(8);
      const taken = new Set<string>();
      while (!ids.every((id) => taken.has(id))) {
        await receiver.has(receiver.received.length + 1);
        for (const one of receiver.received) {
          const events = read(one);
          if (events.length <= 2) for (const { event_id: id } of events) taken.add(id);
        }
      }
      expect(sizes.slice(0, 4)).toEqual([8, 8, 4, 2]);
    },
    LONG_MS,
  );

  it(
    'should stop where it is not let in, tell people, and go on where it stood when it is resumed',
    async () => {
      receiver.answerWith({ status: 401, body: 'secret words of the receiver' });
      const id = await add('huntress', { token: TOKEN });
      const hook = await call('POST', '/webhooks', {
        ...{ webhook_type: 'generic', name: 'people', target_url: receiver.url('/people') },
        options: { ca_pem: receiver.caPem, alert_kinds: ['destination_failing'] },
      });
      expect(hook.status).toBe(201);
      const ids = await store(2);
      const isTold = (one: Received) => one.path === '/people';
      while (!receiver.received.some(isTold)) await receiver.has(receiver.received.length + 1);
      const told = JSON.parse(receiver.received.find(isTold)?.body.toString() ?? '{}') as object;
      expect(told).toMatchObject({ alert_kind: 'destination_failing', severity: 'critical' });
      const stopped = (await call('GET', `/siem-destinations/${id}`)).body;
      expect(stopped).toMatchObject({ state: 'stopped', sent_events: 0 });
      expect(JSON.stringify(stopped)).not.toContain('secret words');
      receiver.answerWith({ status: 200 });
      receiver.received.length = 0;
      await call('POST', `/siem-destinations/${id}/resume`, {});
      const read = (one: Received) => (isTold(one) ? [] : readHuntress(one, TOKEN));
      expect(new Set(await until(ids, read))).toEqual(new Set(ids));
      const alerts = async () => (await call('GET', '/alerts?limit=200')).body as unknown as Alerts;
      const statesOf = async () =>
        (await alerts()).items.flatMap((one) => (one.rule_id === id ? [one.state] : []));
      await expect.poll(statesOf, { timeout: 10_000 }).toEqual(['resolved']);
      const { webhook } = hook.body as { webhook: { webhook_id: string } };
      await call('DELETE', `/webhooks/${webhook.webhook_id}`);
    },
    LONG_MS,
  );

  it('should test a destination without moving it, through a proxy as well', async () => {
    const proxy = await openConnectProxy();
    try {
      for (const kind of ['otlp', 'syslog'] as const) {
        const id = await add(kind, { options: { proxy_url: proxy.url } });
        const tested = await call('POST', `/siem-destinations/${id}/test`, {});
        expect(tested.body).toMatchObject({ is_accepted: true });
        const shown = await call('GET', `/siem-destinations/${id}`);
        expect(shown.body).toMatchObject({ sent_events: 0, state: 'forwarding' });
      }
      expect(proxy.asked).toEqual([`127.0.0.1:${receiver.port}`, `127.0.0.1:${syslog.port}`]);
    } finally {
      await proxy.close();
    }
  });

  it('should give a name once, change only what was seen, and have an end to how many', async () => {
    const id = await add('otlp', { name: 'one' });
    const again = { kind: 'otlp', name: 'one', target_url: 'https://siem.example.org/' };
    expect(await call('POST', '/siem-destinations', again)).toMatchObject({
      ...{ status: 409, body: { code: 'siem_destination_conflict' } },
    });
    const path = `/siem-destinations/${id}`;
    const change = { revision: 1, filter: 'severity:high', token: 'Bearer other' };
    expect(await call('PATCH', path, change)).toMatchObject({
      ...{ status: 200, body: { filter: 'severity:high', has_token: true, revision: 2 } },
    });
    expect(await call('PATCH', path, change)).toMatchObject({ status: 409 });
    for (let count = 1; count < SIEM_DESTINATIONS_MAX; count += 1) {
      await add('otlp', { name: `number ${count}` });
    }
    expect(await call('POST', '/siem-destinations', { ...again, name: 'more' })).toMatchObject({
      ...{ status: 409, body: { code: 'siem_destinations_full' } },
    });
    expect(await call('DELETE', path)).toMatchObject({ status: 204 });
    expect(await call('DELETE', path)).toMatchObject({ status: 404 });
    expect(await call('PATCH', path, change)).toMatchObject({ status: 404 });
  });

  it.each([
    ['observe', 'https://169.254.169.254/', { token: TOKEN }, '/target_url'],
    ['observe', 'http://siem.example.org/', { token: TOKEN }, '/target_url'],
    ['observe', 'https://siem.example.org/', {}, '/token'],
    ['huntress', 'https://10.0.0.1/', { token: TOKEN }, '/target_url'],
    ['huntress', 'https://siem.example.org/', { token: 'a\r\nb' }, '/token'],
    ['sumologic', 'https://[::ffff:10.0.0.1]/x', {}, '/target_url'],
    ['otlp', 'https://0x7f.2/', {}, '/target_url'],
    ['syslog', 'tls://10.0.0.1:6514', {}, '/target_url'],
    ['syslog', 'tls://0x0a.1', {}, '/target_url'],
    ['syslog', 'tls://[fd00::1]:6514', {}, '/target_url'],
    ['syslog', 'https://siem.example.org/', {}, '/target_url'],
    ['syslog', 'tls://siem.example.org', { token: TOKEN }, '/token'],
    ['otlp', 'https://siem.example.org/', { filter: 'severity:(' }, '/filter'],
    ['otlp', 'https://siem.example.org/', { start_at: 'now+1h' }, '/start_at'],
    ['splunk', 'https://siem.example.org/', {}, '/kind'],
  ])('should refuse %s at %s', async (kind, target_url, more, pointer) => {
    const made = await call('POST', '/siem-destinations', { kind, name: 'a', target_url, ...more });
    expect(made).toMatchObject({ status: 422, body: { code: 'siem_destination_refused' } });
    const { errors } = made.body as { errors: readonly { pointer: string }[] };
    expect(errors[0]?.pointer).toBe(pointer);
  });
});
