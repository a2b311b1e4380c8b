// Who is logged in, and what they may do. What the role may not do is not offered; the Console judges every call again.
import { useSuspenseQuery } from '@tanstack/react-query';
import type { Scope } from '../../../machines/trust/roles.rules.ts';
import { asking } from '../api/client.ts';
import type { OwnSession } from '../api/contract.ts';

const STALE_MS = 60_000;

/** Asks who is logged in; 401 when nobody is. */
export const sessionQuestion = () => ({ ...asking('GET /auth/session', {}), staleTime: STALE_MS });

/** The session of this tab; only inside the shell, which makes sure of it. */
export function useSession(): OwnSession {
  return useSuspenseQuery(sessionQuestion()).data;
}

/** Tells whether a scope is held. */
export function useMay(): (scope: Scope) => boolean {
  const { scopes } = useSession();
  return (scope) => scopes.includes(scope);
}
