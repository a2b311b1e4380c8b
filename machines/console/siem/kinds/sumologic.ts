// Sumo Logic's HTTP source: one JSON object a line, gzip, about 1 MB a request. Its token is part of the path of its address,
// or stands in an Authorization header; category, name and host go into headers of its own.
import { SIEM_SUMOLOGIC_BATCH_MAX_BYTES } from '../limits.ts';
import { headerText, linesOf, type SiemKind, SOURCE } from './kind.ts';

export const sumologic: SiemKind = {
  rank: 2,
  ...{ transport: 'https', token: 'optional', isPathSecret: true, isCompressed: true },
  batchMaxBytes: SIEM_SUMOLOGIC_BATCH_MAX_BYTES,
  lay: (event) => JSON.stringify(event),
  body: linesOf,
  request: ({ url, token, labels }) => ({
    url,
    headers: {
      'content-type': 'application/json',
      'x-sumo-category': headerText(labels.category ?? SOURCE),
      'x-sumo-name': headerText(labels.sourceName ?? 'runtime_events'),
      'x-sumo-host': SOURCE,
      ...(token === null ? {} : { authorization: token }),
    },
  }),
};
