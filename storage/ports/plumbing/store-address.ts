// The address of a store as people may see it: everything that could be a secret is masked. decision: D42; invariant: I11

const MASK = '***';
/** Parameters that say how to connect and nothing that has to be kept. */
const PLAIN: ReadonlySet<string> = new Set([
  ...['sslmode', 'application_name', 'connect_timeout', 'target_session_attrs', 'options'],
  ...['host', 'port', 'dbname', 'database', 'db', 'family', 'protocol', 'sslrootcert'],
]);
const PARAMETER = /([?&]|^)([^=&#]*)=([^&#]*)/g;
const USER_INFO = /(^|\/\/|,)[^/@,\s]*:[^/@\s]*@/g;

/** Masks a text that names a store, whatever form it has. */
export function withoutSecrets(address: string): string {
  if (!URL.canParse(address) || !address.includes('://')) {
    return maskedParameters(address.replaceAll(USER_INFO, `$1${MASK}@`));
  }
  if (secretsIn(address).length === 0 && new URL(address).username === '') return address;
  const url = new URL(address);
  if (url.password !== '') url.password = MASK;
  // A user without a password is often a token.
  else if (url.username !== '' && url.protocol.startsWith('http')) url.username = MASK;
  const { search, hash } = url;
  url.search = '';
  url.hash = '';
  return url.toString() + maskedParameters(search) + (hash === '' ? '' : `#${MASK}`);
}

/** Every secret of an address, as it stands there and decoded; longest first. */
export function secretsIn(address: string): readonly string[] {
  const url = URL.canParse(address) ? new URL(address) : null;
  const values = [...address.matchAll(PARAMETER)]
    .filter(([, , name = '']) => !PLAIN.has(name.toLowerCase()))
    .map(([, , , value = '']) => value);
  const userInfo = [...address.matchAll(/:([^/:@\s]+)@/g)].map(([, value = '']) => value);
  const all = [url?.password ?? '', ...values, ...userInfo].flatMap((one) => [one, decoded(one)]);
  return [...new Set(all)].filter((one) => one !== '').sort((a, b) => b.length - a.length);
}

function maskedParameters(search: string): string {
  return search.replaceAll(PARAMETER, (whole, before: string, name: string) =>
    PLAIN.has(name.toLowerCase()) ? whole : `${before}${name}=${MASK}`,
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
