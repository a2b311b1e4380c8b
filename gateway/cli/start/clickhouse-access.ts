// Where ClickHouse is, and who may ask it.

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
  parsed.username = '';
  parsed.password = '';
  return {
    url: parsed.toString(),
    username: decodeURIComponent(username) || 'default',
    password: decodeURIComponent(password),
  };
}
