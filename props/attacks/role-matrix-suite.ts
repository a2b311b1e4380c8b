// Attack 28: every operator route with every kind of caller. The routes are read from the program's own table, so a new
// one is tried without anybody thinking of it; what each caller may do is worked out here from the tables of the
// specification, written down once more, and every answer must agree with it. `npm test` tries a part of the callers that
// differ by one scope, each with its own routes among them, and of those that nobody lets in; the services try all.
// decision: D36; invariant: I18
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sensorIdOf } from '../../gateway/operator-plane/plumbing/operator-plane.fixture.ts';
import type { Route } from '../../gateway/operator-plane/plumbing/route-table.ts';
import { type Role, SCOPES, type Scope } from '../../machines/trust/roles.rules.ts';
import { type ConsoleUnderTest, removeSharedKeys, startConsole } from './console.fixture.ts';
import { bearer, type Caller, createKnockers, type Knockers } from './role-matrix-callers.ts';
import { triedOf } from './stores.fixture.ts';

const UNLIMITED = 10_000_000;
const NOBODY = sensorIdOf(0xffff);
const SAFE = new Set(['GET', 'HEAD', 'OPTIONS']);
/** Routes that anybody may call; each has nothing to tell, or judges by itself. */
const OPEN: readonly string[] = [
  ...['GET /', 'GET /ca.pem', 'GET /livez', 'GET /readyz'],
  ...['GET /version', 'POST /api/v2/auth/login', 'POST /api/v2/auth/reset'],
  ...['GET /api/v2/auth/sso/callback/:id', 'GET /api/v2/auth/sso/providers'],
  ...['GET /api/v2/auth/sso/start', 'GET /install.sh', 'GET /sensor-package/:version/:file'],
];
/** Scopes of resources that are still to come: a key may hold them, no route asks for them yet. */
const RESERVED: readonly string[] = [];
/** What the specification gives each role, told apart by verbs: who reads, who investigates, who acts, who administers. */
const READ_BY_ALL: readonly Scope[] = [
  ...(['sensors:read', 'events:read', 'system:read', 'metrics:read', 'license:read'] as const),
  ...(['teams:read', 'groups:read', 'policies:read', 'exercises:read', 'alerts:read'] as const),
  ...(['investigations:read', 'alert-rules:read', 'searches:read'] as const),
];
const INVESTIGATES: readonly Scope[] = [
  ...(['alerts:write', 'investigations:write', 'alert-rules:write'] as const),
  ...(['searches:write', 'usual:write'] as const),
];
const OPERATES: readonly Scope[] = [
  ...(['sensors:write', 'tokens:read', 'tokens:write', 'groups:write', 'policies:write'] as const),
  'assignments:write',
  ...(['exercises:write', 'audit:read', 'settings:read', 'webhooks:read'] as const),
  ...(['siem:read', 'exports:read', 'digests:read'] as const),
];
const MAY: Readonly<Record<Role, readonly Scope[]>> = {
  viewer: READ_BY_ALL,
  analyst: [...READ_BY_ALL, ...INVESTIGATES],
  sensor_owner: [...READ_BY_ALL, ...INVESTIGATES, 'sensors:write', 'assignments:write'],
  operator: [...READ_BY_ALL, ...INVESTIGATES, ...OPERATES],
  admin: SCOPES,
};

type Verdict = 'in' | readonly [status: number, code: string];

let console: ConsoleUnderTest;
let knockers: Knockers;
/** A sensor that one person of each role owns. */
let owned: string;
let routes: readonly Route[];
let callers: readonly Caller[];
const named = ({ method, url }: Pick<Route, 'method' | 'url'>) => `${method} ${url}`;

/** What the answer has to be, from the two tables alone. */
function expected({ guard, method }: Route, caller: Caller, isOwned: boolean): Verdict {
  if (guard === undefined) throw new Error('a route without a guard');
  if ('public' in guard) return 'in';
  if (caller.is === 'nobody') return [401, 'credential_required'];
  if (caller.is === 'refused') return [401, 'credential_invalid'];
  const takesKeys = 'scope' in guard || ('keys' in guard && guard.keys === true);
  if (caller.is === 'key' && !takesKeys) return [403, 'session_required'];
  if (caller.is === 'cross-site' && !SAFE.has(method)) return [403, 'csrf_refused'];
  // Half a session gets what it lacks, a second factor, and no new password before it.
  const isHalf = caller.is === 'partial';
  if ('partial' in guard) {
    return isHalf && guard.of === 'password' ? [403, 'second_factor_required'] : 'in';
  }
  if (isHalf) return [403, 'second_factor_required'];
  if ('self' in guard) return 'in';
  const held = MAY[caller.role].filter((scope) => caller.scopes.includes(scope));
  if (!held.includes(guard.scope)) return [403, 'role_required'];
  const isOwner = caller.role === 'sensor_owner';
  // An owner holds it for one owned sensor at a time.
  const reachesFurther = guard.scope === 'assignments:write' && guard.owned === undefined;
  if (isOwner && reachesFurther) return [403, 'role_required'];
  const isBound = guard.owned === 'sensor' && isOwner;
  return isBound && !isOwned ? [403, 'not_owner'] : 'in';
}

/**
 * Calls a route. What may change something is sent a body that breaks off, so that it is let in and goes no further:
 * the guard answers before a body is read.
 */
async function call({ method, url }: Route, headers: Caller['headers'], id = NOBODY) {
  const isSafe = SAFE.has(method);
  const { statusCode, body } = await console.app.inject({
    method: method as 'GET',
    // Not from this machine, whose people may see more.
    remoteAddress: '192.0.2.7',
    url: url.replaceAll(/:\w+/g, id).replace('*', 'x'),
    headers: isSafe ? headers : { ...headers, 'content-type': 'application/json' },
    ...(isSafe ? {} : { payload: '{' }),
  });
  return { status: statusCode, code: codeOf(body) };
}

function codeOf(body: string): string | null {
  // Most answers have none, and some are long.
  if (!body.includes('"code"')) return null;
  try {
    const parsed: unknown = JSON.parse(body);
    const isProblem = typeof parsed === 'object' && parsed !== null && 'code' in parsed;
    return isProblem ? String(parsed.code) : null;
  } catch {
    return null;
  }
}

const GUARDS: ReadonlySet<string | null> = new Set([
  ...['credential_required', 'session_required', 'second_factor_required', 'csrf_refused'],
  ...['role_required', 'not_owner', 'rate_limited'],
]);

/** Tries one route with one caller and says what was wrong; null when all was right. */
async function mistake(route: Route, caller: Caller, id = NOBODY): Promise<unknown> {
  const verdict = expected(route, caller, id.toLowerCase() === owned);
  const { status, code } = await call(route, caller.headers, id);
  const found = [named(route), caller.name, status, code];
  // A HEAD has no body to tell a code.
  if (verdict !== 'in') {
    const isRight = status === verdict[0] && (route.method === 'HEAD' || code === verdict[1]);
    return isRight ? null : [...found, 'in place of', ...verdict];
  }
  if (!SAFE.has(route.method)) return code === 'malformed_body' ? null : [...found, 'not let in'];
  const isIn = 'public' in (route.guard ?? {}) || (status !== 401 && !GUARDS.has(code));
  return isIn ? null : [...found, 'not let in'];
}

/** Of those that nobody lets in, whatever the route, one in so many tries each where not all do. */
const REFUSED_SHARE = 3;

/** Who tries a route: everybody, or each whose scope it asks for and one in `share` of those that differ by a scope. */
function triersOf(route: Route, at: number, share: number): readonly Caller[] {
  const { guard, method } = route;
  const asked = guard !== undefined && 'scope' in guard ? guard.scope : null;
  return callers.filter(({ is, name, scopes }, index) => {
    const isOneScope = is === 'key' && scopes.length === 1;
    // HEAD is GET without its body; the callers that differ by one scope of one role need not try both.
    if (method === 'HEAD' && (name.includes(': ') || (share > 1 && (at + index) % 4 > 0)))
      return false;
    if (share > 1 && is === 'refused') return (at + index) % REFUSED_SHARE === 0;
    return !isOneScope || scopes[0] === asked || (at + index) % share === 0;
  });
}

/** Declares the attack; of the callers that differ by one scope, one in `share` tries each route. */
export function describeRoleMatrix(share: number): void {
  beforeAll(async () => {
    console = await startConsole({ budget: UNLIMITED, credentialBudget: UNLIMITED });
    // The edge of an expiry is met to the millisecond, and the clock of the callers is the Console's.
    console.holdAt(console.time.now());
    owned = (await console.enroll('owned')).sensorId;
    knockers = createKnockers(console, owned);
    routes = console.app.routeTable.routes;
    callers = await knockers.gather();
  });
  afterAll(async () => {
    await console.stop();
    await removeSharedKeys();
  });

  it('should know every route, each with its guard, and leave open only what is meant to be', () => {
    expect(routes.length).toBeGreaterThan(60);
    expect(routes.filter(({ guard }) => guard === undefined)).toEqual([]);
    for (const { method, url } of routes) {
      expect(console.app.hasRoute({ method: method as 'GET', url })).toBe(true);
    }
    const printed = console.app.printRoutes({ commonPrefix: false });
    const methods = [...printed.matchAll(/ \(([A-Z, ]+)\)/g)].flatMap(([, all]) =>
      all?.split(', '),
    );
    expect(methods.length).toBe(routes.length);
    const open = routes.filter(({ guard, method }) => {
      return guard !== undefined && 'public' in guard && method !== 'HEAD';
    });
    expect(open.map(named).sort()).toEqual([...OPEN].sort());
    const asked = new Set(
      routes.flatMap(({ guard }) => (guard && 'scope' in guard ? guard.scope : [])),
    );
    const reserved = SCOPES.filter((scope) => !asked.has(scope));
    expect(reserved.sort()).toEqual([...RESERVED].sort());
  });

  it('should let in exactly whom the tables let in', async () => {
    expect(callers.length).toBeGreaterThan(200);
    const shown = new Set(callers.map(({ headers }) => JSON.stringify(headers)));
    expect(shown.size).toBe(callers.length);
    const mistakes: unknown[] = [];
    for (const [at, route] of triedOf([...routes.entries()])) {
      for (const caller of triersOf(route, at, share)) {
        const found = await mistake(route, caller);
        if (found !== null) mistakes.push(found);
      }
    }
    expect(mistakes).toEqual([]);
  }, 600_000);

  it('should let a sensor owner act on its own sensors and on no other', async () => {
    const bound = routes.filter(({ guard }) => guard !== undefined && 'owned' in guard);
    expect(bound.map(named)).toEqual(
      expect.arrayContaining(['POST /api/v2/sensors/:id/revoke', 'PATCH /api/v2/sensors/:id']),
    );
    const owners = callers.filter(({ role }) => role === 'sensor_owner');
    const stranger = await knockers.pageOf(await knockers.addUser('sensor_owner'));
    for (const route of triedOf(bound)) {
      for (const caller of owners) {
        for (const id of [owned, owned.toUpperCase(), NOBODY]) {
          const told = { ...caller, name: `${caller.name} ${id}` };
          expect(await mistake(route, told, id)).toBeNull();
        }
      }
      expect(await call(route, stranger, owned)).toEqual({ status: 403, code: 'not_owner' });
    }
  });

  it('should follow a role that is lowered, with the next request, and end a key whose role is raised', async () => {
    const userId = await knockers.addUser('admin');
    const key = bearer((await knockers.addKey(['admin'], userId)).secret);
    const revoke = routes.find(({ url }) => url === '/api/v2/sensors/:id/revoke');
    if (revoke === undefined) throw new Error('no such route');
    const codes: unknown[] = [(await call(revoke, key)).code];
    for (const role of ['operator', 'analyst', 'viewer', 'operator'] as const) {
      await knockers.setRole(userId, role);
      codes.push((await call(revoke, key)).code);
    }
    expect(codes).toEqual([
      ...['malformed_body', 'malformed_body', 'role_required', 'role_required'],
      'credential_invalid',
    ]);
  });

  it('should let nobody but an admin raise a role', async () => {
    const raising = routes.filter(({ url, method }) => {
      return /^\/api\/v2\/users(\/:id)?$/.test(url) && !SAFE.has(method);
    });
    expect(raising.map(named)).toEqual(
      expect.arrayContaining(['PATCH /api/v2/users/:id', 'POST /api/v2/users']),
    );
    for (const route of raising) {
      for (const caller of callers.filter(({ role }) => role !== 'admin')) {
        expect((await call(route, caller.headers)).status).toBeGreaterThanOrEqual(401);
      }
    }
  });
}
