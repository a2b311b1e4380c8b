// The secrets of a webhook: sealed in the database, opened for the moment of sending. While a rotation is under way the old
// one signs and the new one signs beside it, until the overlap is over. decision: D104; invariant: I11
import { createHmac } from 'node:crypto';
import type { WebhookRow } from '../../storage/ports/delivery/webhook-store.ts';
import type { Sealer } from '../../storage/ports/plumbing/sealer.ts';

export type SealedSecrets = Pick<
  WebhookRow,
  'webhookId' | 'secretSealed' | 'nextSecretSealed' | 'rotatesAtMs'
>;

/** Whose secret it is, as the seal binds it. */
export function secretContextOfWebhook(webhookId: string): string {
  return `webhook/${webhookId}`;
}

/** What is in force at an instant, still sealed: the one that signs, and the one that signs beside it. */
export function inForce(
  { secretSealed, nextSecretSealed, rotatesAtMs }: SealedSecrets,
  nowMs: number,
): { readonly current: string | null; readonly next: string | null } {
  const isOver = rotatesAtMs !== null && nowMs >= rotatesAtMs;
  return isOver
    ? { current: nextSecretSealed, next: null }
    : { current: secretSealed, next: nextSecretSealed };
}

export type OpenSecrets =
  | { readonly ok: true; readonly current: string | null; readonly next: string | null }
  /** No key opens one of them: it has to be given again. */
  | { readonly ok: false };

/** Opens what is in force. */
export function openSecrets(row: SealedSecrets, sealer: Sealer, nowMs: number): OpenSecrets {
  const { current, next } = inForce(row, nowMs);
  const context = secretContextOfWebhook(row.webhookId);
  const opened = [current, next].map((sealed) =>
    sealed === null ? null : (sealer.open(sealed, context) ?? undefined),
  );
  const [first, second] = opened;
  if (first === undefined || second === undefined) return { ok: false };
  return { ok: true, current: first, next: second };
}

/** `sha256=<hex>`: the HMAC-SHA256 of the bytes that are sent. */
export function signatureOf(secret: string, body: Uint8Array): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}
