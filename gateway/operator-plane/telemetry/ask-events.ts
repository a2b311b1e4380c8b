// One question of a request to the event store: in the caller's turn, within the deadline, and ended when the caller has
// gone or the deadline has come.
import type { FastifyRequest } from 'fastify';
import { SEARCH_TIMEOUT_MS } from '../../../machines/limits.ts';
import { principalOf } from '../../access/operator.ts';
import { withinDeadline } from '../plumbing/deadline.ts';
import { operatorOf } from '../plumbing/guard.ts';
import { currentScope } from '../plumbing/request-scope.ts';
import type { SearchTurns } from './search-turns.ts';

/** The store's answer. Throws QuestionTimedOut, RefusedSearch, or what the store throws. */
export function askEvents<T>(
  searches: SearchTurns,
  request: FastifyRequest,
  ask: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const gone = currentScope()?.signal;
  const late = AbortSignal.timeout(SEARCH_TIMEOUT_MS);
  const signal = gone === undefined ? late : AbortSignal.any([gone, late]);
  const caller = principalOf(operatorOf(request));
  return withinDeadline(searches.run(caller, signal, () => ask(signal)));
}
