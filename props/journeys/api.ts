// The operator API as the command line reaches it: with the context that quick start leaves behind.
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { Home } from './programs.ts';

export type Answer = {
  readonly status: number;
  readonly body: unknown;
  readonly headers: NodeJS.Dict<string | string[]>;
};
type Context = { readonly url: string; readonly token: string; readonly ca_pem: string };

/** The context file of a home. */
export function contextOf(home: Home): Context {
  const file = parse(
    readFileSync(join(home.folder, 'config', 'service', 'config.yaml'), 'utf8'),
  ) as {
    current: string;
    contexts: Record<string, Context>;
  };
  const context = file.contexts[file.current];
  if (context === undefined) throw new Error('the context file names no current context');
  return context;
}

/** One call of the operator API, with the key of the context. */
export function api(home: Home, method: string, path: string, body?: unknown): Promise<Answer> {
  const { token } = contextOf(home);
  return apiAs(home, { authorization: `Bearer ${token}` }, method, path, body);
}

/** One call of whoever these headers say. */
export function apiAs(
  home: Home,
  who: Readonly<Record<string, string>>,
  method: string,
  path: string,
  body?: unknown,
): Promise<Answer> {
  const { ca_pem: ca } = contextOf(home);
  const text = body === undefined ? undefined : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const call = request(
      {
        host: '127.0.0.1',
        servername: 'localhost',
        port: home.port,
        path,
        method,
        ca,
        headers: {
          ...who,
          ...(text === undefined
            ? {}
            : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
        },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const raw = Buffer.concat(chunks).toString();
          resolve({
            status: response.statusCode ?? 0,
            body: raw === '' ? null : safeParse(raw),
            headers: response.headers,
          });
        });
      },
    );
    call.on('error', reject);
    call.end(text);
  });
}

/** The items of a list. */
export async function items<T>(home: Home, path: string): Promise<T[]> {
  const answer = await api(home, 'GET', path);
  if (answer.status !== 200)
    throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return (answer.body as { items: T[] }).items;
}

/** The items of a list, of all its pages; the path has a query already. */
export async function allItems<T>(home: Home, path: string): Promise<T[]> {
  const all: T[] = [];
  let next: string | null = '';
  while (next !== null) {
    const at: string = next === '' ? path : `${path}&cursor=${encodeURIComponent(next)}`;
    const { status, body } = await api(home, 'GET', at);
    if (status !== 200) throw new Error(`${at}: ${status} ${JSON.stringify(body)}`);
    const page = body as { readonly items: readonly T[]; readonly next_cursor: string | null };
    all.push(...page.items);
    next = page.next_cursor;
  }
  return all;
}

function safeParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
