// Attacks across the two planes of one port: a sensor's certificate where operators work, an operator's key where sensors
// report. Every operator route is tried on the real listener; the routes are read from the program's own table, so a new
// one is tried without anybody thinking of it. The whole matrix of callers is in role-matrix-suite.ts. invariant: I9, I11

import type { Agent } from 'node:https';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { createFixture } from '../../gateway/operator-plane/plumbing/operator-plane.fixture.ts';
import { ROLE_SCOPES, ROLES } from '../../machines/trust/roles.rules.ts';
import {
  type ApiKey,
  type ConsoleUnderTest,
  removeSharedKeys,
  startConsole,
} from './console.fixture.ts';
import { codeOf, heartbeatBody, type Identity, makeKeys, nth } from './peer.ts';

const NOBODY = '018f0000-0000-7000-8000-00000000ffff';
const LIVE = '/api/v2/live';
type Route = {
  readonly method: string;
  readonly path: string;
  /** A scope; `a person`: no key will do; `a maker`: any key, about itself; `nothing`: open. */
  readonly asks: string;
};

let console: ConsoleUnderTest;
let identity: Identity;
let admin: ApiKey;
let routes: readonly Route[];
/** Kept connections, so that what one caller was allowed must not be left over for the next. */
let strangers: Agent;
let sensors: Agent;
const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });
const cookie = { cookie: '__Host-service_session=AAAAAAAAAAAAAAAAAAAAAA' };

/** Calls a route; what would change something is sent a body that breaks off, so it is let in and goes no further. */
function call(route: Route, headers: Record<string, string>, own: Identity | null = null) {
  const { method, path } = route;
  const body = Buffer.from('{');
  const agent = own === null ? strangers : sensors;
  // As from another machine: people of this one may see more.
  const from = { 'x-forwarded-for': '192.0.2.7', ...headers };
  return console.ask(own, path.replaceAll(/:\w+/g, NOBODY), body, { method, headers: from, agent });
}

/** Every route with what it asks for, read from the program's own table. */
async function routesOf(): Promise<readonly Route[]> {
  const fixture = await createFixture();
  const { routes: table } = fixture.app.routeTable;
  await fixture.close();
  return table.map(({ method, url, guard }) => {
    if (guard === undefined) throw new Error(`${method} ${url} has no guard`);
    const person = 'keys' in guard && guard.keys === true ? 'a maker' : 'a person';
    const asks = 'public' in guard ? 'nothing' : 'scope' in guard ? guard.scope : person;
    return { method, path: url, asks };
  });
}

beforeAll(async () => {
  const [started, keys] = await Promise.all([startConsole(), makeKeys(1)]);
  console = started;
  identity = await console.enroll('node', nth(keys, 0));
  admin = await console.newKey(['admin']);
  routes = await routesOf();
  strangers = console.agent(null);
  sensors = console.agent(identity);
});
afterAll(async () => {
  await console.stop();
  await removeSharedKeys();
});

/** What the guard says of callers; an open route that judges by itself says something else. */
const JUDGED = ['credential_required', 'credential_invalid', 'role_required', 'session_required'];
const named = ({ method, path }: Route) => `${method} ${path}`;

describe('attack 8: a credential of one plane on the other', () => {
  it('should open no operator route to a sensor certificate, alone or with a cookie', async () => {
    for (const route of routes.filter(({ asks }) => asks !== 'nothing')) {
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

/** Routes that ask a key for more than the scope they name: all that an admin holds. decision: D62 */
const WHOLE_ADMIN = new Set(['DELETE /api/v2/sso-providers/:id']);

describe('attack 28: every operator route with every kind of caller', () => {
  it('should let in the scope it names and admin, and no other', async () => {
    const none = await console.newKey([]);
    const lookalikes = await console.newKey(['Admin', 'sensors', '*', 'sensors:*', '']);
    const held = new Map<string, ApiKey>();
    for (const { asks } of routes) {
      if (!held.has(asks)) held.set(asks, await console.newKey([asks]));
    }
    for (const [at, route] of routes.filter(({ asks }) => asks !== 'a maker').entries()) {
      const one = held.get(route.asks) ?? none;
      for (const { secret } of [admin, one, at % 2 === 0 ? none : lookalikes]) {
        const answer = await call(route, bearer(secret));
        const isGranted = secret === admin.secret || secret === one.secret;
        const isIn = route.asks === 'nothing' || (isGranted && route.asks !== 'a person');
        const found = [named(route), isGranted, answer.status, codeOf(answer)[1]];
        if (route.asks === 'nothing') expect(JUDGED).not.toContain(codeOf(answer)[1]);
        else if (isIn && secret === one.secret && WHOLE_ADMIN.has(named(route))) {
          expect(found).toEqual([named(route), isGranted, 403, 'role_required']);
        } else if (isIn) expect([401, 403], found.join()).not.toContain(answer.status);
        else if (route.method === 'HEAD') expect(answer.status, found.join()).toBe(403);
        else if (route.asks !== 'a person') {
          expect(found).toEqual([named(route), isGranted, 403, 'role_required']);
        }
      }
    }
  });

  it('should let a person in by its session as by a key, and only from pages of this Console', async () => {
    const own = { 'x-service-csrf': '1', 'sec-fetch-site': 'same-origin' };
    const asking = routes.filter(({ asks }) => asks.includes(':'));
    for (const [roleAt, role] of ROLES.entries()) {
      const scopes: readonly string[] = ROLE_SCOPES[role];
      // Two of the roles try each route; all of them try all in role-matrix.services.test.ts, without a listener.
      for (const route of asking.filter((_, at) => (at + 2 * roleAt) % ROLES.length < 2)) {
        // Somebody else for each: there are more routes than one person may ask for in a minute.
        const session = await console.newSession(role);
        const isChange = !['GET', 'HEAD'].includes(route.method);
        const near = await call(route, { ...session, ...own });
        expect([401, 429], named(route)).not.toContain(near.status);
        const isHeld = scopes.includes(route.asks);
        // A sensor owner holds the scope and owns nothing here.
        const isOwners = ['sensors:write', 'assignments:write'].includes(route.asks);
        // Acts on many are judged sensor by sensor.
        const isBulk = route.path.includes('/bulk-');
        const isIn = isHeld && !(role === 'sensor_owner' && isOwners && !isBulk);
        expect([named(route), role, near.status === 403]).toEqual([named(route), role, !isIn]);
        if (!isChange) continue;
        const far = await call(route, { ...session, 'sec-fetch-site': 'cross-site' });
        expect(codeOf(far)).toEqual([403, 'csrf_refused']);
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
    for (const [routeAt, route] of routes.entries()) {
      // A third of them tries each route, another the next; all of them try all in role-matrix.services.test.ts.
      for (const headers of callers.filter((_, at) => (routeAt + at) % 3 === 0)) {
        const answer = await call(route, headers);
        if (route.asks === 'nothing') expect(JUDGED).not.toContain(codeOf(answer)[1]);
        else expect([named(route), answer.status]).toEqual([named(route), 401]);
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
