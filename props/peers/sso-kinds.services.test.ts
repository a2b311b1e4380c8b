// Every kind of identity provider, against a real one over TLS with a CA of its own: discovery, the login page, the code,
// the claims, and who the rules say that is. decision: D40
import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { createProviderClient } from '../../actors/access/sso/provider-client.ts';
import { personOf } from '../../machines/console/access/sso-login.rules.ts';
import { mistakeOfIssuer, SSO_PRESETS } from '../../machines/console/access/sso-provider.rules.ts';
import type { SsoKind, SsoProviderRow } from '../../storage/ports/access/sso-store.ts';
import { slackOf } from '../yardstick.ts';
import { createBrowser } from './browser.ts';
import { type Claims, type OidcPeer, type OidcPeerOptions, openOidcPeer } from './oidc-peer.ts';

const CALLBACK = 'https://console.example/api/v2/auth/sso/callback';
const TENANT = '0f8a1c52-6a1d-4d1e-9d3b-2b7d0a5e4c11';
const text = () => randomBytes(32).toString('base64url');

const peers: OidcPeer[] = [];
afterEach(async () => {
  for (const peer of peers.splice(0)) await peer.close();
});

async function openPeer(options: Omit<OidcPeerOptions, 'redirectUri'> = {}): Promise<OidcPeer> {
  const peer = await openOidcPeer({ redirectUri: CALLBACK, ...options });
  peers.push(peer);
  return peer;
}

function providerAt(peer: OidcPeer, kind: SsoKind): SsoProviderRow {
  const { scopes, groupsClaim } = SSO_PRESETS[kind];
  return {
    providerId: kind,
    kind,
    name: kind,
    issuer: peer.issuer,
    clientId: peer.client.id,
    clientSecretSealed: '',
    options: {
      ...{ scopes, groupsClaim, groupRoles: {}, defaultRole: null, createsUsers: true },
      ...{ domains: [], linkDomains: [], caPem: peer.caPem },
    },
    enabled: true,
    ...{ createdAtMs: 0, changedAtMs: 0, revision: 1 },
  };
}

function clientOf(peer: OidcPeer, timeoutMs = 5_000) {
  return createProviderClient({
    monotonicNow: () => performance.now(),
    allowList: () => ['127.0.0.0/8', '::1'],
    agent: peer.agent(),
    timeoutMs,
  });
}

/** A whole login; the claims of the answer. */
async function logIn(
  peer: OidcPeer,
  provider: SsoProviderRow,
  client = clientOf(peer),
  isHeld: (flow: { nonce: string; codeVerifier: string }) => {
    nonce: string;
    codeVerifier: string;
  } = (flow) => flow,
) {
  const flow = { state: text(), nonce: text(), codeVerifier: text() };
  const sent = await client.authorizationUrl(provider, flow, CALLBACK);
  if (!sent.ok) return sent;
  const browser = createBrowser(() => ({ port: peer.port, ca: peer.caPem }));
  const last = await browser.follow(sent.url, (url) => url.startsWith(CALLBACK));
  expect(last.location).toMatch(/[?&]code=/);
  return client.exchange(provider, {
    flow: isHeld(flow),
    state: flow.state,
    clientSecret: peer.client.secret,
    returnedTo: String(last.location),
  });
}

const KINDS: readonly {
  readonly kind: SsoKind;
  readonly options: Omit<OidcPeerOptions, 'redirectUri'>;
  readonly claims: Claims;
  readonly groups: readonly string[] | null;
}[] = [
  {
    kind: 'google',
    options: { issuer: 'https://accounts.google.com' },
    claims: { email: 'ann@example.org', email_verified: true, hd: 'example.org', name: 'Ann' },
    groups: null,
  },
  {
    kind: 'entra',
    options: {
      issuer: `https://login.microsoftonline.com/${TENANT}/v2.0`,
      authentication: 'client_secret_post',
    },
    claims: { email: 'ann@example.org', xms_edov: true, groups: ['8d1c', '77aa'], name: 'Ann' },
    groups: ['8d1c', '77aa'],
  },
  {
    // The ID token of the code flow is thin there: claims come from the user-info endpoint.
    kind: 'okta',
    options: { issuer: 'https://example.okta.com', isThin: true },
    claims: { email: 'ann@example.org', email_verified: true, groups: ['Everyone'], name: 'Ann' },
    groups: ['Everyone'],
  },
  {
    kind: 'keycloak',
    options: { issuer: 'https://id.example.org/realms/main' },
    claims: { email: 'ann@example.org', email_verified: true, groups: ['/ops'], name: 'Ann' },
    groups: ['/ops'],
  },
  {
    kind: 'oidc',
    options: {},
    claims: { email: 'ann@example.org', email_verified: true, groups: 'ops', name: 'Ann' },
    groups: ['ops'],
  },
];

describe('a provider of each kind', () => {
  for (const { kind, options, claims, groups } of KINDS) {
    it(`should log somebody in through ${kind}`, async () => {
      const peer = await openPeer(options);
      const provider = providerAt(peer, kind);
      expect(mistakeOfIssuer(kind, peer.issuer)).toBeNull();
      peer.logsIn('subject-1', claims);
      const answer = await logIn(peer, provider);
      if (!answer.ok) throw new Error(answer.reason);
      if (!('claims' in answer)) throw new Error('no claims');
      expect(personOf(kind, answer.claims, provider.options.groupsClaim)).toEqual({
        subject: 'subject-1',
        email: 'ann@example.org',
        isEmailVerified: true,
        name: 'Ann',
        groups,
        hasMoreGroups: false,
      });
      const told = peer.requests.filter((line) => line.includes('openid-configuration'));
      expect(told.length).toBe(1);
    });
  }
});

describe('the answer of a provider', () => {
  const CLAIMS = { email: 'ann@example.org', email_verified: true };
  async function tampered(change: (peer: OidcPeer) => void) {
    const peer = await openPeer();
    peer.logsIn('subject-1', CLAIMS);
    change(peer);
    return logIn(peer, providerAt(peer, 'oidc'));
  }
  const TOKENS: Readonly<Record<string, readonly [RegExp, (claims: Claims) => Claims]>> = {
    'another issuer': [/iss/, (claims) => ({ ...claims, iss: 'https://evil.example' })],
    'another audience': [/aud/, (claims) => ({ ...claims, aud: 'somebody-else' })],
    'an audience beside ours and no party': [
      /azp/,
      (claims) => ({
        ...claims,
        aud: ['console', 'x'],
        azp: 'x',
      }),
    ],
    'a nonce of another login': [/nonce/, (claims) => ({ ...claims, nonce: text() })],
    'no nonce': [/nonce/, ({ nonce: _nonce, ...claims }) => claims],
    'a time that is over': [
      /exp/,
      (claims) => ({ ...claims, exp: Math.floor(Date.now() / 1_000) - 120 }),
    ],
    'no subject': [/sub/, ({ sub: _sub, ...claims }) => claims],
  };
  for (const [what, [reason, token]] of Object.entries(TOKENS)) {
    it(`should be refused with ${what}`, async () => {
      const answer = await tampered((peer) => {
        peer.does.token = token;
      });
      expect(answer).toMatchObject({
        ...{ ok: false, kind: 'refused' },
        reason: expect.stringMatching(reason),
      });
    });
  }

  it('should be refused when it is signed with a key that the provider does not publish', async () => {
    const answer = await tampered((peer) => {
      peer.does.signsWithOtherKey = true;
    });
    expect(answer).toMatchObject({ ok: false, kind: 'refused' });
  });

  it('should be refused without the verifier and the nonce that began it', async () => {
    const peer = await openPeer();
    const provider = providerAt(peer, 'oidc');
    peer.logsIn('subject-1', CLAIMS);
    const client = clientOf(peer);
    for (const other of [
      (flow: { nonce: string; codeVerifier: string }) => ({ ...flow, codeVerifier: text() }),
      (flow: { nonce: string; codeVerifier: string }) => ({ ...flow, nonce: text() }),
    ]) {
      const answer = await logIn(peer, provider, client, other);
      expect(answer).toMatchObject({ ok: false, kind: 'refused' });
    }
    expect(await logIn(peer, provider, client)).toMatchObject({ ok: true });
  });

  it('should be taken after the provider changed its keys, without asking who it is again', async () => {
    const peer = await openPeer();
    const provider = providerAt(peer, 'oidc');
    peer.logsIn('subject-1', CLAIMS);
    const client = clientOf(peer);
    expect(await logIn(peer, provider, client)).toMatchObject({ ok: true });
    peer.rotateKeys();
    expect(await logIn(peer, provider, client)).toMatchObject({ ok: true });
    const told = peer.requests.filter((line) => line.includes('openid-configuration'));
    expect(told.length).toBe(1);
  });
});

describe('the way to a provider', () => {
  it('should trust the CA that was given and no other', async () => {
    const [peer, other] = [await openPeer(), await openPeer()];
    const provider = providerAt(peer, 'oidc');
    const options = { ...provider.options, caPem: other.caPem };
    const strange = await clientOf(peer).discover({ ...provider, options });
    expect(strange).toMatchObject({ ok: false, kind: 'away' });
    const withPublic = { ...provider.options, caPem: null };
    const found = await clientOf(peer).discover({ ...provider, options: withPublic });
    expect(found).toMatchObject({ ok: false, kind: 'away' });
  });

  it('should not lead to this machine unless that was allowed, by name or by address', async () => {
    const peer = await openPeer();
    const provider = providerAt(peer, 'oidc');
    const client = createProviderClient({
      ...{ monotonicNow: () => 0, allowList: () => [] },
    });
    for (const host of ['localhost', '127.0.0.1', '[::1]', '[::ffff:127.0.0.1]']) {
      const issuer = `https://${host}:${peer.port}`;
      const found = await client.discover({ ...provider, issuer }, true);
      expect(found).toMatchObject({ ok: false, kind: 'away' });
    }
    expect(peer.requests).toEqual([]);
  });

  it('should not follow a redirect, read without end, or take a failure for an answer', async () => {
    const peer = await openPeer();
    const provider = providerAt(peer, 'oidc');
    const client = clientOf(peer);
    for (const answers of ['a redirect', 'too much', 'a failure'] as const) {
      peer.does.answers = answers;
      expect(await client.discover(provider)).toMatchObject({ ok: false });
    }
    peer.does.answers = 'as it should';
    expect(await client.discover(provider)).toMatchObject({ ok: true });
  });

  it('should be given up in bounded time when nobody answers', async () => {
    const peer = await openPeer();
    const slackMs = await slackOf(() => clientOf(peer).discover(providerAt(peer, 'oidc')));
    peer.does.answers = 'nothing';
    const beganAtMs = performance.now();
    const found = await clientOf(peer, 300).discover(providerAt(peer, 'oidc'));
    expect(found).toMatchObject({ ok: false, kind: 'away' });
    expect(performance.now() - beganAtMs).toBeLessThan(3_000 + slackMs);
  });

  it('should refuse a provider that calls itself otherwise', async () => {
    const peer = await openPeer();
    const provider = providerAt(peer, 'oidc');
    const issuer = `https://127.0.0.1:${peer.port}`;
    const found = await clientOf(peer).discover({ ...provider, issuer });
    expect(found).toMatchObject({ ok: false, kind: 'refused' });
  });
});
