// Attacks across the two planes of one port: a sensor's certificate where operators work, an operator's key where sensors
// report. Every operator route is tried with every kind of caller; the routes are read from the program's own table, so a
// new one is tried without anybody thinking of it. invariant: I9, I11

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { createFixture } from '../../gateway/operator-plane/operator-plane.fixture.ts';
import { SCOPES } from '../../machines/trust/roles.rules.ts';
import {
  type ApiKey,
  type ConsoleUnderTest,
  removeSharedKeys,
  startConsole,
} from './console.fixture.ts';
import { type Answer, codeOf, heartbeatBody, type Identity, makeKeys, nth } from './peer.ts';

const NOBODY = '018f0000-0000-7000-8000-00000000ffff';
const LIVE = '/api/v2/live';
type Route = { readonly method: string; readonly path: string; readonly scope: string | null };
type Operation = { readonly security: readonly unknown[]; readonly description?: string };

// Scopes of resources that are still to come: a key may hold them, no route asks for them yet.
const RESERVED: readonly string[] = [
  ...['users:read', 'users:write', 'teams:read', 'teams:write', 'groups:read', 'groups:write'],
  ...['settings:read', 'settings:write', 'sso:read', 'sso:write'],
  ...['policies:read', 'policies:write', 'exercises:read', 'exercises:write'],
  ...['alerts:read', 'alerts:write', 'investigations:read', 'investigations:write'],
];

let console: ConsoleUnderTest;
let identity: Identity;
let admin: ApiKey;
let routes: readonly Route[];
const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });
const cookie = { cookie: '__Host-service_session=AAAAAAAAAAAAAAAAAAAAAA' };

/** Calls a route the way a client would; what it does is of no matter, only whether it was let in. */
function call(route: Route, headers: Record<string, string>, own: Identity | null = null) {
  const body = route.path.endsWith('/revoke') ? { reason: 'test' } : {};
  const { method, path } = route;
  return console.ask(own, path.replaceAll(/\{\w+\}/g, NOBODY), body, { method, headers });
}

/** Every route, with the scope it asks for; null = public. */
async function routesOf(): Promise<readonly Route[]> {
  const fixture = await createFixture();
  const table = fixture.app.printRoutes({ commonPrefix: false });
  await fixture.close();
  const { body } = await console.ask(null, '/api/v2/openapi.json', null, { method: 'GET' });
  const paths = body['paths'] as Record<string, Record<string, Operation>>;
  const found: Route[] = [];
  for (const { method, path } of linesOf(table)) {
    const asGet = method === 'HEAD' ? 'get' : method.toLowerCase();
    const operation = paths[path]?.[asGet];
    const scope = /Scope: `([\w:]+)`/.exec(operation?.description ?? '')?.[1] ?? null;
    // What the description calls guarded names its scope; what it does not list has to be open to be reached at all.
    expect(operation === undefined || (operation.security.length === 0) === (scope === null)).toBe(
      true,
    );
    found.push({ method, path, scope });
  }
  return found;
}

/** Methods and paths out of the printed tree of routes. */
function linesOf(tree: string): readonly { readonly method: string; readonly path: string }[] {
  const branch: string[] = [];
  return tree.split('\n').flatMap((line) => {
    const match = /^([│ ]*)[├└]── (\S*)(?: \(([A-Z, ]+)\))?/.exec(line);
    if (match === null) return [];
    const [, indent = '', part = '', methods] = match;
    const depth = indent.length / 4;
    branch.splice(depth, branch.length, part);
    const path = branch.join('').replaceAll(/:(\w+)/g, '{$1}');
    return (methods ?? '')
      .split(', ')
      .filter((method) => method !== '')
      .map((method) => ({ method, path }));
  });
}

beforeAll(async () => {
  const [started, keys] = await Promise.all([startConsole(), makeKeys(1)]);
  console = started;
  identity = await console.enroll('node', nth(keys, 0));
  admin = await console.newKey(['admin']);
  routes = await routesOf();
});
afterAll(async () => {
  await console.stop();
  await removeSharedKeys();
});

const isOut = (answer: Answer) => answer.status === 401 || answer.status === 403;
const named = ({ method, path }: Route) => `${method} ${path}`;

describe('attack 8: a credential of one plane on the other', () => {
  it('should open no operator route to a sensor certificate, alone or with a cookie', async () => {
    for (const route of routes.filter(({ scope }) => scope !== null)) {
      for (const headers of [{}, cookie]) {
        const answer = await call(route, headers, identity);
        expect([named(route), answer.status]).toEqual([named(route), 401]);
      }
    }
  });

  it('should open no sensor route to an API key or a cookie', async () => {
    const before = await console.stores.relational.sensors.getSensor(identity.sensorId);
    for (const path of ['renew', 'heartbeat', 'events', 'inventory']) {
      for (const headers of [bearer(admin.secret), cookie]) {
        const answer = await console.ask(null, `/sensors/${path}`, heartbeatBody(0, []), {
          headers,
        });
        expect(codeOf(answer)).toEqual([401, 'client_certificate_required']);
      }
    }
    const enroll = await console.ask(
      null,
      '/sensors/enroll',
      {},
      { headers: bearer(admin.secret) },
    );
    expect(enroll.status).toBe(422);
    const after = await console.stores.relational.sensors.getSensor(identity.sensorId);
    expect(after).toEqual(before);
  });

  it('should open neither stream to the credential of the other', async () => {
    const knock = (path: string, protocol: string, options: object) =>
      new Promise<number>((resolve) => {
        const url = `wss://127.0.0.1:${console.port}${path}`;
        const socket = new WebSocket(url, protocol, { ca: console.ca, ...options });
        socket.on('open', () => resolve(101));
        socket.on('error', () => undefined);
        socket.on('unexpected-response', (request, response) => {
          resolve(response.statusCode ?? 0);
          request.destroy();
        });
      });
    const { cert, key } = identity;
    const headers = bearer(admin.secret);
    expect(await knock(LIVE, 'service.live.v1', { cert, key })).toBe(401);
    expect(await knock(LIVE, 'service.live.v1', { headers: cookie })).toBe(401);
    expect(await knock('/sensors/stream', 'service.stream.v1', { headers })).toBe(401);
  });

  it('should let each do its own work on one connection that shows both', async () => {
    const agent = console.agent(identity);
    const headers = bearer(admin.secret);
    const list = { method: 'GET', agent, headers };
    expect((await console.ask(identity, '/api/v2/sensors', null, list)).status).toBe(200);
    const plain = { method: 'GET', agent };
    expect((await console.ask(identity, '/api/v2/sensors', null, plain)).status).toBe(401);
    const beat = await console.ask(identity, '/sensors/heartbeat', heartbeatBody(0, []), { agent });
    expect(beat.status).toBe(200);
  });
});

describe('attack 28: every operator route with every kind of caller', () => {
  it('should know its routes, and leave open only what has nothing to tell', () => {
    const open = routes.filter(({ scope, method }) => scope === null && method !== 'HEAD');
    expect(open.map(({ path }) => path).sort()).toEqual([
      '/',
      '/api/v2/openapi.json',
      '/ca.pem',
      '/livez',
      '/readyz',
      '/version',
    ]);
    expect(routes.length - open.length).toBeGreaterThan(20);
    const used = new Set(routes.flatMap(({ scope }) => scope ?? []));
    const reserved = SCOPES.filter((scope) => !used.has(scope));
    expect(reserved.sort()).toEqual([...RESERVED].sort());
  });

  it('should let in the scope it names and admin, and no other', async () => {
    const held = new Map<string, ApiKey>();
    for (const scope of SCOPES) held.set(scope, await console.newKey([scope]));
    held.set('admin', admin);
    held.set('none', await console.newKey([]));
    held.set('all but', await console.newKey(['Admin', 'sensors', '*', 'sensors:*', '']));
    for (const route of routes) {
      for (const [name, { secret }] of held) {
        const answer = await call(route, bearer(secret));
        const isGranted = route.scope === null || name === route.scope || name === 'admin';
        expect([named(route), name, isOut(answer)]).toEqual([named(route), name, !isGranted]);
        if (!isGranted && route.method !== 'HEAD') {
          expect(codeOf(answer)).toEqual([403, 'role_required']);
        }
      }
    }
  });

  it('should let in nobody with a key that is none, ended, withdrawn or of another kind', async () => {
    const late = await console.newKey(['admin'], Date.now() - 1);
    const withdrawn = await console.newKey(['admin']);
    await console.stores.relational.apiKeys.revoke({ keyId: withdrawn.keyId, nowMs: Date.now() });
    const token = await console.newToken();
    const { secret } = admin;
    const callers: readonly Record<string, string>[] = [
      {},
      cookie,
      ...[late.secret, withdrawn.secret, token, `${secret}x`, secret.slice(0, -1)].map(bearer),
      { authorization: secret },
      { authorization: `Basic ${Buffer.from(`admin:${secret}`).toString('base64')}` },
      { 'x-api-key': secret, 'x-forwarded-user': 'admin' },
    ];
    for (const route of routes) {
      for (const headers of callers) {
        const answer = await call(route, headers);
        const expected = route.scope === null ? false : 401;
        expect([named(route), isOut(answer) && answer.status]).toEqual([named(route), expected]);
      }
    }
  });

  it('should judge a route by its one spelling', async () => {
    const { secret } = await console.newKey(['events:read']);
    for (const path of [
      '/api/v2/./sensors',
      '/api/v2//sensors',
      '/api/v2/sensors/',
      '/api/v2/%73ensors',
      '/API/v2/sensors',
      '/api/v2/events/../sensors',
      '/api/v2/events%2f..%2fsensors',
      '/api/v2/sensors;x=y',
      '/api/v2/sensors%00',
    ]) {
      const answer = await console.ask(null, path, null, {
        method: 'GET',
        headers: bearer(secret),
      });
      expect([path, answer.status >= 400]).toEqual([path, true]);
    }
  });
});
