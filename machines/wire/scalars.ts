// The small shapes every message is made of, and their bounds. Times are RFC 3339 UTC text on the wire.
import Type, { type TSchema } from 'typebox';

export const NODE_NAME_PATTERN = '^[A-Za-z0-9]([A-Za-z0-9._-]{0,62}[A-Za-z0-9])?$';
export const SENSOR_SUBPROTOCOL = 'service.stream.v1';
export const INSTANCE_HEADER = 'x-service-instance';
export const STREAM_HEADER = 'x-service-stream';
export const SEQUENCE_HEADER = 'x-service-sequence';
export const CHANNEL_HEADER = 'x-service-channel';

export const Text = (maxLength: number) => Type.String({ maxLength });
/** An object whose names have at most `nameMaxLength` UTF-16 units, of any characters. */
export const NamedBy = <S extends TSchema>(
  nameMaxLength: number,
  value: S,
  maxProperties?: number,
) =>
  Type.Record(Type.String({ pattern: `^[\\s\\S]{0,${nameMaxLength}}$` }), value, {
    // A record alone bounds neither the length of a name nor a value whose name holds a line end.
    additionalProperties: false,
    ...(maxProperties === undefined ? {} : { maxProperties }),
  });
export const Uuid = Type.String({
  pattern: '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$',
});
export const Timestamp = Type.String({
  pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,9})?Z$',
  maxLength: 32,
});
export const Sequence = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
export const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
export const Flavor = Type.Enum(['standard', 'telecom']);
export const Channel = Type.Enum(['stream', 'heartbeat', 'batch']);
export const StreamId = Type.String({ pattern: '^[0-9a-f]{32}$' });
export const InstanceId = Type.String({ pattern: '^[0-9a-f]{32}$' });

export type Flavor = Type.Static<typeof Flavor>;
export type Channel = Type.Static<typeof Channel>;
export const CHANNELS: readonly Channel[] = ['stream', 'heartbeat', 'batch'];
