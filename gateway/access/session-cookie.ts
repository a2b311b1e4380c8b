// The cookie that carries a session: its name binds it to this origin and to TLS. Whoever presents anything but one
// well-formed value presents none. invariant: I18
import { fastifyCookie } from '@fastify/cookie';

export const SESSION_COOKIE = '__Host-service_session';
// 32 random bytes as base64url.
const VALUE = /^[0-9A-Za-z_-]{43}$/;

/** The session's secret in a Cookie header; null when there is none that could be one. */
export function sessionCookieOf(header: string | undefined): string | null {
  if (header === undefined) return null;
  const value = fastifyCookie.parse(header)[SESSION_COOKIE];
  return value !== undefined && VALUE.test(value) ? value : null;
}
