// The one way to the API. Same origin, the session's cookie, the header that no form can send, and a problem for whatever
// is no success.
import { type keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import type { AnswerOf, BodyOf, Operation, ParamsOf, QueryOf } from './contract.ts';
import { askFresh } from './fresh.ts';
import { ApiProblem, problemOf, unreachable } from './problem.ts';

export const API = '/api/v2';
const CSRF = { 'x-service-csrf': '1' };

/** What the Console says of a session that ended; a wrong password is another code. */
const LOST: ReadonlySet<string> = new Set(['credential_required', 'credential_invalid']);
let sessionIsLost = (): void => undefined;

/** Says what is done when a call finds that this tab's session has ended. */
export function whenSessionIsLost(act: () => void): void {
  sessionIsLost = act;
}

type Needed<T, Name extends string> = [T] extends [never]
  ? object
  : Record<never, never> extends T
    ? { readonly [N in Name]?: T }
    : { readonly [N in Name]: T };
export type CallOptions<O extends Operation> = Needed<QueryOf<O>, 'query'> &
  Needed<BodyOf<O>, 'body'> &
  Needed<ParamsOf<O>, 'params'>;
type Loose = {
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly params?: Readonly<Record<string, string>>;
};

/** Calls the API; rejects with an ApiProblem. One that asks for fresh credentials waits for them and goes on. */
export async function call<O extends Operation>(
  operation: O,
  options: CallOptions<O>,
  signal?: AbortSignal,
): Promise<AnswerOf<O>> {
  try {
    return await callOnce(operation, options, signal);
  } catch (error) {
    const isAsked = error instanceof ApiProblem && error.code === 'fresh_login_required';
    if (!isAsked || !(await askFresh())) throw error;
    return callOnce(operation, options, signal);
  }
}

async function callOnce<O extends Operation>(
  operation: O,
  options: CallOptions<O>,
  signal?: AbortSignal,
): Promise<AnswerOf<O>> {
  const { body } = options as Loose;
  const [method = 'GET'] = operation.split(' ', 1);
  const headers: Record<string, string> = { accept: 'application/json', ...CSRF };
  if (body !== undefined) headers['content-type'] = 'application/json';
  const answer = await fetch(addressOf(operation, options), {
    method,
    headers,
    credentials: 'same-origin',
    cache: 'no-store',
    ...(signal === undefined ? {} : { signal }),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch((error: unknown) => {
    throw signal?.aborted === true ? error : unreachable();
  });
  if (!answer.ok) {
    const problem = await problemOf(answer);
    if (LOST.has(problem.code) && operation !== 'GET /auth/session') sessionIsLost();
    throw problem;
  }
  return (answer.status === 204 ? null : await answer.json()) as AnswerOf<O>;
}

/** Where a call goes, with its parameters in place. */
export function addressOf<O extends Operation>(operation: O, options: CallOptions<O>): string {
  const { query, params = {} } = options as Loose;
  const [, template = ''] = operation.split(' ', 2);
  const path = template.replaceAll(/:(\w+)/g, (_all, name: string) =>
    encodeURIComponent(params[name] ?? ''),
  );
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    for (const one of [value].flat()) {
      if (one !== undefined && one !== null) search.append(name, String(one));
    }
  }
  const asked = search.toString();
  return `${API}${path}${asked === '' ? '' : `?${asked}`}`;
}

/** A question of the API, for the cache; its key begins with the operation. */
export function asking<O extends Operation>(operation: O, options: CallOptions<O>) {
  return queryOptions({
    queryKey: [operation, options] as const,
    queryFn: ({ signal }) => call(operation, options, signal),
  });
}

/** The answer to a question, fetched when need be and kept. */
export function useApi<O extends Operation>(
  operation: O,
  options: CallOptions<O>,
  more: {
    readonly enabled?: boolean;
    readonly refetchInterval?: number;
    readonly placeholderData?: typeof keepPreviousData;
  } = {},
) {
  return useQuery({ ...asking(operation, options), ...more });
}
