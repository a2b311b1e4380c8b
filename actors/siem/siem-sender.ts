// One batch to one SIEM: as many of the events as fit, laid out for it, sent through the guard, and what came of it as a
// value. Nothing is thrown. decision: D153, D154; invariant: I11
import { retryAfterMsOf } from '../../machines/console/delivery/delivery.rules.ts';
import { cut } from '../../machines/console/delivery/formats/text.ts';
import type { SiemEntry, SiemKind } from '../../machines/console/siem/kinds/kind.ts';
import { addressOf, kindOf } from '../../machines/console/siem/kinds/kinds.ts';
import { refusedByOtlp } from '../../machines/console/siem/kinds/otlp.ts';
import { verdictOfStatus } from '../../machines/console/siem/siem-destination.rules.ts';
import { DELIVERY_EXCERPT_MAX_CHARS, SIEM_TIMEOUT_MS } from '../../machines/limits.ts';
import type { StoredEvent } from '../../machines/wire/event.ts';
import type { Sealer } from '../../storage/ports/plumbing/sealer.ts';
import type { SiemRow } from '../../storage/ports/siem/siem-store.ts';
import { hostOf } from '../outbound/guarded-connect.ts';
import type { OutboundPost } from '../outbound/outbound-post.ts';
import type { OutboundStream } from '../outbound/outbound-stream.ts';
import { openSiemSecrets, type SiemSecrets, wholeUrl } from './siem-secrets.ts';

export type SiemOutcome =
  | { readonly kind: 'accepted'; readonly refused: number }
  | { readonly kind: 'again'; readonly retryAfterMs: number | null }
  | { readonly kind: 'refused' }
  | { readonly kind: 'unauthorized' };
export type SiemSent = {
  readonly outcome: SiemOutcome;
  /** How many of the events were in it. */
  readonly events: number;
  readonly bytes: number;
  readonly status: number | null;
  readonly detail: string;
  readonly durationMs: number;
};
export type SiemSenderDeps = {
  readonly post: OutboundPost;
  readonly stream: OutboundStream;
  readonly sealer: Sealer;
  readonly allowList: () => readonly string[];
  readonly version: string;
  readonly now: () => number;
  readonly monotonicNow: () => number;
};
export type SiemSender = {
  send(of: {
    readonly row: SiemRow;
    readonly events: readonly StoredEvent[];
    readonly signal: AbortSignal;
  }): Promise<SiemSent>;
};

const SYSLOG_PORT = 6_514;
const encoder = new TextEncoder();

/** Makes the sender. */
export function createSiemSender(deps: SiemSenderDeps): SiemSender {
  return {
    async send({ row, events, signal }) {
      const beganMs = deps.monotonicNow();
      const done = (rest: Omit<SiemSent, 'durationMs'>): SiemSent => ({
        ...rest,
        detail: cut(rest.detail, DELIVERY_EXCERPT_MAX_CHARS),
        durationMs: Math.max(0, Math.round(deps.monotonicNow() - beganMs)),
      });
      const secrets = openSiemSecrets(row, deps.sealer);
      if (secrets === null) {
        const detail = 'Its secret cannot be opened any more; give it again.';
        return done({
          outcome: { kind: 'unauthorized' },
          events: 0,
          bytes: 0,
          status: null,
          detail,
        });
      }
      const kind = kindOf(row.kind);
      const entries = fitting(kind, row, events);
      const body = encoder.encode(kind.body(entries));
      const size = { events: entries.length, bytes: body.length };
      try {
        const sending = { row, kind, secrets, body, signal };
        const answer =
          kind.transport === 'tls' ? await frames(deps, sending) : await post(deps, sending);
        return done({ ...answer, ...size });
      } catch (error) {
        const detail = error instanceof Error ? error.message : String(error);
        return done({
          outcome: { kind: 'again', retryAfterMs: null },
          status: null,
          detail,
          ...size,
        });
      }
    },
  };
}

type Sending = {
  readonly row: SiemRow;
  readonly kind: SiemKind;
  readonly secrets: SiemSecrets;
  readonly body: Uint8Array;
  readonly signal: AbortSignal;
};
type Answer = Pick<SiemSent, 'outcome' | 'status' | 'detail'>;

async function post(
  deps: SiemSenderDeps,
  { row, kind, secrets, body, signal }: Sending,
): Promise<Answer> {
  const { caPem, proxyUrl } = row.options;
  const { version } = deps;
  const url = wholeUrl(row.targetUrl, secrets);
  const request = kind.request({ url, token: secrets.token, labels: row.options, version });
  const answer = await deps.post({
    ...{ url: request.url, body, caPem, proxyUrl, signal, allowList: deps.allowList() },
    headers: { 'user-agent': `fleet-runtime-security/${version}`, ...request.headers },
    ...{ isCompressed: kind.isCompressed, timeoutMs: SIEM_TIMEOUT_MS },
  });
  const { status } = answer;
  const detail = `The receiver answered ${status}.`;
  const verdict = verdictOfStatus(status);
  if (verdict === 'accepted') {
    const refused = row.kind === 'otlp' ? refusedByOtlp(answer.excerpt) : 0;
    return { outcome: { kind: 'accepted', refused }, status, detail };
  }
  if (verdict !== 'again') return { outcome: { kind: verdict }, status, detail };
  const retryAfterMs = retryAfterMsOf(answer.retryAfter, deps.now());
  return { outcome: { kind: 'again', retryAfterMs }, status, detail };
}

async function frames(deps: SiemSenderDeps, { row, body, signal }: Sending): Promise<Answer> {
  const url = addressOf(row.targetUrl);
  if (url === null) throw new Error('its address cannot be read');
  const { caPem, proxyUrl } = row.options;
  const port = url.port === '' ? SYSLOG_PORT : Number(url.port);
  await deps.stream({
    ...{ host: hostOf(url), port, body, caPem, proxyUrl, signal },
    ...{ allowList: deps.allowList(), timeoutMs: SIEM_TIMEOUT_MS },
  });
  const detail = 'The receiver took everything and closed.';
  return { outcome: { kind: 'accepted', refused: 0 }, status: null, detail };
}

/** The first events, as many as fit; always one. */
function fitting(
  kind: SiemKind,
  { options }: SiemRow,
  events: readonly StoredEvent[],
): readonly SiemEntry[] {
  const entries: SiemEntry[] = [];
  let bytes = 0;
  for (const event of events) {
    const text = kind.lay(event, options);
    // What stands around an event, at most.
    bytes += encoder.encode(text).length + AROUND_MAX_BYTES;
    if (entries.length > 0 && bytes > kind.batchMaxBytes) break;
    entries.push({ event, text });
  }
  return entries;
}
const AROUND_MAX_BYTES = 512;
