// The first run's API. Its token lives as long as the tab does.
import type { SetupView } from '../../setup/setup-routes.ts';
import { API } from '../api/client.ts';
import { problemOf, unreachable } from '../api/problem.ts';

export type View = Omit<SetupView, 'state' | 'answers'> & {
  readonly state: string;
  readonly answers: Readonly<Record<string, string | undefined>>;
};
export type Locked = { readonly state: 'awaiting_code'; readonly version: string };
export type StepName = SetupView['steps'][number]['step'];

const KEY = 'setup-token';

/** Asks the setup; rejects with an ApiProblem. */
export async function askSetup<T>(method: string, path: string, body?: unknown): Promise<T> {
  const token = sessionStorage.getItem(KEY);
  const headers: Record<string, string> = { accept: 'application/json' };
  if (token !== null) headers['authorization'] = `Bearer ${token}`;
  if (body !== undefined) headers['content-type'] = 'application/json';
  const answer = await fetch(`${API}/setup${path}`, {
    ...{ method, headers, cache: 'no-store' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch(() => {
    throw unreachable();
  });
  if (!answer.ok) throw await problemOf(answer);
  return (await answer.json()) as T;
}

/** Exchanges the code for the token and keeps it. */
export async function unlock(code: string): Promise<View> {
  const { token, ...view } = await askSetup<View & { token: string }>('POST', '/unlock', { code });
  sessionStorage.setItem(KEY, token);
  return view;
}

/** Whether the Console serves, after it started again. */
export async function isServing(): Promise<boolean> {
  const answer = await fetch('/readyz', { cache: 'no-store' }).catch(() => null);
  return answer?.ok === true;
}

export function forgetToken(): void {
  sessionStorage.removeItem(KEY);
}
