// What this node knows of its containment across restarts: the order, what the rules let through, and whether they may be
// in force. Written whole and synced before any rule changes. decision: D85
import Type from 'typebox';
import type { Logger } from '../../../actors/runtime/logger.ts';
import type { Order, Passage } from '../../../machines/sensor/containment.rules.ts';
import { parserOf } from '../../../machines/wire/parse.ts';
import { readText, writeAtomic } from '../../state-directory/atomic-file.ts';
import type { Files } from '../../state-directory/file-port.ts';
import { STATE_FILES } from '../../state-directory/identity.ts';

const MODE = 0o600;
const Text = Type.String({ maxLength: 1_024 });
const Instant = Type.Integer({ minimum: 0 });
const RecordSchema = Type.Object({
  order_id: Text,
  sensor_id: Type.Optional(Text),
  wanted: Type.Enum(['contained', 'released']),
  reason: Text,
  until_ms: Type.Union([Instant, Type.Null()]),
  has_ended: Type.Optional(Type.Boolean()),
  since_ms: Instant,
  repaired: Instant,
  is_applied: Type.Boolean(),
  peers: Type.Array(Type.Object({ address: Text, port: Type.Integer() }), { maxItems: 64 }),
  resolvers: Type.Array(Text, { maxItems: 16 }),
});
const parse = parserOf(RecordSchema);

export type ContainmentRecord = {
  readonly order: Order;
  readonly sinceMs: number;
  readonly repaired: number;
  /** The rules are in force, or a crash came before anybody could say that they are not. */
  readonly isApplied: boolean;
  readonly passage: Passage;
};

/** What was kept; null when nothing was, or when it cannot be read. */
export async function readRecord(
  files: Files,
  stateDir: string,
  logger: Logger,
): Promise<ContainmentRecord | null> {
  const text = await readText(files, stateDir, STATE_FILES.containment);
  if (text === null) return null;
  const parsed = parse(text);
  if (!parsed.ok) {
    logger.error({}, 'containment.json cannot be read; rules that are in force stay');
    return null;
  }
  const kept = parsed.value;
  return {
    order: {
      orderId: kept.order_id,
      wanted: kept.wanted,
      reason: kept.reason,
      untilMs: kept.until_ms,
      hasEnded: kept.has_ended,
      sensorId: kept.sensor_id,
    },
    sinceMs: kept.since_ms,
    repaired: kept.repaired,
    isApplied: kept.is_applied,
    passage: { peers: kept.peers, resolvers: kept.resolvers },
  };
}

/** After the promise resolves it survives a power loss; before it the old one stays. */
export async function writeRecord(
  files: Files,
  stateDir: string,
  record: ContainmentRecord,
): Promise<void> {
  const { order, passage } = record;
  const kept: Type.Static<typeof RecordSchema> = {
    order_id: order.orderId,
    ...(order.sensorId === undefined ? {} : { sensor_id: order.sensorId }),
    wanted: order.wanted,
    reason: order.reason,
    until_ms: order.untilMs,
    ...(order.hasEnded === true ? { has_ended: true } : {}),
    since_ms: record.sinceMs,
    repaired: record.repaired,
    is_applied: record.isApplied,
    peers: [...passage.peers],
    resolvers: [...passage.resolvers],
  };
  const content = { text: `${JSON.stringify(kept, null, 2)}\n`, mode: MODE };
  await writeAtomic(files, stateDir, STATE_FILES.containment, content);
}
