// Whether a store can be reached and used, tried once, before anything depends on it. A test ends within its time, and its
// reason holds no password. decision: D42
import { secretsIn } from './store-address.ts';

export type ConnectionResult =
  /** What was found there, for people. */
  { readonly ok: true; readonly about: string } | { readonly ok: false; readonly reason: string };

export const TESTED_STORES = ['database', 'analytics', 'broker', 'redis'] as const;
export type TestedStore = (typeof TESTED_STORES)[number];
/** Each takes a URL that has the form its store needs. Never rejects. */
export type ConnectionTests = Readonly<
  Record<TestedStore, (url: string) => Promise<ConnectionResult>>
>;

/** The reason of a failure without the secrets of the address. */
export function reasonWithout(url: string, error: unknown): string {
  const { message, code } = error as { readonly message?: unknown; readonly code?: unknown };
  const text = String(message === undefined || message === '' ? (code ?? error) : message);
  return secretsIn(url)
    .reduce((masked, one) => masked.replaceAll(one, '***'), text)
    .slice(0, 500);
}
