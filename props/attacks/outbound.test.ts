// Attack 29 against the one guard that everything which leaves the Console goes through: webhooks, SIEMs over HTTPS and over a
// connection, what stands behind a proxy, and identity providers. Whatever is asked, nothing inside is reached, no redirect is
// followed, and an answer has an end. decision: D40, D150
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createGuardedFetch } from '../../actors/outbound/guarded-fetch.ts';
import { createOutboundPost } from '../../actors/outbound/outbound-post.ts';
import { outboundStream } from '../../actors/outbound/outbound-stream.ts';
import { openConnectProxy } from '../peers/connect-proxy.ts';
import { openSyslogReceiver } from '../peers/syslog-receiver.ts';
import { openWebhookReceiver, type WebhookReceiver } from '../peers/webhook-receiver.ts';

const INSIDE = [
  '127.0.0.1',
  '[::1]',
  '[::ffff:10.0.0.1]',
  '0x7f.1',
  '2130706433',
  '169.254.169.254',
  '10.1.2.3',
  '100.64.0.1',
  '[fd00::1]',
  '0.0.0.0',
  'localhost',
] as const;
/** What even an identity provider on premises, or an allow-list, never opens. */
const NEVER = [
  '169.254.169.254',
  '[::ffff:169.254.169.254]',
  '100.100.100.200',
  '[fe80::1]',
] as const;

let receiver: WebhookReceiver;
let syslog: Awaited<ReturnType<typeof openSyslogReceiver>>;
let proxy: Awaited<ReturnType<typeof openConnectProxy>>;
beforeAll(async () => {
  receiver = await openWebhookReceiver();
  syslog = await openSyslogReceiver();
  proxy = await openConnectProxy();
});
afterAll(async () => {
  await receiver.close();
  await syslog.close();
  await proxy.close();
});
afterEach(() => {
  receiver.answerWith({ status: 204 });
  receiver.received.length = 0;
});

const outboundPost = createOutboundPost();
const { signal } = new AbortController();
const post = (host: string, more: Partial<Parameters<typeof outboundPost>[0]> = {}) =>
  outboundPost({
    ...{ url: `https://${host}:${receiver.port}/hook`, headers: {}, body: Buffer.from('{}') },
    ...{ caPem: receiver.caPem, allowList: [], proxyUrl: null, signal, ...more },
  });
const stream = (host: string, more: Partial<Parameters<typeof outboundStream>[0]> = {}) =>
  outboundStream({
    ...{ host: host.replace(/^\[|\]$/g, ''), port: syslog.port, body: Buffer.from('1 x') },
    ...{ caPem: syslog.caPem, allowList: [], proxyUrl: null, timeoutMs: 5_000, signal, ...more },
  });
const refused = { name: 'DestinationUnreachable', reason: 'address_refused' };

describe('attack 29: the one way out', () => {
  it.each(INSIDE)(
    'should not reach %s by a request, over a connection, nor as a proxy',
    async (host) => {
      await expect(post(host)).rejects.toMatchObject(refused);
      await expect(stream(host)).rejects.toMatchObject(refused);
      const proxyUrl = `http://${host}:${new URL(proxy.url).port}`;
      await expect(post('hooks.example.org', { proxyUrl })).rejects.toMatchObject(refused);
      await expect(stream('logs.example.org', { proxyUrl })).rejects.toMatchObject(refused);
      expect(receiver.received).toEqual([]);
      expect(syslog.whole).toEqual([]);
      expect(proxy.asked).toEqual([]);
    },
  );

  it.each(NEVER)(
    'should not reach %s whatever is allowed, nor have a provider there',
    async (host) => {
      const allowList = ['0.0.0.0/0', '::/0', '169.254.0.0/16', host.replace(/^\[|\]$/g, '')];
      await expect(post(host, { allowList })).rejects.toMatchObject(refused);
      await expect(stream(host, { allowList })).rejects.toMatchObject(refused);
      // As an identity provider is asked, where private addresses are ordinary.
      const ask = createGuardedFetch({
        ...{ mayBePrivate: true, caPem: null },
        ...{ timeoutMs: 1_000, answerMaxBytes: 1_000 },
      });
      await expect(ask(`https://${host}/`, { method: 'GET', headers: {} })).rejects.toMatchObject(
        refused,
      );
    },
  );

  it('should judge a literal address behind a proxy, too', async () => {
    const allowList = ['127.0.0.1'];
    await expect(post('10.1.2.3', { proxyUrl: proxy.url, allowList })).rejects.toMatchObject(
      refused,
    );
    expect(proxy.asked).toEqual([]);
    expect(await post('127.0.0.1', { proxyUrl: proxy.url, allowList })).toMatchObject({
      status: 204,
    });
    expect(proxy.asked).toHaveLength(1);
  });

  it('should follow no redirect, and show where it led as an answer alone', async () => {
    receiver.answerWith({ status: 302, headers: { location: receiver.url('/inside') } });
    expect(await post('127.0.0.1', { allowList: ['127.0.0.1'] })).toMatchObject({ status: 302 });
    expect(receiver.received).toHaveLength(1);
  });

  it('should end with an answer that has no end, and with a receiver that says nothing', async () => {
    const allowList = ['127.0.0.1'];
    receiver.answerWith('without end');
    await expect(post('127.0.0.1', { allowList })).rejects.toMatchObject({
      reason: 'answer_too_big',
    });
    receiver.answerWith('nothing');
    await expect(post('127.0.0.1', { allowList, timeoutMs: 300 })).rejects.toMatchObject({
      reason: 'timed_out',
    });
  });

  it('should keep a connection for what was judged the same, and for nothing else', async () => {
    const allowList = ['127.0.0.1'];
    const fresh = createOutboundPost();
    const send = (more: object) =>
      fresh({
        ...{ url: receiver.url(), headers: {}, body: Buffer.from('{}'), caPem: receiver.caPem },
        ...{ proxyUrl: null, signal, allowList, ...more },
      });
    const before = receiver.connections();
    for (let at = 0; at < 3; at += 1) expect(await send({})).toMatchObject({ status: 204 });
    expect(receiver.connections() - before).toBe(1);
    // Another CA, and no list that allows it: neither goes out on the connection that stands.
    await expect(send({ caPem: syslog.caPem })).rejects.toMatchObject({ reason: 'unreachable' });
    await expect(send({ allowList: [] })).rejects.toMatchObject(refused);
    const name = { url: `https://localhost:${receiver.port}/hook`, allowList: ['localhost'] };
    await expect(send(name)).rejects.toMatchObject(refused);
    expect(await send({ allowList: ['127.0.0.0/8'] })).toMatchObject({ status: 204 });
    expect(receiver.connections() - before).toBe(2);
    expect(receiver.received).toHaveLength(4);
  });

  it('should not fail for a connection that the other side has closed meanwhile', async () => {
    const allowList = ['127.0.0.1'];
    for (let at = 0; at < 5; at += 1) {
      expect(await post('127.0.0.1', { allowList })).toMatchObject({ status: 204 });
      await receiver.leave();
      await receiver.comeBack();
    }
  });

  it('should speak to nobody whose certificate its CA did not sign', async () => {
    const allowList = ['127.0.0.1'];
    await expect(post('127.0.0.1', { allowList, caPem: syslog.caPem })).rejects.toMatchObject({
      reason: 'unreachable',
    });
    await expect(stream('127.0.0.1', { allowList, caPem: receiver.caPem })).rejects.toMatchObject({
      reason: 'unreachable',
    });
    await stream('127.0.0.1', { allowList });
    expect(syslog.whole.map(String)).toEqual(['1 x']);
  });
});
