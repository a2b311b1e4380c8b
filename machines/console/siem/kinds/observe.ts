// Observe's HTTP collection: newline-delimited JSON by content type, a bearer token, gzip. What stands in the query of the
// address becomes tags there.
import { SIEM_OBSERVE_BATCH_MAX_BYTES } from '../limits.ts';
import { linesOf, type SiemKind } from './kind.ts';

export const observe: SiemKind = {
  rank: 0,
  ...{ transport: 'https', token: 'needed', isPathSecret: false, isCompressed: true },
  batchMaxBytes: SIEM_OBSERVE_BATCH_MAX_BYTES,
  lay: (event) => JSON.stringify(event),
  body: linesOf,
  request: ({ url, token }) => ({
    url,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' },
  }),
};
