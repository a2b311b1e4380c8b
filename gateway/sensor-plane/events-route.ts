// POST /sensors/events: one numbered batch, as one JSON document or as lines with the number in headers. Answered after
// the durable write, and only then. invariant: I1
import { type Refusal, refuse } from '../../machines/errors.ts';
import { EVENTS_BODY_MAX_BYTES, EVENTS_LINES_MAX } from '../../machines/limits.ts';
import { EventsRequest } from '../../machines/wire/heartbeat.ts';
import { type Parsed, parseJson, parserOf, parserOfValue } from '../../machines/wire/parse.ts';
import { CHANNEL_HEADER, SEQUENCE_HEADER, STREAM_HEADER } from '../../machines/wire/scalars.ts';
import type { Exchange } from '../listener/exchange.ts';
import { respondJson } from '../listener/respond.ts';
import { admitWithBody, answerRefusal, JSON_TYPE, mediaTypeOf, NDJSON_TYPE } from './admission.ts';
import type { AdmissionDeps, StreamDeps } from './deps.ts';

const TYPES = [JSON_TYPE, NDJSON_TYPE] as const;
const parse = parserOf(EventsRequest);
const check = parserOfValue(EventsRequest);

/** Handles one batch. */
export async function handleEvents(
  deps: AdmissionDeps & Pick<StreamDeps, 'ingest'>,
  exchange: Exchange,
): Promise<void> {
  const limits = { maxBytes: EVENTS_BODY_MAX_BYTES, types: TYPES };
  const admitted = await admitWithBody(deps, exchange, limits);
  if (admitted === null) return;
  const { headers } = exchange.request;
  const isLines = mediaTypeOf(headers) === NDJSON_TYPE;
  const request = isLines ? parseLines(admitted.text, headers) : parse(admitted.text);
  if (!request.ok) return answerRefusal(exchange, request);
  const { stream_id, sequence, channel = 'batch', events } = request.value;
  const outcome = await deps.ingest.ingest({
    identity: admitted.identity,
    streamId: stream_id,
    channel,
    sequence,
    events,
    receivedAtMs: deps.now(),
  });
  if (outcome.ok) {
    respondJson(exchange, 202, { acknowledged_sequence: outcome.acknowledged });
  } else {
    answerRefusal(exchange, outcome.busy ? busyRefusal(outcome.retryAfterMs) : outcome);
  }
}

/** The refusal for a batch that the event store cannot take now. */
export function busyRefusal(retryAfterMs: number): Refusal {
  return refuse('store_unavailable', 'The event store cannot take this batch now.', {
    retryAfterMs,
  });
}

/** Parses a batch of lines whose number, stream and channel stand in headers. Never throws. */
export function parseLines(
  text: string,
  headers: ReadonlyMap<string, string>,
): Parsed<ReturnType<typeof parse> extends Parsed<infer T> ? T : never> {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  if (lines.length > EVENTS_LINES_MAX) {
    return refuse('schema_violation', `A batch holds at most ${EVENTS_LINES_MAX} events.`);
  }
  const events: unknown[] = [];
  for (const [at, line] of lines.entries()) {
    const parsed = parseJson(line);
    if (!parsed.ok) return refuse('malformed_body', `Line ${at + 1}: ${parsed.detail}`);
    events.push(parsed.value);
  }
  const channel = headers.get(CHANNEL_HEADER);
  return check({
    stream_id: headers.get(STREAM_HEADER),
    sequence: numberOf(headers.get(SEQUENCE_HEADER)),
    ...(channel === undefined ? {} : { channel }),
    events,
  });
}

function numberOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,16}$/.test(text) ? Number(text) : undefined;
}
