// One attempt: the alert laid out for its receiver, signed, sent through the guard, and what came of it as a value. Nothing
// is thrown. What is kept for the log holds no secret. decision: D101, D104; invariant: I11
import type { Alert, AtDelivery } from '../../machines/console/delivery/alert.ts';
import {
  type AttemptFailure,
  type AttemptOutcome,
  retryAfterMsOf,
} from '../../machines/console/delivery/delivery.rules.ts';
import { FORMATS } from '../../machines/console/delivery/formats/formats.ts';
import { cut } from '../../machines/console/delivery/formats/text.ts';
import { DELIVERY_EXCERPT_MAX_CHARS } from '../../machines/limits.ts';
import type { WebhookRow } from '../../storage/ports/delivery/webhook-store.ts';
import type { Sealer } from '../../storage/ports/plumbing/sealer.ts';
import type { OutboundPost } from '../outbound/outbound-post.ts';
import { DestinationUnreachable } from '../outbound/unreachable.ts';
import { openSecrets, signatureOf } from './webhook-secrets.ts';

export type Attempted = {
  readonly outcome: AttemptOutcome;
  readonly status: number | null;
  readonly detail: string;
  readonly durationMs: number;
  readonly request: string;
  readonly response: string;
};
/** What is true of the sensor when something is sent. */
export type LiveFacts = { readonly trustHealth: string; readonly isContained: boolean };

export type SenderDeps = {
  readonly post: OutboundPost;
  readonly sealer: Sealer;
  readonly allowList: () => readonly string[];
  readonly factsOf: (sensorId: string) => LiveFacts | null;
  readonly baseUrl: () => string;
  readonly version: string;
  readonly now: () => number;
  readonly monotonicNow: () => number;
};
export type Sending = {
  readonly webhook: WebhookRow;
  readonly deliveryId: string;
  readonly alert: Alert;
  /** How many other alerts it carries. */
  readonly folded: number;
  readonly signal: AbortSignal;
};
export type WebhookSender = { send(sending: Sending): Promise<Attempted> };

const MASKED = '***';

/** Makes the sender. */
export function createWebhookSender(deps: SenderDeps): WebhookSender {
  return {
    async send(sending) {
      const { webhook } = sending;
      const beganMs = deps.monotonicNow();
      const done = (rest: Omit<Attempted, 'durationMs'>): Attempted => ({
        ...rest,
        durationMs: Math.max(0, Math.round(deps.monotonicNow() - beganMs)),
      });
      const nowMs = deps.now();
      const secrets = openSecrets(webhook, deps.sealer, nowMs);
      if (!secrets.ok) {
        const detail = 'The signing secret cannot be opened any more; give it again.';
        return done(failed('secret_unreadable', detail, ''));
      }
      const format = FORMATS[webhook.type];
      const told = { alert: sending.alert, at: atOf(deps, sending, nowMs) };
      const out = format.lay({ ...told, targetUrl: webhook.targetUrl, secret: secrets.current });
      const body = Buffer.from(JSON.stringify(out.body), 'utf8');
      const headers = {
        'content-type': 'application/json',
        'user-agent': `fleet-runtime-security/${deps.version}`,
        'x-service-delivery': sending.deliveryId,
        ...out.headers,
        ...(format.isSigned ? signaturesOf(secrets, body) : {}),
      };
      const shown = format.lay({ ...told, targetUrl: webhook.targetUrl, secret: MASKED });
      const request = requestText(headers, shown);
      try {
        const { caPem, proxyUrl } = webhook.options;
        const { signal } = sending;
        const allowList = deps.allowList();
        const how = { caPem, proxyUrl, allowList, signal };
        const answer = await deps.post({ url: out.url, headers, body, ...how });
        const retryAfterMs = retryAfterMsOf(answer.retryAfter, deps.now());
        return done({
          outcome: { kind: 'answered', status: answer.status, retryAfterMs },
          status: answer.status,
          detail: `The receiver answered ${answer.status}.`,
          request,
          response: cut(answer.excerpt, DELIVERY_EXCERPT_MAX_CHARS),
        });
      } catch (error) {
        return done(failed(failureOf(error), detailOf(error), request));
      }
    },
  };
}

function atOf(deps: SenderDeps, { alert, folded }: Sending, nowMs: number): AtDelivery {
  const live = deps.factsOf(alert.sensorId);
  const isTest = alert.kind === 'test_delivery';
  const hasNoTrust = alert.kind === 'security_event' || live === null;
  const carried = folded === 0 ? null : folded + 1;
  return {
    deliveredAtMs: nowMs,
    trustHealth: isTest ? 'healthy' : hasNoTrust ? 'not_applicable' : live.trustHealth,
    isContained: !isTest && live?.isContained === true,
    inboxUrl: isTest ? '' : `${deps.baseUrl()}/alerts/${alert.alertId}`,
    relatedEventCount: carried ?? alert.relatedEventCount,
  };
}

function signaturesOf(
  { current, next }: { readonly current: string | null; readonly next: string | null },
  body: Uint8Array,
): Readonly<Record<string, string>> {
  return {
    ...(current === null ? {} : { 'x-service-signature': signatureOf(current, body) }),
    ...(next === null ? {} : { 'x-service-signature-next': signatureOf(next, body) }),
  };
}

function failed(failure: AttemptFailure, detail: string, request: string) {
  const outcome = { kind: 'failed', failure } as const;
  return { outcome, status: null, detail, request, response: '' };
}

function failureOf(error: unknown): AttemptFailure {
  if (!(error instanceof DestinationUnreachable)) return 'unreachable';
  return error.reason === 'failing' ? 'unreachable' : error.reason;
}

function detailOf(error: unknown): string {
  return cut(error instanceof Error ? error.message : String(error), DELIVERY_EXCERPT_MAX_CHARS);
}

/** Headers and body as they were sent, secrets and the path of the address left out. */
function requestText(
  headers: Readonly<Record<string, string>>,
  shown: { readonly url: string; readonly body: unknown; readonly headers: object },
): string {
  const lines = Object.entries({ ...headers, ...shown.headers }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  const text = [`POST ${new URL(shown.url).origin}/...`, ...lines, '', JSON.stringify(shown.body)];
  return cut(text.join('\n'), DELIVERY_EXCERPT_MAX_CHARS);
}
