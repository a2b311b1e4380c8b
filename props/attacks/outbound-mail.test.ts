// Attack 29 against mail: SMTP goes through the one way out, too. Nothing inside is reached, nothing is said in the clear, a
// password is told to nobody whose certificate its CA did not sign, and what came of a mail is told as it was.
// decision: D159, D166; invariant: I11
import PostalMime from 'postal-mime';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type MailRequest, outboundMail } from '../../actors/outbound/outbound-mail.ts';
import { openConnectProxy } from '../peers/connect-proxy.ts';
import {
  MAIL_PASSWORD,
  MAIL_USER,
  type MailReceiver,
  openMailReceiver,
} from '../peers/mail-receiver.ts';

const INSIDE = ['127.0.0.1', '::1', '10.1.2.3', '169.254.169.254', 'fd00::1', 'localhost'] as const;
const SECURITIES = ['tls', 'starttls'] as const;
const TIMEOUT_MS = 5_000;
let receivers: Readonly<Record<(typeof SECURITIES)[number], MailReceiver>>;
let open: MailReceiver;
let proxy: Awaited<ReturnType<typeof openConnectProxy>>;
beforeAll(async () => {
  receivers = { tls: await openMailReceiver('tls'), starttls: await openMailReceiver('starttls') };
  open = await openMailReceiver('tls', false);
  proxy = await openConnectProxy();
});
afterAll(async () => {
  for (const one of [receivers.tls, receivers.starttls, open]) await one.close();
  await proxy.close();
});
afterEach(() => {
  for (const one of [receivers.tls, receivers.starttls, open]) {
    one.behave('take');
    one.received.length = 0;
    one.sessions.length = 0;
  }
});

const { signal } = new AbortController();
const send = (security: 'tls' | 'starttls', more: Partial<MailRequest> = {}) =>
  outboundMail({
    ...{ host: '127.0.0.1', port: receivers[security].port, security },
    login: { username: MAIL_USER, password: MAIL_PASSWORD },
    ...{ sender: 'console@example.org', recipients: ['ada@example.org', 'bob@example.org'] },
    ...{ messageId: '<digest.d.2026-11-26@example.org>', atMs: Date.UTC(2026, 10, 26) },
    ...{ subject: 'Fleet digest', text: 'text ä\n', html: '<p>html ä</p>\n' },
    ...{ caPem: receivers[security].caPem, proxyUrl: null, allowList: ['127.0.0.1'] },
    ...{ timeoutMs: TIMEOUT_MS, signal, ...more },
  });

describe.each(SECURITIES)('mail by %s', (security) => {
  it('should arrive whole, in TLS, to everybody, from who we are', async () => {
    expect(await send(security)).toEqual({ kind: 'taken', note: null });
    const [mail] = receivers[security].received;
    expect(mail).toMatchObject({
      ...{ isSecure: true, user: MAIL_USER, from: 'console@example.org' },
      to: ['ada@example.org', 'bob@example.org'],
    });
    const read = await PostalMime.parse(mail?.raw ?? '');
    expect(read).toMatchObject({
      ...{ subject: 'Fleet digest', messageId: '<digest.d.2026-11-26@example.org>' },
      ...{ text: expect.stringMatching(/^text ä\s*$/), attachments: [] },
      html: expect.stringMatching(/^<p>html ä<\/p>\s*$/),
      from: { address: 'console@example.org' },
    });
  });

  it.each(INSIDE)('should not reach %s, nor a proxy there', async (host) => {
    const refused = { kind: 'failed', isFinal: false };
    expect(await send(security, { host, allowList: [] })).toMatchObject(refused);
    const at = host.includes(':') ? `[${host}]` : host;
    const proxyUrl = `http://${at}:${new URL(proxy.url).port}`;
    const through = { host: 'mail.example.org', proxyUrl, allowList: [] };
    expect(await send(security, through)).toMatchObject(refused);
    expect(receivers[security].sessions).toEqual([]);
    expect(proxy.asked).toEqual([]);
  });

  it('should go through a proxy that is allowed', async () => {
    expect(await send(security, { proxyUrl: proxy.url })).toMatchObject({ kind: 'taken' });
    expect(proxy.asked).toEqual([`127.0.0.1:${receivers[security].port}`]);
    proxy.asked.length = 0;
  });

  it('should tell nothing to who is not signed by its CA, nor without TLS', async () => {
    const other = receivers[security === 'tls' ? 'starttls' : 'tls'];
    expect(await send(security, { caPem: other.caPem })).toMatchObject({
      ...{ kind: 'failed', isFinal: false },
    });
    // Each in the way of the other: no word comes through, and it ends.
    const crossed = { port: other.port, caPem: other.caPem, timeoutMs: 500 };
    expect(await send(security, crossed)).toMatchObject({ kind: 'failed', isFinal: false });
    expect([...receivers[security].received, ...other.received]).toEqual([]);
  });

  it('should be taken by those who take it, and name those who do not', async () => {
    receivers[security].behave('take', 'bob@example.org');
    expect(await send(security)).toEqual({
      ...{ kind: 'taken', note: 'The server refused bob@example.org.' },
    });
    expect(receivers[security].received[0]?.to).toEqual(['ada@example.org']);
  });

  it('should be told as refused for good, for now, and as perhaps arrived', async () => {
    const wrong = { login: { username: MAIL_USER, password: 'wrong' } };
    expect(await send(security, wrong)).toMatchObject({ kind: 'failed', isFinal: true });
    receivers[security].behave('refuse');
    expect(await send(security)).toMatchObject({ kind: 'failed', isFinal: true });
    receivers[security].behave('later');
    expect(await send(security)).toMatchObject({ kind: 'failed', isFinal: false });
    receivers[security].behave('silence');
    expect(await send(security, { timeoutMs: 500 })).toMatchObject({ kind: 'unsure' });
  });
});

describe('mail', () => {
  it('should be sent without a user where there is none, and not to who does not ask for ours', async () => {
    const at = { port: open.port, caPem: open.caPem };
    expect(await send('tls', { ...at, login: null })).toMatchObject({ kind: 'taken' });
    expect(open.received[0]?.user).toBeNull();
    expect(await send('tls', at)).toMatchObject({ kind: 'failed' });
    expect(open.received).toHaveLength(1);
  });

  it('should end when it is told to', async () => {
    const gone = { signal: AbortSignal.abort(new Error('told to end')) };
    expect(await send('tls', gone)).toMatchObject({ kind: 'failed', isFinal: false });
    expect(receivers.tls.received).toEqual([]);
  });
});
