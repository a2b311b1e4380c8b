// A browser in small: it keeps cookies by host and path, follows redirects one by one, and reaches every host through the
// port that a test gives it.
import { request } from 'node:https';
import { agentTo } from './oidc-peer.ts';

export type Page = {
  readonly url: string;
  readonly status: number;
  readonly location: string | null;
  readonly body: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
};
export type Site = { readonly port: number; readonly ca: string };
export type Browser = ReturnType<typeof createBrowser>;

type Cookie = { readonly name: string; readonly value: string; readonly path: string };
const REDIRECTS_MAX = 12;

/** Makes a browser without cookies; `siteOf` names where a host (with its port) is found. */
export function createBrowser(siteOf: (host: string) => Site) {
  const jars = new Map<string, Map<string, Cookie>>();

  function jarOf(host: string): Map<string, Cookie> {
    const jar = jars.get(host) ?? new Map<string, Cookie>();
    jars.set(host, jar);
    return jar;
  }

  function keep(host: string, line: string): void {
    const [pair = '', ...attributes] = line.split(';').map((part) => part.trim());
    const at = pair.indexOf('=');
    const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
    const given = new Map(
      attributes.map((one): [string, string] => {
        const [key = '', ...rest] = one.split('=');
        return [key.toLowerCase(), rest.join('=')];
      }),
    );
    const path = given.get('path') ?? '/';
    if (
      name.startsWith('__Host-') &&
      (path !== '/' || !given.has('secure') || given.has('domain'))
    ) {
      return;
    }
    const isOver =
      Date.parse(given.get('expires') ?? '') < Date.now() || given.get('max-age') === '0';
    const key = `${name} ${path}`;
    if (isOver) jarOf(host).delete(key);
    else jarOf(host).set(key, { name, value, path });
  }

  function open(
    address: string,
    more: {
      readonly method?: string;
      readonly headers?: Record<string, string>;
      readonly body?: string;
    } = {},
  ): Promise<Page> {
    const url = new URL(address);
    const { port, ca } = siteOf(url.host);
    const cookies = [...jarOf(url.host).values()].filter(({ path }) =>
      url.pathname.startsWith(path),
    );
    const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
    return new Promise((resolve, reject) => {
      const headers = { ...(cookie === '' ? {} : { cookie }), ...more.headers };
      const options = { ca, agent: agentTo(port), method: more.method ?? 'GET', headers };
      const outgoing = request(url, options, (incoming) => {
        const chunks: Buffer[] = [];
        for (const line of incoming.headers['set-cookie'] ?? []) keep(url.host, line);
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.on('error', reject);
        incoming.on('end', () => {
          const { location } = incoming.headers;
          resolve({
            url: url.href,
            status: incoming.statusCode ?? 0,
            location: location === undefined ? null : new URL(location, url).href,
            body: Buffer.concat(chunks).toString(),
            headers: incoming.headers,
          });
        });
      });
      outgoing.on('error', reject);
      outgoing.end(more.body);
    });
  }

  return {
    open,
    /** Follows redirects until there is none, or until the next address is one to stop at. */
    async follow(address: string, stopAt: (url: string) => boolean = () => false): Promise<Page> {
      let page = await open(address);
      for (let hops = 0; page.location !== null && hops < REDIRECTS_MAX; hops += 1) {
        if (stopAt(page.location)) return page;
        page = await open(page.location);
      }
      return page;
    },
    cookie: (host: string, name: string): string | null =>
      [...jarOf(host).values()].find((one) => one.name === name)?.value ?? null,
    setCookie(host: string, name: string, value: string): void {
      jarOf(host).set(`${name} /`, { name, value, path: '/' });
    },
  };
}
