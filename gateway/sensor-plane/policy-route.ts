// GET /sensors/policies/{pack_id}/{version} and /sensors/policies/custom/{revision}: what is assigned to the asking sensor
// now. Anything else is not there, whether it exists or not. invariant: I9; decision: D83
import { refuse } from '../../machines/errors.ts';
import type { CustomPack, SignedPack } from '../../machines/wire/policy.ts';
import { StoreUnavailable } from '../../storage/ports/plumbing/store-unavailable.ts';
import type { Exchange } from '../listener/exchange.ts';
import { respond } from '../listener/respond.ts';
import { admit, answerRefusal } from './admission.ts';
import type { AdmissionDeps } from './deps.ts';

export type PolicyDownloads = {
  /** Null when it is not this sensor's now. */
  pack(
    sensorId: string,
    packId: string,
    version: number,
  ): Promise<{ readonly pack: SignedPack; readonly etag: string } | null>;
  custom(sensorId: string, revision: number): Promise<CustomPack | null>;
};
type Deps = AdmissionDeps & { readonly downloads: PolicyDownloads };

const NOT_HERE = refuse('not_found', 'No such policies are assigned to this sensor.');
const NUMBER = /^\d{1,10}$/;

/** Handles one download. */
export async function handlePolicyDownload(deps: Deps, exchange: Exchange): Promise<void> {
  const identity = await admit(deps, exchange);
  if (identity === null) return;
  const [, , , first = '', second = '', more] = exchange.request.path.split('/');
  if (!NUMBER.test(second) || more !== undefined) return answerRefusal(exchange, NOT_HERE);
  try {
    const found = await find(deps.downloads, identity.sensorId, first, Number(second));
    if (found === null) return answerRefusal(exchange, NOT_HERE);
    const headers = { etag: found.etag, 'cache-control': 'no-store' };
    if (exchange.request.headers.get('if-none-match') === found.etag) {
      respond(exchange, { status: 304, headers });
      return;
    }
    const body = JSON.stringify(found.body);
    respond(exchange, {
      status: 200,
      headers: { ...headers, 'content-type': 'application/json' },
      body,
    });
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    const retryAfterMs = deps.intervals.RETRY_AFTER_STORE_MS;
    answerRefusal(exchange, refuse('store_unavailable', 'The database is away.', { retryAfterMs }));
  }
}

async function find(
  downloads: PolicyDownloads,
  sensorId: string,
  first: string,
  number: number,
): Promise<{ readonly etag: string; readonly body: unknown } | null> {
  if (first === 'custom') {
    const custom = await downloads.custom(sensorId, number);
    return custom === null ? null : { etag: `"custom-${number}"`, body: custom };
  }
  const found = await downloads.pack(sensorId, first, number);
  return found === null ? null : { etag: `"${found.etag}"`, body: found.pack };
}
