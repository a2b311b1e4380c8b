// POST /sensors/enroll: the one route of the plane without a certificate, so its address pays; a success gives the
// request back. decision: D15
import type { Enrollment } from '../../actors/trust/enrollment.ts';
import { ENROLL_BODY_MAX_BYTES } from '../../machines/limits.ts';
import { EnrollRequest } from '../../machines/wire/enrollment.ts';
import { parserOf } from '../../machines/wire/parse.ts';
import type { Exchange } from '../listener/exchange.ts';
import { respondJson } from '../listener/respond.ts';
import { answerRefusal, readText, takeBudget } from './admission.ts';
import type { AdmissionDeps } from './deps.ts';

const parse = parserOf(EnrollRequest);

/** Handles one enrollment. */
export async function handleEnroll(
  deps: AdmissionDeps & { readonly enroll: Enrollment },
  exchange: Exchange,
): Promise<void> {
  const reading = readText(deps, exchange, { maxBytes: ENROLL_BODY_MAX_BYTES });
  const budget = await takeBudget(deps, exchange);
  const body = await reading;
  if (budget === null || (!body.ok && body.code === 'aborted')) return;
  if (!body.ok) return answerRefusal(exchange, body);
  const request = parse(body.text);
  if (!request.ok) return answerRefusal(exchange, request);
  const outcome = await deps.enroll(request.value, { address: exchange.request.remoteAddress });
  if (!outcome.ok) return answerRefusal(exchange, outcome);
  await deps.budget.reward(budget.key);
  respondJson(exchange, 201, outcome.response);
}
