// The stream's frames: JSON text, one object with a `type`. An `ack` names exactly one batch, after its durable write.
import Type from 'typebox';
import { CONTAINMENT_REASON_MAX_CHARS } from '../policy/limits.ts';
import { RuntimeEvent } from './event.ts';
import { SensorSettings } from './heartbeat.ts';
import { MachineReports } from './machines.ts';
import { Count, InstanceId, Sequence, StreamId, Text, Timestamp, Uuid } from './scalars.ts';

export const HelloFrame = Type.Object({
  type: Type.Literal('hello'),
  instance_id: InstanceId,
  boot_id: Text(64),
  stream_id: StreamId,
  sensor_version: Text(64),
  capabilities: Type.Array(Text(64), { maxItems: 64 }),
});
export const EventsFrame = Type.Object({
  type: Type.Literal('events'),
  sequence: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  events: Type.Array(RuntimeEvent, { minItems: 1, maxItems: 20_000 }),
});
export const PongFrame = Type.Object({
  type: Type.Literal('pong'),
  at: Type.Optional(Timestamp),
  instance_id: Type.Optional(InstanceId),
});
export const StatusFrame = Type.Object({
  type: Type.Literal('status'),
  status: Type.Object({ machines: Type.Optional(MachineReports) }),
});
export const GoodbyeFrame = Type.Object({
  type: Type.Literal('goodbye'),
  reason: Type.Optional(Text(256)),
});

export const WelcomeFrame = Type.Object({
  type: Type.Literal('welcome'),
  acknowledged: Sequence,
  server_time: Timestamp,
  settings: SensorSettings,
});
export const PingFrame = Type.Object({ type: Type.Literal('ping'), at: Timestamp });
export const AckFrame = Type.Object({ type: Type.Literal('ack'), sequence: Sequence });
export const RefuseFrame = Type.Object({
  type: Type.Literal('refused'),
  sequence: Sequence,
  code: Text(64),
  detail: Text(1_024),
});
export const RefreshFrame = Type.Object({
  type: Type.Literal('refresh'),
  what: Type.Array(Type.Enum(['policy', 'settings', 'certificate', 'inventory'])),
});
export const RevokedFrame = Type.Object({ type: Type.Literal('revoked') });
/** An order at once; the heartbeat's answer says the same until the node's report agrees. */
export const ContainFrame = Type.Union([
  Type.Object({
    type: Type.Literal('contain'),
    order_id: Uuid,
    reason: Text(CONTAINMENT_REASON_MAX_CHARS),
    until: Type.Optional(Timestamp),
  }),
  Type.Object({ type: Type.Literal('release'), order_id: Uuid }),
]);
export const RetryAfterFrame = Type.Object({
  type: Type.Literal('retry_after'),
  ms: Count,
  sequence: Type.Optional(Sequence),
});

export type HelloFrame = Type.Static<typeof HelloFrame>;
export type EventsFrame = Type.Static<typeof EventsFrame>;
export type StatusFrame = Type.Static<typeof StatusFrame>;
export type UpstreamFrame =
  | HelloFrame
  | EventsFrame
  | Type.Static<typeof PongFrame>
  | StatusFrame
  | Type.Static<typeof GoodbyeFrame>;
/** Every frame a Console sends, by its type. */
export const DOWNSTREAM_FRAMES = {
  welcome: WelcomeFrame,
  ping: PingFrame,
  ack: AckFrame,
  refused: RefuseFrame,
  refresh: RefreshFrame,
  revoked: RevokedFrame,
  contain: ContainFrame,
  release: ContainFrame,
  retry_after: RetryAfterFrame,
} as const;
export type DownstreamFrame = Type.Static<
  (typeof DOWNSTREAM_FRAMES)[keyof typeof DOWNSTREAM_FRAMES]
>;
