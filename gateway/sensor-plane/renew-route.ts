// POST /sensors/renew: a new certificate for the holder of the current one.
import type { Renewal } from '../../actors/trust/renewal.ts';
import { ENROLL_BODY_MAX_BYTES } from '../../machines/limits.ts';
import { RenewRequest } from '../../machines/wire/enrollment.ts';
import { parserOf } from '../../machines/wire/parse.ts';
import type { Exchange } from '../listener/exchange.ts';
import { respondJson } from '../listener/respond.ts';
import { admitWithBody, answerRefusal } from './admission.ts';
import type { AdmissionDeps } from './deps.ts';

const parse = parserOf(RenewRequest);

/** Handles one renewal. */
export async function handleRenew(
  deps: AdmissionDeps & { readonly renew: Renewal },
  exchange: Exchange,
): Promise<void> {
  const admitted = await admitWithBody(deps, exchange, { maxBytes: ENROLL_BODY_MAX_BYTES });
  if (admitted === null) return;
  const request = parse(admitted.text);
  if (!request.ok) return answerRefusal(exchange, request);
  const { identity } = admitted;
  const outcome = await deps.renew({
    identity,
    csrPem: request.value.csr_pem,
    from: exchange.request.remoteAddress,
  });
  if (!outcome.ok) return answerRefusal(exchange, outcome);
  respondJson(exchange, 200, outcome.response);
}
