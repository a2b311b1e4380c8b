// An identity provider for tests: `oidc-provider` itself, over TLS on 127.0.0.1 with a certificate of a CA of its own, under
// whatever issuer a test gives it. People log in by being named, without a page. It does what a test tells it to: another
// token, other keys, silence, a redirect, an answer without end.
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Agent, createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:tls';
import Provider, { type Configuration } from 'oidc-provider';
import { createOidcMemory } from './oidc-memory.ts';
import { borrowAuthority } from './peer-authority.ts';

export type Claims = Record<string, unknown>;
export type OidcPeer = Awaited<ReturnType<typeof openOidcPeer>>;
export type OidcPeerOptions = {
  readonly redirectUri: string;
  /** `localhost` and the port it listens on when absent. */
  readonly issuer?: string;
  /** Claims only at the user-info endpoint, as some providers do. */
  readonly isThin?: boolean;
  readonly authentication?: 'client_secret_basic' | 'client_secret_post';
};
type Misbehaviour = {
  /** Changes the claims of an ID token before it is signed. */
  token: ((claims: Claims) => Claims) | null;
  /** Is done while the Console waits for a token. */
  meanwhile: (() => Promise<void>) | null;
  /** Changes what it says of itself before anybody hears it. */
  discovery: ((metadata: Claims) => Claims) | null;
  /** Signs with a key that it does not publish. */
  signsWithOtherKey: boolean;
  /** What every request gets in place of an answer. */
  answers: 'as it should' | 'nothing' | 'a redirect' | 'too much' | 'a failure';
};

const TTL_S = {
  AccessToken: 600,
  AuthorizationCode: 60,
  Grant: 600,
  IdToken: 600,
  Interaction: 600,
  Session: 600,
};

/** Starts a provider. */
export async function openOidcPeer(options: OidcPeerOptions) {
  const { authority, giveBack } = await borrowAuthority();
  const host = options.issuer === undefined ? 'localhost' : new URL(options.issuer).hostname;
  const tls = await authority.issueServerCertificate([host, '127.0.0.1'], Date.now());
  const server = createServer({ key: tls.keyPem, cert: tls.pem });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const issuer = options.issuer ?? `https://localhost:${port}`;
  const client = { id: 'console', secret: randomBytes(24).toString('base64url') };
  const does: Misbehaviour = {
    ...{ token: null, meanwhile: null, discovery: null, signsWithOtherKey: false },
    answers: 'as it should',
  };
  const accounts = new Map<string, Claims>();
  const requests: string[] = [];
  const silent = new Set<ServerResponse>();
  let account = 'nobody';
  let running = createProvider();

  function createProvider() {
    const keys = createKeys();
    const provider = new Provider(issuer, configurationOf({ ...options, client, keys, accounts }));
    // Each provider that a Console knows has a way back of its own below this one.
    provider.Client.prototype.redirectUriAllowed = (uri) =>
      uri === options.redirectUri || uri.startsWith(`${options.redirectUri}/`);
    provider.use(async (ctx, next) => {
      await next();
      const body = ctx.body as { id_token?: string } | null;
      if (ctx.oidc?.route === 'discovery' && does.discovery !== null)
        ctx.body = does.discovery(body as Claims);
      if (ctx.oidc?.route !== 'token' || typeof body?.id_token !== 'string') return;
      await does.meanwhile?.();
      body.id_token = signedAgain(body.id_token, does, keys);
    });
    return { provider, answer: provider.callback() };
  }

  function answer(request: IncomingMessage, response: ServerResponse): void {
    const path = new URL(request.url ?? '/', issuer).pathname;
    requests.push(`${request.method} ${path}`);
    if (does.answers === 'nothing') silent.add(response);
    else if (does.answers === 'a redirect') {
      response.writeHead(302, { location: 'https://127.0.0.1:1/' }).end();
    } else if (does.answers === 'a failure') response.writeHead(500).end('{}');
    else if (does.answers === 'too much') {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ text: 'x'.repeat(2_000_000) }));
    } else if (path.includes('/interaction/')) {
      const finished = { login: { accountId: account } };
      void running.provider.interactionFinished(request, response, finished);
    } else void serve(request, response);
  }

  // A path in the issuer is a mount: the provider is told of it the way a framework would.
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const mount = new URL(issuer).pathname.replace(/\/$/, '');
    const whole = request.url ?? '/';
    if (mount !== '' && whole.startsWith(mount)) {
      Object.assign(request, { originalUrl: whole });
      request.url = whole.slice(mount.length) || '/';
    }
    await running.answer(request, response);
  }
  server.on('request', answer);

  return {
    issuer,
    port,
    client,
    does,
    requests,
    caPem: authority.rootsPem,
    /** Who logs in from now on, with these claims. */
    logsIn(accountId: string, claims: Claims): void {
      account = accountId;
      accounts.set(accountId, claims);
    },
    /** Publishes and uses other keys from now on. */
    rotateKeys(): void {
      running = createProvider();
    },
    /** Connections that end here, whatever the name. */
    agent: () => agentTo(port),
    async close(): Promise<void> {
      for (const one of silent) one.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      giveBack();
    },
  };
}

/** Connects to one port of this machine, whatever host is asked for; names are still checked against the certificate. */
export function agentTo(port: number | ((host: string) => number)): Agent {
  const agent = new Agent({ keepAlive: false });
  agent.createConnection = (options) => {
    const { host = '' } = options as { host?: string };
    const to = typeof port === 'number' ? port : port(host);
    const { ca, servername } = options as { ca?: string; servername?: string };
    return connect({
      host: '127.0.0.1',
      port: to,
      ...(ca === undefined ? {} : { ca }),
      ...(servername ? { servername } : {}),
    });
  };
  return agent;
}

type Keys = {
  readonly privateKey: KeyObject;
  readonly jwk: Record<string, unknown>;
  readonly kid: string;
};

function createKeys(): Keys {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const plain = privateKey.export({ format: 'jwk' });
  const kid = createHash('sha256').update(String(plain.n)).digest('hex').slice(0, 16);
  return { privateKey, kid, jwk: { ...plain, kid, use: 'sig', alg: 'RS256' } };
}

function configurationOf(
  given: OidcPeerOptions & {
    readonly client: { readonly id: string; readonly secret: string };
    readonly keys: Keys;
    readonly accounts: ReadonlyMap<string, Claims>;
  },
): Configuration {
  const { client, keys, accounts } = given;
  return {
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        redirect_uris: [given.redirectUri],
        response_types: ['code'],
        grant_types: ['authorization_code'],
        token_endpoint_auth_method: given.authentication ?? 'client_secret_basic',
      },
    ],
    clientAuthMethods: [given.authentication ?? 'client_secret_basic'],
    adapter: createOidcMemory(),
    ttl: TTL_S,
    jwks: { keys: [keys.jwk as never] },
    cookies: { keys: [randomBytes(16).toString('hex')] },
    scopes: ['openid', 'email', 'profile', 'groups'],
    claims: {
      openid: ['sub', 'groups', 'realm_access', '_claim_names', 'hd', 'xms_edov'],
      email: ['email', 'email_verified'],
      profile: ['name'],
    },
    conformIdTokenClaims: given.isThin ?? false,
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false } },
    interactions: {
      url: (_ctx, interaction) =>
        `${new URL(given.issuer ?? 'https://localhost').pathname.replace(/\/$/, '')}/interaction/${interaction.uid}`,
    },
    findAccount: (_ctx, accountId) => ({
      accountId,
      claims: async () => ({ sub: accountId, ...accounts.get(accountId) }),
    }),
    async loadExistingGrant(ctx) {
      const { Grant } = ctx.oidc.provider;
      const grant = new Grant({
        clientId: client.id,
        accountId: ctx.oidc.session?.accountId ?? '',
      });
      grant.addOIDCScope('openid email profile groups');
      await grant.save();
      return grant;
    },
  };
}

function signedAgain(token: string, does: Misbehaviour, keys: Keys): string {
  const [head = '', body = ''] = token.split('.');
  if (does.token === null && !does.signsWithOtherKey) return token;
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as Claims;
  const changed = Buffer.from(JSON.stringify(does.token?.(claims) ?? claims)).toString('base64url');
  const key = does.signsWithOtherKey ? createKeys().privateKey : keys.privateKey;
  const signature = sign('sha256', Buffer.from(`${head}.${changed}`), key);
  return `${head}.${changed}.${signature.toString('base64url')}`;
}
