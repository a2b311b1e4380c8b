// Attack 29, as one table: everything that leaves the Console at an operator's word, tried with every form of an address that
// leads inside. Nothing is connected to, whatever the form; no redirect is followed, a name that changes its answer gains
// nothing, and an answer without end has one. decision: D40, D150, D159
import { Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createProviderClient } from '../../actors/access/sso/provider-client.ts';
import { createS3Store } from '../../actors/exports/s3-store.ts';
import { policyOfList } from '../../actors/outbound/address-rules.ts';
import { judgedLookup } from '../../actors/outbound/judged-lookup.ts';
import { outboundMail } from '../../actors/outbound/outbound-mail.ts';
import { createOutboundPost } from '../../actors/outbound/outbound-post.ts';
import { outboundStream } from '../../actors/outbound/outbound-stream.ts';
import { SSO_PRESETS } from '../../machines/console/access/sso-provider.rules.ts';
import type { SsoProviderRow } from '../../storage/ports/access/sso-store.ts';
import { openConnectProxy } from '../peers/connect-proxy.ts';
import { openStubbornReceiver, STUBBORN } from '../peers/stubborn-receiver.ts';
import { openWebhookReceiver, type WebhookReceiver } from '../peers/webhook-receiver.ts';

const LONG_MS = 120_000;
const TIMEOUT_MS = 1_000;
/** Where it is waited for to the end: some drips of a dripping one. */
const SHORT_TIMEOUT_MS = 300;
/** Forms of addresses of this machine, of private networks, of metadata services, and of what carries one of them inside. */
const INSIDE = [
  ...['127.0.0.1', '127.1', '127.255.255.254', '0x7f.1', '0x7f000001', '2130706433'],
  ...['0177.0.0.1', '017700000001', 'localhost', '0.0.0.0', '0'],
  ...['[::1]', '[::]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[0:0:0:0:0:ffff:127.0.0.1]'],
  ...['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.0.1', '[::ffff:10.0.0.1]'],
  ...['[fc00::1]', '[fd00::1]', '[fec0::1]', '100.64.0.1', '100.127.255.254', '198.18.0.1'],
  ...['169.254.169.254', '169.254.170.2', '[fe80::1]', '[::ffff:169.254.169.254]'],
  ...['[fd00:ec2::254]', '100.100.100.200', '168.63.129.16', '192.0.0.192'],
  ...['224.0.0.1', '255.255.255.255', '[ff02::1]'],
  ...['[::127.0.0.1]', '[::ffff:0:127.0.0.1]', '[64:ff9b::7f00:1]', '[64:ff9b:1::7f00:1]'],
  ...['[2002:7f00:1::]', '[2001:0:7f00:1::]'],
];
/** What a URL reads as one of them. */
const IN_URLS = ['①②⑦.⓪.⓪.①', '127。0。0。1', '%31%32%37.0.0.1', '127.0.0.1.'];

const { signal } = new AbortController();
let witness: WebhookReceiver;
beforeAll(async () => {
  witness = await openWebhookReceiver();
});
afterAll(() => witness.close());
afterEach(() => {
  witness.answerWith({ status: 204 });
  witness.received.length = 0;
});

type Target = {
  readonly host: string;
  readonly port: number;
  readonly caPem: string;
  readonly allowList: readonly string[];
  readonly proxyUrl?: string;
  readonly timeoutMs: number;
};
const post = createOutboundPost();

function providerAt({ host, port, caPem, proxyUrl }: Target): SsoProviderRow {
  const { scopes, groupsClaim } = SSO_PRESETS.google;
  return {
    ...{ providerId: 'p', kind: 'google', name: 'p', issuer: `https://${host}:${port}` },
    ...{ clientId: 'c', clientSecretSealed: '', enabled: true },
    options: {
      ...{ scopes, groupsClaim, groupRoles: {}, defaultRole: null, createsUsers: true },
      ...{ domains: [], linkDomains: [], caPem, proxyUrl: proxyUrl ?? null },
    },
    ...{ createdAtMs: 0, changedAtMs: 0, revision: 1 },
  };
}

function bucketAt({ host, port, caPem, allowList, proxyUrl = '', timeoutMs }: Target) {
  const endpoint = `https://${host}:${port}`;
  const place = { kind: 's3', endpoint, region: 'eu-1', bucket: 'b', accessKeyId: 'k' } as const;
  return createS3Store({
    ...{
      place: { ...place, caPem, proxyUrl: proxyUrl || null },
      allowList,
      secretAccessKey: 's',
      timeoutMs,
    },
  });
}

/** Each way out; rejects, or resolves with what it was told. */
const WAYS: Readonly<Record<string, (to: Target) => Promise<unknown>>> = {
  webhook: ({ host, port, proxyUrl = null, ...how }) =>
    post({
      ...{ url: `https://${host}:${port}/`, headers: {}, body: Buffer.from('{}') },
      ...{ ...how, proxyUrl, signal },
    }),
  'SIEM by requests': ({ host, port, proxyUrl = null, ...how }) =>
    post({
      ...{ url: `https://${host}:${port}/`, headers: {}, body: Buffer.from('{}') },
      ...{ ...how, proxyUrl, signal, isCompressed: true },
    }),
  'SIEM over a connection': ({ host, proxyUrl = null, ...how }) =>
    outboundStream({
      ...{ host: host.replace(/^\[|\]$/g, ''), body: Buffer.from('1 x'), proxyUrl },
      ...{ ...how, signal },
    }),
  async 'identity provider'(to) {
    const client = createProviderClient({
      ...{ monotonicNow: () => 0, allowList: () => to.allowList },
      timeoutMs: to.timeoutMs,
    });
    const found = await client.discover(providerAt(to), true);
    if (!found.ok) throw new Error(found.reason);
  },
  'bucket, written': (to) => bucketAt(to).write('name', Readable.from([Buffer.from('x')]), signal),
  'bucket, read': (to) => bucketAt(to).read('name', signal),
  async mail({ host, port, proxyUrl = null, ...how }) {
    const handed = await outboundMail({
      ...{ host: host.replace(/^\[|\]$/g, ''), port, security: 'tls', login: null },
      ...{ sender: 'console@example.org', recipients: ['ada@example.org'], messageId: '<1@x>' },
      ...{ atMs: 0, subject: 's', text: 't', html: '<p>t</p>', proxyUrl },
      ...{ ...how, signal },
    });
    if (handed.kind !== 'taken') throw new Error(handed.detail);
  },
};
/** Those that take a host as it is; the others take a URL. */
const BY_HOST = ['SIEM over a connection', 'mail'];
const BY_REQUEST = Object.keys(WAYS).filter((name) => !BY_HOST.includes(name));
/** Syslog waits for no answer. */
const ANSWERED = Object.keys(WAYS).filter((name) => name !== 'SIEM over a connection');
const wayOf = (name: string) => WAYS[name] ?? (() => Promise.reject(new Error('no such way')));
const target = (host: string, allowList: readonly string[] = []): Target => ({
  ...{ host, port: witness.port, caPem: witness.caPem, allowList, timeoutMs: TIMEOUT_MS },
});
const WHY = / is this machine itself| is never reached from here| is private, and /;

describe.each(Object.keys(WAYS))('attack 29: %s', (name) => {
  it(
    'should connect to nothing inside, whatever form its address has',
    async () => {
      const before = witness.connections();
      const forms = BY_HOST.includes(name) ? INSIDE : [...INSIDE, ...IN_URLS];
      const wrong: string[] = [];
      for (const host of forms) {
        const why = await wayOf(name)(target(host)).then(
          () => 'it was reached',
          (error: unknown) => String(error),
        );
        if (!WHY.test(why)) wrong.push(`${host}: ${why}`);
      }
      expect(wrong).toEqual([]);
      expect(witness.connections()).toBe(before);
    },
    LONG_MS,
  );
});

describe.each(BY_REQUEST)('attack 29: %s, once it is reached', (name) => {
  it('should follow no redirect', async () => {
    const elsewhere = await openWebhookReceiver();
    try {
      const location = elsewhere.url('/latest/meta-data');
      witness.answerWith({ status: 302, headers: { location }, body: 'x' });
      await wayOf(name)(target('127.0.0.1', ['127.0.0.1'])).catch(() => undefined);
      expect(witness.received.length).toBeGreaterThan(0);
      expect(elsewhere.connections()).toBe(0);
    } finally {
      await elsewhere.close();
    }
  });
});

describe.each(BY_REQUEST.filter((name) => name !== 'bucket, read'))('attack 29: %s', (name) => {
  it('should end with an answer that has no end', async () => {
    witness.answerWith('without end');
    const told = wayOf(name)(target('127.0.0.1', ['127.0.0.1']));
    await expect(told).rejects.toThrow(/too big/);
  });
});

describe.each(ANSWERED)('attack 29: %s', (name) => {
  it.each(STUBBORN)(
    'should let go of a receiver that is %s',
    async (manner) => {
      const receiver = await openStubbornReceiver(manner, name === 'mail' ? 'smtp' : 'http');
      try {
        const { port, caPem } = receiver;
        const allowList = ['127.0.0.1'];
        const timeoutMs = SHORT_TIMEOUT_MS;
        const told = wayOf(name)({ host: '127.0.0.1', port, caPem, allowList, timeoutMs });
        await expect(told).rejects.toThrow();
        await receiver.closed;
      } finally {
        await receiver.close();
      }
    },
    LONG_MS,
  );
});

describe.each(Object.keys(WAYS))('attack 29: %s, by a proxy', (name) => {
  it('should go there and nowhere else, and to no proxy inside that nobody allowed', async () => {
    const proxy = await openConnectProxy();
    try {
      const { url: proxyUrl } = proxy;
      const told = wayOf(name)({ ...target('hooks.example.org'), proxyUrl });
      await expect(told).rejects.toThrow(WHY);
      expect(proxy.asked).toEqual([]);
      const before = witness.connections();
      const allowed = { ...target('127.0.0.1', ['127.0.0.1']), proxyUrl };
      await wayOf(name)(allowed).catch(() => undefined);
      expect(new Set(proxy.asked)).toEqual(new Set([`127.0.0.1:${witness.port}`]));
      expect(witness.connections() - before).toBe(proxy.asked.length);
    } finally {
      await proxy.close();
    }
  });
});

describe('attack 29: a name that changes its answer', () => {
  const allowed = policyOfList(['10.0.0.0/8'], 'hooks.example.org');
  const nothing = policyOfList([], 'hooks.example.org');
  const resolve = (policy: typeof nothing, ...addresses: readonly string[]) =>
    new Promise<string>((done) => {
      const names = ((_name: string, _options: object, tell: (...of: unknown[]) => void) =>
        tell(
          null,
          addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
        )) as never;
      judgedLookup(policy, names)('hooks.example.org', {}, (error, address) =>
        done(error === null ? String(address) : error.name),
      );
    });

  it('should be judged by each answer, and by every address of it', async () => {
    expect(await resolve(nothing, '203.0.113.9')).toBe('203.0.113.9');
    for (const inside of ['127.0.0.1', '10.0.0.1', '::1', '::ffff:10.0.0.1', '169.254.169.254']) {
      expect(await resolve(nothing, inside)).toBe('AddressRefused');
      expect(await resolve(nothing, '203.0.113.9', inside)).toBe('AddressRefused');
    }
    expect(await resolve(allowed, '10.0.0.1')).toBe('10.0.0.1');
    expect(await resolve(allowed, '10.0.0.1', '169.254.169.254')).toBe('AddressRefused');
  });
});
