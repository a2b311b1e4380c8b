// Attack 29: a webhook as a way into what the Console can reach and others cannot, and what its receivers may do to it. The
// address is judged when it connects, nothing follows a redirect, an answer is bounded and nobody is shown more of it than
// its status. What leaves is signed over the bytes that leave. decision: D40, D101, D104; invariant: I11
import { createHmac } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { WEBHOOK_TYPES } from '../../machines/console/delivery/formats/formats.ts';
import { WEBHOOK_RULES_MAX } from '../../machines/limits.ts';
import { openConnectProxy } from '../peers/connect-proxy.ts';
import { openWebhookReceiver, type WebhookReceiver } from '../peers/webhook-receiver.ts';
import { type ConsoleUnderTest, removeSharedKeys, startConsole } from './console.fixture.ts';

/** What is read of answers here. */
type Answered = {
  readonly [name: string]: unknown;
  readonly webhook: { readonly webhook_id: string };
  readonly errors: readonly { readonly pointer: string; readonly detail: string }[];
  readonly items: readonly {
    readonly delivery_id: string;
    readonly state: string;
    readonly attempts: number;
  }[];
  readonly tried: readonly object[];
};
/** The one at a place; there is one. */
function the<T>(list: readonly T[], at: number): T {
  const one = list[at];
  if (one === undefined) throw new Error(`there is no ${at}`);
  return one;
}

let receiver: WebhookReceiver;
let console: ConsoleUnderTest;
let admin = '';
let silent: WebhookReceiver;
/** What the Console says of a receiver that never answers; it waits while others are tried. */
let patient: ReturnType<typeof call>;

beforeAll(async () => {
  receiver = await openWebhookReceiver();
  silent = await openWebhookReceiver();
  silent.answerWith('nothing');
  console = await startConsole();
  admin = (await console.newKey(['admin'])).secret;
  await own();
  const at = { target_url: silent.url(), options: { ca_pem: silent.caPem } };
  patient = test((await add(at)).id);
  await silent.has(1);
  await allow([]);
});
afterAll(async () => {
  await console.stop();
  await Promise.all([receiver.close(), silent.close()]);
  await removeSharedKeys();
});
afterEach(async () => {
  receiver.answerWith({ status: 204 });
  receiver.received.length = 0;
  await allow([]);
  for (const { webhookId } of await console.stores.relational.webhooks.list()) {
    await call('DELETE', `/webhooks/${webhookId}`);
  }
});

async function call(method: string, path: string, body?: unknown, secret = admin) {
  const headers = { authorization: `Bearer ${secret}` };
  const answer = await console.ask(null, `/api/v2${path}`, body, { method, headers });
  return {
    status: answer.status,
    body: answer.body as Answered,
  };
}

async function allow(entries: readonly string[]): Promise<void> {
  const { revision } = the(
    console.settings.view().filter(({ name }) => name === 'webhook_allow_list'),
    0,
  );
  const changed = await console.settings.change({
    ...{ actor: 'test', values: { webhook_allow_list: entries } },
    revisions: { webhook_allow_list: revision },
  });
  expect(changed).toEqual({ ok: true });
}

/** A webhook as an admin adds it; its id and the secret that was made. */
async function add(more: Record<string, unknown> = {}) {
  const { options, ...rest } = more as { options?: object };
  const made = await call('POST', '/webhooks', {
    ...{ webhook_type: 'generic', name: 'hook', target_url: receiver.url() },
    ...rest,
    options: { ca_pem: receiver.caPem, ...options },
  });
  expect(made).toMatchObject({ status: 201 });
  return { id: String(made.body.webhook.webhook_id), secret: made.body['signing_secret'] };
}
const test = (id: string) => call('POST', `/webhooks/${id}/test`, {});
const own = () => allow(['127.0.0.1', '::1']);

describe('attack 29: where a webhook may lead', () => {
  it.each([
    'https://127.0.0.1/',
    'https://[::1]/',
    'https://[::ffff:10.0.0.1]/',
    'https://0x7f.1/',
    'https://2130706433/',
    'https://169.254.169.254/latest/meta-data/',
    'https://10.1.2.3/',
    'https://100.64.0.1/',
    'https://[fd00::1]/',
    'https://0.0.0.0/',
    'http://hooks.example.org/',
    'file:///etc/passwd',
    'https://user:secret@hooks.example.org/',
    'https://hooks.example.org/#fragment',
    'nonsense',
  ])('should refuse %s when it is set up', async (target_url) => {
    const made = await call('POST', '/webhooks', {
      webhook_type: 'generic',
      name: 'a',
      target_url,
    });
    expect(made).toMatchObject({ status: 422, body: { code: 'webhook_refused' } });
    expect(made.body.errors[0]?.pointer).toBe('/target_url');
  });

  it('should refuse a name that leads inside when it connects, and send nothing', async () => {
    // A name is judged by what it resolves to at that moment, whatever it did when it was stored.
    const target_url = `https://localhost:${receiver.port}/hook`;
    const { id } = await add({ target_url });
    const tested = await test(id);
    expect(tested.body).toMatchObject({ is_delivered: false, outcome: 'address_refused' });
    expect(receiver.received).toEqual([]);
  });

  it('should never reach what an allow-list cannot open', async () => {
    await allow(['169.254.0.0/16']);
    const made = await call('POST', '/webhooks', {
      ...{ webhook_type: 'generic', name: 'a', target_url: 'https://169.254.169.254/' },
    });
    expect(made).toMatchObject({ status: 422 });
  });

  it('should go through a proxy, with the receiver verified as without one', async () => {
    const proxy = await openConnectProxy();
    try {
      await own();
      const { id } = await add({ options: { proxy_url: proxy.url } });
      expect((await test(id)).body).toMatchObject({ is_delivered: true, status: 204 });
      expect(proxy.asked).toEqual([`127.0.0.1:${receiver.port}`]);
      proxy.answerWith(407);
      expect((await test(id)).body).toMatchObject({ is_delivered: false, outcome: 'unreachable' });
      proxy.answerWith(200);
      const { caPem: other } = await (async () => {
        const stranger = await openWebhookReceiver();
        await stranger.close();
        return stranger;
      })();
      const wrong = await add({ options: { proxy_url: proxy.url, ca_pem: other } });
      expect((await test(wrong.id)).body).toMatchObject({ is_delivered: false });
      expect(receiver.received).toHaveLength(1);
    } finally {
      await proxy.close();
    }
  });

  it.each([
    'http://127.0.0.1:3128/',
    'http://169.254.169.254/',
    'http://0x7f.1/',
    'socks5://proxy.example.org/',
    'http://user:secret@proxy.example.org/',
    'http://proxy.example.org/path',
    'nonsense',
  ])('should refuse the proxy %s', async (proxy_url) => {
    const made = await call('POST', '/webhooks', {
      ...{ webhook_type: 'generic', name: 'a', target_url: 'https://hooks.example.org/' },
      options: { proxy_url },
    });
    expect(made).toMatchObject({ status: 422 });
    expect(made.body.errors[0]?.pointer).toBe('/options/proxy_url');
  });

  it('should judge where a proxy is when it connects, and tell it nothing', async () => {
    const proxy = await openConnectProxy();
    try {
      await allow([]);
      const proxy_url = proxy.url.replace('127.0.0.1', 'localhost');
      const target_url = 'https://hooks.example.org/';
      const { id } = await add({ target_url, options: { proxy_url } });
      expect((await test(id)).body).toMatchObject({ outcome: 'address_refused' });
      expect(proxy.asked).toEqual([]);
    } finally {
      await proxy.close();
    }
  });

  it('should follow no redirect', async () => {
    await own();
    const { id } = await add();
    const location = receiver.url('/other');
    receiver.answerWith({ status: 302, headers: { location }, body: 'secret of the inside' });
    const tested = await test(id);
    expect(tested.body).toMatchObject({ is_delivered: false, status: 302 });
    expect(receiver.received.map(({ path }) => path)).toEqual(['/hook']);
    expect(JSON.stringify(tested.body)).not.toContain('secret of the inside');
  });

  it('should end with an answer that has no end, and keep nothing of it', async () => {
    await own();
    const { id } = await add();
    receiver.answerWith('without end');
    expect((await test(id)).body).toMatchObject({ is_delivered: false, outcome: 'answer_too_big' });
  });

  it('should wait ten seconds for an answer and no longer', async () => {
    const { body } = await patient;
    expect(body).toMatchObject({ is_delivered: false, outcome: 'timed_out' });
    expect(body['duration_ms']).toBeGreaterThanOrEqual(9_900);
  });

  it('should trust the CA of the destination alone', async () => {
    await own();
    const { id } = await add({ options: { ca_pem: null } });
    expect((await test(id)).body).toMatchObject({ is_delivered: false, outcome: 'unreachable' });
  });

  it.each([
    'sixteen-chars-or-more\r\nx-evil: 1',
    'sixteen chars or more',
    'sixteen-chars-"quoted"',
    'short',
  ])('should refuse a secret that could leave its header: %j', async (signing_secret) => {
    for (const webhook_type of ['generic', 'opsgenie']) {
      if (webhook_type === 'opsgenie' && signing_secret === 'short') continue;
      const target_url = 'https://hooks.example.org/';
      const made = await call('POST', '/webhooks', {
        ...{ webhook_type, name: 'a', target_url, signing_secret },
      });
      expect(made).toMatchObject({ status: 422, body: { code: 'webhook_refused' } });
    }
  });

  it('should refuse unsupported types with the list of those there are', async () => {
    const target_url = 'https://hooks.example.org/';
    for (const webhook_type of ['email', 'constructor', 'observe']) {
      const made = await call('POST', '/webhooks', { webhook_type, name: 'a', target_url });
      expect(made).toMatchObject({ status: 422, body: { code: 'webhook_refused' } });
      expect(made.body.errors[0]?.detail).toContain(
        'generic, slack, discord, teams, pagerduty, opsgenie, thehive',
      );
    }
  });
});

describe('attack 29: what leaves the Console', () => {
  const signed = (secret: string, body: Buffer) =>
    `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;

  it('should sign the bytes that leave, with a secret that is told once', async () => {
    await own();
    const { id, secret } = await add();
    expect((await test(id)).body).toMatchObject({ is_delivered: true, status: 204 });
    const { method, headers, body } = the([...receiver.received], 0);
    expect([method, headers['content-type']]).toEqual(['POST', 'application/json']);
    expect(headers['x-service-signature']).toBe(signed(String(secret), body));
    expect(JSON.parse(body.toString())).toEqual({
      ...{ version: '1', alert_kind: 'test_delivery', severity: 'info', trust_health: 'healthy' },
      ...{ sensor_id: expect.any(String), node_name: expect.any(String) },
      ...{ headline: expect.any(String), detail: expect.any(String), source: 'v2_api_test' },
      ...{ occurred_at: expect.any(String), delivered_at: expect.any(String) },
      ...{ is_contained: false, alert_inbox_url: '' },
    });
    for (const path of ['/webhooks', `/webhooks/${id}`, '/deliveries', '/audit?limit=50']) {
      expect(JSON.stringify((await call('GET', path)).body)).not.toContain(String(secret));
    }
    const row = await console.stores.relational.webhooks.get(id);
    expect(row?.secretSealed).not.toContain(String(secret));
  });

  it('should sign by both secrets while they overlap, and by the new one alone afterwards', async () => {
    await own();
    const { id, secret } = await add();
    const rotated = await call('POST', `/webhooks/${id}/rotate-secret`, { overlap_hours: 1 });
    const next = String(rotated.body['signing_secret']);
    expect(rotated.body['webhook']).toMatchObject({ is_rotating: true });
    await test(id);
    const both = the([...receiver.received], 0);
    expect(both.headers['x-service-signature']).toBe(signed(String(secret), both.body));
    expect(both.headers['x-service-signature-next']).toBe(signed(next, both.body));
    await call('POST', `/webhooks/${id}/rotate-secret`, { overlap_hours: 0 });
    await test(id);
    const after = the([...receiver.received], 1);
    expect(after.headers['x-service-signature']).toBe(signed(next, after.body));
    expect(after.headers['x-service-signature-next']).toBeUndefined();
  });

  it('should send what each type documents when it is tested, and nothing that is not JSON', async () => {
    await own();
    const keyed = new Set<string>(['pagerduty', 'opsgenie', 'thehive']);
    for (const webhook_type of WEBHOOK_TYPES) {
      const key = keyed.has(webhook_type) ? { signing_secret: 'key-of-the-receiver' } : {};
      const { id } = await add({ webhook_type, ...key });
      await test(id);
      const { headers, body } = the(receiver.received.slice(-1), 0);
      expect(headers['content-type'], webhook_type).toMatch(/^application\/json/);
      expect(headers['x-service-delivery']).toEqual(expect.any(String));
      expect(Object.keys(JSON.parse(body.toString())).length).toBeGreaterThan(0);
    }
  });

  it('should keep the rules whose alerts it wants, and refuse more than it may name', async () => {
    await own();
    const { id } = await add({ options: { rule_ids: ['odd-program'] } });
    const { body } = await call('GET', `/webhooks/${id}`);
    expect(body['options']).toMatchObject({ rule_ids: ['odd-program'], group_ids: [] });
    const rule_ids = Array.from({ length: WEBHOOK_RULES_MAX + 1 }, (_, at) => `rule-${at}`);
    expect((await call('PATCH', `/webhooks/${id}`, { options: { rule_ids } })).status).toBe(422);
  });

  it('should give other types their key where they want it, and no signature', async () => {
    await own();
    const signing_secret = 'key-of-the-receiver';
    for (const [webhook_type, authorization] of [
      ['opsgenie', `GenieKey ${signing_secret}`],
      ['thehive', `Bearer ${signing_secret}`],
      ['pagerduty', undefined],
    ] as const) {
      const { id } = await add({ webhook_type, signing_secret });
      await test(id);
      const { headers, path, body } = the(receiver.received.slice(-1), 0);
      expect(headers['x-service-signature']).toBeUndefined();
      expect(headers['authorization']).toBe(authorization);
      expect(path).toBe(webhook_type === 'thehive' ? '/hook/api/v1/alert' : '/hook');
      if (webhook_type === 'pagerduty') {
        expect(JSON.parse(body.toString())['routing_key']).toBe(signing_secret);
      }
    }
  });

  it('should tell who may only read neither the path of an address nor what was answered', async () => {
    await own();
    const { id } = await add({ target_url: receiver.url('/secret-path') });
    receiver.answerWith({ status: 500, body: 'secret of the inside' });
    const { sensorId } = await console.enroll('node-29');
    await console.revoke(sensorId);
    await receiver.has(1);
    const reader = await console.newKey(['webhooks:read']);
    const log = async (secret: string) => {
      for (;;) {
        const { body } = await call('GET', `/deliveries?webhook_id=${id}`, undefined, secret);
        const one = the([...body.items], 0);
        const whole = await call('GET', `/deliveries/${one.delivery_id}`, undefined, secret);
        if (whole.body.tried.length > 0) return JSON.stringify(whole.body);
      }
    };
    expect(await log(admin)).toContain('secret of the inside');
    const read = await log(reader.secret);
    expect(read).not.toContain('secret of the inside');
    expect(read).not.toContain('secret-path');
    const hook = await call('GET', `/webhooks/${id}`, undefined, reader.secret);
    expect(hook.body['target_url']).toBe(`https://127.0.0.1:${receiver.port}/...`);
  });
});

describe('what a Console tells of its sensors', () => {
  it('should deliver a revocation, try again when the receiver fails, and once only when not', async () => {
    await own();
    const { id, secret } = await add();
    const { sensorId } = await console.enroll('node-30');
    let failures = 1;
    receiver.answerWith(() => ({
      status: failures-- > 0 ? 503 : 204,
      headers: { 'retry-after': '0' },
    }));
    await console.revoke(sensorId);
    const [first, second] = await receiver.has(2);
    for (const one of [first, second]) {
      if (one === undefined) throw new Error('nothing came');
      const mac = createHmac('sha256', String(secret)).update(one.body).digest('hex');
      expect(one.headers['x-service-signature']).toBe(`sha256=${mac}`);
      expect(JSON.parse(one.body.toString())).toMatchObject({
        ...{ alert_kind: 'sensor_revoked', severity: 'critical', sensor_id: sensorId },
        ...{ node_name: 'node-30', source: 'trust', trust_health: 'revoked' },
        ...{ os_name: expect.any(String), is_contained: false },
      });
    }
    expect(second?.headers['x-service-delivery']).toBe(first?.headers['x-service-delivery']);
    const state = async () => {
      const { body } = await call('GET', `/deliveries?webhook_id=${id}`);
      return body.items.map((one) => [one.state, one.attempts]);
    };
    while ((await state())[0]?.[0] !== 'delivered');
    expect(await state()).toEqual([['delivered', 2]]);
  });
});
