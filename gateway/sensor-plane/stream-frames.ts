// The stream's frames at the edge: text in, one typed frame or a refusal out. A frame of a type that is not known is
// refused, its unknown fields are ignored.
import { type Refusal, refuse } from '../../machines/errors.ts';
import { parseJson, parserOfValue } from '../../machines/wire/parse.ts';
import {
  EventsFrame,
  GoodbyeFrame,
  HelloFrame,
  PongFrame,
  StatusFrame,
  type UpstreamFrame,
} from '../../machines/wire/stream.ts';

type Parsed = { readonly ok: true; readonly value: UpstreamFrame } | Refusal;

const PARSERS: Readonly<Record<UpstreamFrame['type'], (value: unknown) => Parsed>> = {
  hello: parserOfValue(HelloFrame),
  events: parserOfValue(EventsFrame),
  pong: parserOfValue(PongFrame),
  status: parserOfValue(StatusFrame),
  goodbye: parserOfValue(GoodbyeFrame),
};

/** Parses one frame. Never throws. */
export function parseFrame(text: string): Parsed {
  const json = parseJson(text);
  if (!json.ok) return json;
  const type = typeOf(json.value);
  if (type === null) return refuse('schema_violation', 'The frame has no known type.');
  return PARSERS[type](json.value);
}

function typeOf(value: unknown): UpstreamFrame['type'] | null {
  if (typeof value !== 'object' || value === null || !('type' in value)) return null;
  const { type } = value;
  return typeof type === 'string' && Object.hasOwn(PARSERS, type)
    ? (type as UpstreamFrame['type'])
    : null;
}
