// Audit rows and checkpoints as operators see them; `machines/trust/audit-trail.rules.ts` reads them back.
import Type from 'typebox';
import type { AuditCheckpoint } from '../../../storage/ports/audit/audit-chain.ts';
import type { AuditRow } from '../../../storage/ports/audit/audit-log.ts';
import { Nullable, Time } from '../plumbing/shapes.ts';
import { timeText } from '../plumbing/time-range.ts';

const Facts = Type.Record(Type.String(), Type.Unknown());
const Sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' });

export const AuditItem = Type.Object({
  audit_id: Type.Integer(),
  at: Time,
  actor: Type.String(),
  action: Type.String(),
  target: Type.String(),
  result: Type.String(),
  from: Nullable(Type.String({ description: 'the address that asked' })),
  before: Nullable(Facts),
  after: Nullable(Facts),
  detail: Facts,
  sequence: Nullable(Type.Integer({ description: 'place in the chain; null until it is sealed' })),
  hash: Nullable(Sha256),
});
export type AuditItem = Type.Static<typeof AuditItem>;

export const CheckpointItem = Type.Object({
  sequence: Type.Integer(),
  hash: Sha256,
  at: Time,
  public_key_pem: Type.String(),
  signature: Type.String({ description: 'Ed25519, base64' }),
});
export type CheckpointItem = Type.Static<typeof CheckpointItem>;

/** A row as shown. */
export function auditItemOf(row: AuditRow): AuditItem {
  const { auditId, atMs, actor, action, target, result, from, before, after, detail } = row;
  const facts = { before: before && { ...before }, after: after && { ...after } };
  return {
    audit_id: auditId,
    at: timeText(atMs),
    ...{ actor, action, target, result, from, ...facts, detail: { ...detail } },
    sequence: row.sequence,
    hash: row.hash,
  };
}

export function checkpointItemOf(checkpoint: AuditCheckpoint): CheckpointItem {
  const { sequence, hash, atMs, publicKeyPem, signature } = checkpoint;
  return { sequence, hash, at: timeText(atMs), public_key_pem: publicKeyPem, signature };
}
