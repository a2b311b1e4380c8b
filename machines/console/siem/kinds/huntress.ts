// Huntress' generic HTTP event collector, which has the form of Splunk's: JSON objects one after another, each with its event
// on top and time, host, source and sourcetype beside it.
import { SIEM_HUNTRESS_BATCH_MAX_BYTES } from '../limits.ts';
import { linesOf, type SiemKind, SOURCE, withPath } from './kind.ts';

const PATH = '/services/collector/event';

export const huntress: SiemKind = {
  rank: 1,
  ...{ transport: 'https', token: 'needed', isPathSecret: false, isCompressed: false },
  batchMaxBytes: SIEM_HUNTRESS_BATCH_MAX_BYTES,
  lay(event, { category, sourceName }) {
    return JSON.stringify({
      // Seconds since the epoch, with milliseconds.
      time: Number((Date.parse(event.observed_at) / 1_000).toFixed(3)),
      host: event.node_name,
      source: sourceName ?? SOURCE,
      sourcetype: category ?? `${SOURCE}:event`,
      event,
    });
  },
  body: linesOf,
  request: ({ url, token }) => ({
    url: withPath(url, PATH),
    headers: { authorization: `Splunk ${token}`, 'content-type': 'application/json' },
  }),
};
