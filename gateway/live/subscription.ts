// What a client of the live channel may say, and which scope each topic asks.
import Type from 'typebox';
import { LIVE_SUBSCRIPTIONS_MAX, SEARCH_CONDITION_MAX_CHARS } from '../../machines/limits.ts';
import type { Scope } from '../../machines/trust/roles.rules.ts';
import { EVENT_KINDS, SEVERITIES } from '../../machines/wire/event.ts';
import { parserOf } from '../../machines/wire/parse.ts';
import { Uuid } from '../../machines/wire/scalars.ts';

const strict = { additionalProperties: false } as const;

export const LiveEventQuery = Type.Object(
  {
    sensor_id: Type.Optional(Uuid),
    event_kind: Type.Optional(Type.Array(Type.Enum([...EVENT_KINDS]), { maxItems: 32 })),
    severity: Type.Optional(Type.Array(Type.Enum([...SEVERITIES]), { maxItems: 8 })),
    binary: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
    text: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
    q: Type.Optional(Type.String({ minLength: 1, maxLength: SEARCH_CONDITION_MAX_CHARS })),
  },
  strict,
);
const TopicSpec = Type.Union([
  Type.Object({ topic: Type.Literal('fleet') }, strict),
  Type.Object({ topic: Type.Literal('actors') }, strict),
  Type.Object({ topic: Type.Literal('rollouts') }, strict),
  Type.Object({ topic: Type.Literal('sensor'), id: Uuid }, strict),
  Type.Object({ topic: Type.Literal('events'), query: Type.Optional(LiveEventQuery) }, strict),
]);
const Topics = Type.Array(TopicSpec, { maxItems: LIVE_SUBSCRIPTIONS_MAX });
const LiveRequest = Type.Object(
  { subscribe: Type.Optional(Topics), unsubscribe: Type.Optional(Topics) },
  strict,
);

export type LiveEventQuery = Type.Static<typeof LiveEventQuery>;
export type TopicSpec = Type.Static<typeof TopicSpec>;

/** Reads one message of a client. */
export const parseLiveRequest = parserOf(LiveRequest);

export const TOPIC_SCOPES: Readonly<Record<TopicSpec['topic'], Scope>> = {
  fleet: 'sensors:read',
  sensor: 'sensors:read',
  events: 'events:read',
  actors: 'system:read',
  rollouts: 'policies:read',
};

/** One text per topic, so that a repeated subscription is the same one. */
export function topicKey(spec: TopicSpec): string {
  if (spec.topic === 'sensor') return `sensor/${spec.id}`;
  if (spec.topic !== 'events') return spec.topic;
  const query = Object.entries(spec.query ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  return `events/${JSON.stringify(query)}`;
}
