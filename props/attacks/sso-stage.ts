// What attacks on logins through providers are made of: two real providers over TLS, a Console that knows where they are,
// small browsers that reach all three by name, and the steps of a login, each of which an attack may bend.
import { type Browser, createBrowser, type Page } from '../peers/browser.ts';
import { type Claims, type OidcPeer, openOidcPeer } from '../peers/oidc-peer.ts';
import { type ConsoleUnderTest, startConsole } from './console.fixture.ts';

// The Console believes to be here; the browser finds it at its port.
export const BASE = 'https://localhost:0';
export const CALLBACK = `${BASE}/api/v2/auth/sso/callback`;
export const SESSION = '__Host-service_session';
export const ANN: Claims = {
  email: 'ann@example.org',
  email_verified: true,
  groups: ['ops'],
  name: 'Ann',
};

export type SsoStage = Awaited<ReturnType<typeof openSsoStage>>;

export const startOf = (id: string, more = '') =>
  `${BASE}/api/v2/auth/sso/start?provider=${id}${more}`;
const isCallback = (url: string) => url.startsWith(CALLBACK);
export const codeOf = (page: Page): unknown => [page.status, JSON.parse(page.body || '{}').code];

/** Opens both providers; a Console comes with each `renew`. */
export async function openSsoStage() {
  const open = () => openOidcPeer({ redirectUri: CALLBACK });
  const [peer, other] = await Promise.all([open(), open()]);
  let console: ConsoleUnderTest | null = null;
  let admin = '';

  const running = (): ConsoleUnderTest => {
    if (console === null) throw new Error('there is no Console');
    return console;
  };

  function newBrowser(): Browser {
    return createBrowser((host) => {
      for (const one of [peer, other]) {
        if (host === `localhost:${one.port}`) return { port: one.port, ca: one.caPem };
      }
      return { port: running().port, ca: running().ca };
    });
  }

  /** Asks the operator API as an admin. */
  async function call(method: string, path: string, body?: unknown): Promise<Page> {
    return newBrowser().open(`${BASE}/api/v2${path}`, {
      method,
      headers: {
        authorization: `Bearer ${admin}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  /** Sets a provider up as an admin does; its id. */
  async function setUp(of: OidcPeer, options: Record<string, unknown> = {}): Promise<string> {
    const page = await call('POST', '/sso-providers', {
      kind: 'oidc',
      name: 'Example',
      issuer: of.issuer,
      client_id: of.client.id,
      client_secret: of.client.secret,
      options: { ca_pem: of.caPem, group_roles: { ops: 'operator' }, ...options },
    });
    if (page.status !== 201 || page.body.includes(of.client.secret)) throw new Error(page.body);
    return JSON.parse(page.body).provider_id;
  }

  /** Goes as far as the address the provider sends the browser back to. */
  async function comeBack(browser: Browser, id: string): Promise<URL> {
    const page = await browser.follow(startOf(id), isCallback);
    if (page.location === null) throw new Error(`${page.status} ${page.body}`);
    return new URL(page.location);
  }

  /** A whole login. */
  async function logIn(browser: Browser, id: string, more = ''): Promise<Page> {
    const page = await browser.follow(startOf(id, more), isCallback);
    return page.location === null ? page : browser.open(page.location);
  }

  /** What a session may see of itself. */
  async function isAlive(session: string): Promise<boolean> {
    const browser = newBrowser();
    browser.setCookie('localhost:0', SESSION, session);
    return (await browser.open(`${BASE}/api/v2/sensors`)).status === 200;
  }

  return {
    ...{ peer, other, newBrowser, call, setUp, comeBack, logIn, isAlive },
    /** A new Console, and providers that do what they should. */
    async renew(isEvaluation = true): Promise<ConsoleUnderTest> {
      console = await startConsole({ isEvaluation, providerWay: { timeoutMs: 1_000 } });
      admin = (await console.newKey(['admin'])).secret;
      for (const one of [peer, other]) {
        Object.assign(one.does, {
          token: null,
          meanwhile: null,
          discovery: null,
          signsWithOtherKey: false,
          answers: 'as it should',
        });
        one.logsIn('ann', ANN);
      }
      return console;
    },
    close: () => Promise.all([peer.close(), other.close()]),
  };
}
