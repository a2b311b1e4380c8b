// Webhooks as admins manage them: judged before they are stored, their secrets sealed, told once when the Console made them
// and never again. decision: D104; invariant: I11
import { nameOfOutcome } from '../../machines/console/delivery/delivery.rules.ts';
import { FORMATS } from '../../machines/console/delivery/formats/formats.ts';
import { mistakeOfQuietHours } from '../../machines/console/delivery/quiet-hours.rules.ts';
import { newDestination } from '../../machines/console/delivery/standing.ts';
import { testAlertOf } from '../../machines/console/delivery/test-alert.rules.ts';
import {
  isWebhookType,
  mistakeOfType,
  mistakesOfAddress,
  mistakesOfSecret,
  type WebhookMistake,
} from '../../machines/console/delivery/webhook.rules.ts';
import { type Refusal, refuse } from '../../machines/errors.ts';
import { WEBHOOK_RATE_DEFAULT_PER_MINUTE, WEBHOOK_SECRET_BYTES } from '../../machines/limits.ts';
import { auditEntryOf } from '../../storage/ports/audit/audit-entry.ts';
import type { AuditLog } from '../../storage/ports/audit/audit-log.ts';
import type {
  WebhookOptions,
  WebhookPatch,
  WebhookRow,
  WebhookStore,
} from '../../storage/ports/delivery/webhook-store.ts';
import type { AuditContext } from '../../storage/ports/plumbing/audit-context.ts';
import type { Sealer } from '../../storage/ports/plumbing/sealer.ts';
import { areCertificates } from '../outbound/ca-pem.ts';
import { mistakeOfProxy, mistakeOfTarget } from '../outbound/destination-mistakes.ts';
import { hostOf } from '../outbound/guarded-connect.ts';
import type { Chance } from '../trust/chance.ts';
import { inForce, secretContextOfWebhook } from './webhook-secrets.ts';
import type { Attempted, WebhookSender } from './webhook-sender.ts';

export type WebhookInput = {
  readonly type: string;
  readonly name: string;
  readonly targetUrl: string;
  /** Absent: one is made where bodies are signed. */
  readonly secret?: string | undefined;
  readonly options: Partial<WebhookOptions>;
};
export type WebhookChange = {
  readonly name?: string | undefined;
  readonly targetUrl?: string | undefined;
  /** In force at once, and ends a rotation. */
  readonly secret?: string | undefined;
  readonly options: Partial<WebhookOptions>;
};
type Made = {
  readonly ok: true;
  readonly webhook: WebhookRow;
  /** The secret that was made, told this once; null: none was. */
  readonly secret: string | null;
};
type Changed = { readonly ok: true; readonly webhook: WebhookRow } | Refusal;
type Of = AuditContext & { readonly webhookId: string };
type OfRevision = Of & { readonly revision: number };

export type WebhookService = {
  create(input: AuditContext & WebhookInput): Promise<Made | Refusal>;
  change(input: OfRevision & { readonly change: WebhookChange }): Promise<Changed>;
  /** Deliveries wait while it is paused; resumed, it begins with a closed breaker. */
  pause(input: Of & { readonly isPaused: boolean }): Promise<Changed>;
  /**
   * Gives it another secret. While both hold the old one signs and the new one beside it; after the overlap the new one
   * signs. Without an overlap it does at once, and ends a rotation that is under way.
   */
  rotate(
    input: Of & { readonly secret?: string | undefined; readonly overlapMs: number },
  ): Promise<Made | Refusal>;
  remove(input: Of): Promise<{ readonly ok: true } | Refusal>;
  /** Sends the test payload now, past the queue, paused or not. */
  test(input: Of): Promise<{ readonly ok: true; readonly attempted: Attempted } | Refusal>;
};
export type WebhookServiceDeps = {
  readonly webhooks: WebhookStore;
  readonly audit: Pick<AuditLog, 'append'>;
  readonly sealer: Sealer;
  readonly sender: WebhookSender;
  readonly allowList: () => readonly string[];
  readonly chance: Pick<Chance, 'newId' | 'randomBytes'>;
};

const DEFAULTS: WebhookOptions = {
  ...{ kinds: [], minSeverity: 'info', groupIds: [], ruleIds: [], caPem: null },
  ...{ proxyUrl: null, quietHours: null },
  ratePerMinute: WEBHOOK_RATE_DEFAULT_PER_MINUTE,
};
const NOT_FOUND = refuse('not_found', 'There is no such webhook.');

/** Makes the service. Every method rejects with StoreUnavailable. */
export function createWebhookService(deps: WebhookServiceDeps): WebhookService {
  const { webhooks } = deps;
  return {
    create: (input) => create(deps, input),
    change: (input) => change(deps, input),
    async pause({ isPaused, ...input }) {
      const row = await webhooks.get(input.webhookId);
      if (row === null) return NOT_FOUND;
      if ((row.pausedAtMs !== null) === isPaused) return { ok: true, webhook: row };
      const patch: WebhookPatch = isPaused
        ? { pausedAtMs: input.nowMs }
        : { pausedAtMs: null, destination: newDestination };
      return put(deps, { ...input, revision: row.revision, patch });
    },
    rotate: (input) => rotate(deps, input),
    remove: async (input) => ((await webhooks.remove(input)) ? { ok: true } : NOT_FOUND),
    test: (input) => test(deps, input),
  };
}

async function create(
  deps: WebhookServiceDeps,
  { type, name, targetUrl, secret, options: given, ...context }: AuditContext & WebhookInput,
): Promise<Made | Refusal> {
  if (!isWebhookType(type)) return refused([mistakeOfType(type)].filter((one) => one !== null));
  const options = { ...DEFAULTS, ...given };
  const refusal = refused([
    ...mistakesOfSecret(type, secret),
    ...addressMistakes(deps, targetUrl),
    ...optionMistakes(deps, options),
  ]);
  if (refusal.errors !== undefined && refusal.errors.length > 0) return refusal;
  const isMade = secret === undefined && FORMATS[type].isSigned;
  const used = secret ?? (isMade ? newSecret(deps.chance) : null);
  const webhookId = deps.chance.newId();
  const secretSealed = used === null ? null : sealed(deps, webhookId, used);
  const webhook = await deps.webhooks.create({
    ...context,
    webhook: {
      ...{ webhookId, type, name, targetUrl, secretSealed, options },
      ...{ nextSecretSealed: null, rotatesAtMs: null },
    },
  });
  if (webhook === 'full') {
    return refuse('webhooks_full', 'No more webhooks can be added.');
  }
  return { ok: true, webhook, secret: isMade ? used : null };
}

async function change(
  deps: WebhookServiceDeps,
  { change: given, ...input }: OfRevision & { readonly change: WebhookChange },
): Promise<Changed> {
  const row = await deps.webhooks.get(input.webhookId);
  if (row === null) return NOT_FOUND;
  const { name = row.name, targetUrl = row.targetUrl, secret } = given;
  const options = { ...row.options, ...given.options };
  const refusal = refused([
    ...(secret === undefined ? [] : mistakesOfSecret(row.type, secret)),
    ...(given.targetUrl === undefined ? [] : addressMistakes(deps, targetUrl)),
    ...optionMistakes(deps, options),
  ]);
  if (refusal.errors !== undefined && refusal.errors.length > 0) return refusal;
  const secrets =
    secret === undefined
      ? {}
      : {
          secretSealed: sealed(deps, row.webhookId, secret),
          ...{ nextSecretSealed: null, rotatesAtMs: null },
        };
  return put(deps, { ...input, patch: { name, targetUrl, options, ...secrets } });
}

async function rotate(
  deps: WebhookServiceDeps,
  input: Of & { readonly secret?: string | undefined; readonly overlapMs: number },
): Promise<Made | Refusal> {
  const { webhookId, nowMs, overlapMs } = input;
  const row = await deps.webhooks.get(webhookId);
  if (row === null) return NOT_FOUND;
  const { isSigned } = FORMATS[row.type];
  const { current, next } = inForce(row, nowMs);
  if (current === null && !isSigned) {
    return refuse('webhook_has_no_secret', `A ${row.type} webhook has no secret.`);
  }
  const isMade = input.secret === undefined && isSigned;
  // Ended early: the new one of the rotation that is under way signs from now on.
  const isEnded = overlapMs === 0 && input.secret === undefined && next !== null;
  const mistakes = isMade || isEnded ? [] : mistakesOfSecret(row.type, input.secret);
  if (mistakes.length > 0) return refused(mistakes);
  const secret = isEnded ? null : (input.secret ?? newSecret(deps.chance));
  const fresh = secret === null ? next : sealed(deps, webhookId, secret);
  // A key of the receiver's making has no overlap: the receiver knows one.
  const isAtOnce = overlapMs === 0 || !isSigned || current === null;
  const patch: WebhookPatch = isAtOnce
    ? { secretSealed: fresh, nextSecretSealed: null, rotatesAtMs: null }
    : { secretSealed: current, nextSecretSealed: fresh, rotatesAtMs: nowMs + overlapMs };
  const { actor, from } = input;
  const { revision } = row;
  const action = 'webhook.rotate_secret';
  const changed = await put(deps, { actor, from, nowMs, webhookId, revision, patch, action });
  return changed.ok ? { ...changed, secret: isMade ? secret : null } : changed;
}

async function test(
  deps: WebhookServiceDeps,
  input: Of,
): Promise<{ readonly ok: true; readonly attempted: Attempted } | Refusal> {
  const webhook = await deps.webhooks.get(input.webhookId);
  if (webhook === null) return NOT_FOUND;
  const deliveryId = deps.chance.newId();
  const attempted = await deps.sender.send({
    ...{ webhook, deliveryId, folded: 0 },
    alert: testAlertOf(deliveryId, input.nowMs),
    signal: new AbortController().signal,
  });
  const detail = {
    delivery_id: deliveryId,
    outcome: nameOfOutcome(attempted.outcome),
    status: attempted.status,
  };
  const entry = auditEntryOf(input, 'webhook.test', input.webhookId, 'ok');
  await deps.audit.append([{ ...entry, detail }]);
  return { ok: true, attempted };
}

async function put(
  { webhooks }: WebhookServiceDeps,
  input: Parameters<WebhookStore['change']>[0],
): Promise<Changed> {
  const changed = await webhooks.change(input);
  if (changed === 'not_found') return NOT_FOUND;
  if (changed === 'conflict') {
    return refuse('webhook_conflict', `Its revision is not ${input.revision} any more.`);
  }
  return { ok: true, webhook: changed };
}

function refused(errors: readonly WebhookMistake[]): Refusal {
  return refuse('webhook_refused', 'Some fields cannot be used like this.', { errors });
}

function newSecret({ randomBytes }: Pick<Chance, 'randomBytes'>): string {
  return `whsec_${randomBytes(WEBHOOK_SECRET_BYTES).toString('base64url')}`;
}

function sealed({ sealer }: WebhookServiceDeps, webhookId: string, secret: string): string {
  return sealer.seal(secret, secretContextOfWebhook(webhookId));
}

// A literal address is told at once; what a name resolves to is judged when something is sent.
function addressMistakes(
  { allowList }: WebhookServiceDeps,
  text: string,
): readonly WebhookMistake[] {
  const mistakes = mistakesOfAddress(text);
  if (mistakes.length > 0) return mistakes;
  const detail = mistakeOfTarget(hostOf(new URL(text)), allowList());
  return detail === null ? [] : [{ pointer: '/target_url', detail }];
}

function optionMistakes(
  { allowList }: WebhookServiceDeps,
  { caPem, proxyUrl, quietHours }: WebhookOptions,
): readonly WebhookMistake[] {
  const mistakes: WebhookMistake[] = [];
  const tell = (name: string, detail: string | null): void => {
    if (detail !== null) mistakes.push({ pointer: `/options/${name}`, detail });
  };
  if (caPem !== null && !areCertificates(caPem)) {
    tell('ca_pem', 'certificates in PEM, and nothing else');
  }
  if (proxyUrl !== null) tell('proxy_url', mistakeOfProxy(proxyUrl, allowList()));
  if (quietHours !== null) tell('quiet_hours', mistakeOfQuietHours(quietHours));
  return mistakes;
}
