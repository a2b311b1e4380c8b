// Who asks about its own second factor, as the desks want it.
import type { FastifyRequest } from 'fastify';
import type { FactorAsking } from '../../../actors/access/second-factor-service.ts';
import { personOf } from '../plumbing/guard.ts';

/** The person of a request, with the session it asks in. */
export function askingOfPerson(request: FastifyRequest): FactorAsking {
  const { userId, hash, stage, actor } = personOf(request);
  return { userId, session: { hash, stage }, actor, from: request.ip };
}
