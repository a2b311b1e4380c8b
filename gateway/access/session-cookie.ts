// The cookie that carries a session: its name binds it to this origin and to TLS. Whoever presents anything but one
// well-formed value presents none; two values of one name are somebody's attempt to plant one. invariant: I18
export const SESSION_COOKIE = '__Host-service_session';
// 32 random bytes as base64url, as this Console makes them.
const VALUE = /^[0-9A-Za-z_-]{43}$/;

/** The session's secret in a Cookie header; null when there is none that could be one. */
export function sessionCookieOf(header: string | undefined): string | null {
  const pairs = (header ?? '').split(';').map((pair) => pair.trim());
  const values = pairs
    .filter((pair) => pair.startsWith(`${SESSION_COOKIE}=`))
    .map((pair) => pair.slice(SESSION_COOKIE.length + 1));
  const [value] = values;
  return values.length === 1 && value !== undefined && VALUE.test(value) ? value : null;
}
