// The cookie of a session as it is set and taken away: readable by no script, sent over TLS to this origin only, and not
// along with requests that other sites begin. decision: D37; invariant: I18
import { fastifyCookie } from '@fastify/cookie';
import { SESSION_COOKIE } from './session-cookie.ts';

const ATTRIBUTES = { path: '/', secure: true, httpOnly: true, sameSite: 'lax' } as const;

/** The header that gives a browser its session; it ends with the browser, and at the server whenever it should. */
export function sessionCookie(secret: string): string {
  return fastifyCookie.serialize(SESSION_COOKIE, secret, ATTRIBUTES);
}

/** The header that takes it away. */
export function endedSessionCookie(): string {
  return fastifyCookie.serialize(SESSION_COOKIE, '', { ...ATTRIBUTES, maxAge: 0 });
}
