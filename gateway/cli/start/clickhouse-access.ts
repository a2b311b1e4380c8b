// Where ClickHouse is, and who may ask it. An address without a port means the port at which ClickHouse speaks HTTP, never
// that of the web: 8123, and 8443 with TLS.
const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '8123', 'https:': '8443' };

export type ClickhouseAccess = {
  readonly url: string;
  readonly username: string;
  readonly password: string;
};

/** Takes user and password out of a ClickHouse URL; null stays null (= the embedded store). */
export function clickhouseAccessOf(url: string | null): ClickhouseAccess | null {
  if (url === null) return null;
  const parsed = new URL(url);
  const { username, password } = parsed;
  if (!namesPort(url)) parsed.port = DEFAULT_PORTS[parsed.protocol] ?? '';
  parsed.username = '';
  parsed.password = '';
  return {
    url: parsed.toString(),
    username: decodeURIComponent(username) || 'default',
    password: decodeURIComponent(password),
  };
}

// The parser drops a port that is usual for the scheme, so the text itself is asked.
function namesPort(url: string): boolean {
  const [, authority = ''] = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(url) ?? [];
  return /:\d+$/.test(authority.slice(authority.lastIndexOf('@') + 1));
}
