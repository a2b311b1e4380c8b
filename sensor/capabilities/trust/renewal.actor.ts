// The effects of renewal: a new key kept before it is used, the answer installed key first, the new pair tried, the
// previous one put back when the Console does not know the new one. invariant: I4, I7, I13
import { fromPromise } from 'xstate';
import { REQUEST_TIMEOUT_MS } from '../../../machines/limits.ts';
import { renewalMachine } from '../../../machines/sensor/renewal.machine.ts';
import type { RenewalOutcome, TrialOutcome } from '../../../machines/sensor/renewal.rules.ts';
import { RenewResponse, SENSOR_PATHS } from '../../../machines/wire/enrollment.ts';
import { parserOfValue } from '../../../machines/wire/parse.ts';
import { type Parts, startActor } from '../../actors/parts.ts';
import type { Identity } from '../../state-directory/identity.ts';
import { sentenceOf, waitOf } from '../../transport/answer.ts';

const readAnswer = parserOfValue(RenewResponse);
const EMPTY_INVENTORY = JSON.stringify({ is_full_snapshot: false, sections: {} });
// Not among them: `certificate_expired`, said of a certificate that is minutes old, is a clock that is wrong.
const NOT_KNOWN: ReadonlySet<string> = new Set([
  'certificate_unknown',
  'certificate_superseded',
  'client_certificate_required',
]);

// Said of a key, not of the certificate: the next try makes another.
const NEEDS_NEW_KEY: ReadonlySet<string> = new Set(['key_in_use', 'csr_refused']);

type RenewalHooks = {
  /** Another pair is presented from now on: a new one, or the previous one again. */
  readonly onPresented: (identity: Identity) => void;
  /** The Console took the new certificate. */
  readonly onRenewed: () => void;
};

/** Starts the renewal of an identity. */
export function startRenewal(parts: Parts, identity: Identity, hooks: RenewalHooks) {
  const { directory, client, config, facts, logger, ports } = parts;
  const { intervals } = config;

  function present(next: Identity): void {
    client.useIdentity({ keyPem: next.keyPem, certPem: next.certPem, caPem: next.caPem });
    hooks.onPresented(next);
    facts.trust.certificate_expires_at = new Date(next.notAfterMs).toISOString();
    parts.trust.refresh();
  }

  async function renew(): Promise<RenewalOutcome> {
    const keyPem = await directory.beginKey(() => ports.keyWork.generateKeyPem());
    const nodeName = identity.state.node_name ?? config.nodeName;
    const csr = await ports.keyWork.signingRequest(nodeName, keyPem);
    const answer = await client.post(SENSOR_PATHS.renew, JSON.stringify({ csr_pem: csr }), {
      timeoutMs: REQUEST_TIMEOUT_MS,
    });
    if (!answer.ok) {
      if (answer.kind === 'refused' && NEEDS_NEW_KEY.has(answer.code)) await directory.forgetKey();
      return { kind: 'failed', reason: sentenceOf(answer), retryAfterMs: waitOf(answer) };
    }
    const parsed = readAnswer(answer.json);
    if (!parsed.ok)
      return { kind: 'failed', reason: 'the answer does not fit', retryAfterMs: null };
    const nowMs = parts.now();
    const at = new Date(nowMs).toISOString();
    const installed = await directory.installRenewal({
      certPem: parsed.value.control_plane_certificate_pem,
      caPem: parsed.value.control_plane_ca_certificate_pem,
      state: { renewal_status: 'ok', renewed_at: at, superseded_at: at },
    });
    if (!installed.ok) {
      return {
        kind: 'failed',
        reason: `${installed.reason}: ${installed.detail}`,
        retryAfterMs: null,
      };
    }
    present(installed.identity);
    return {
      kind: 'renewed',
      notAfterMs: installed.identity.notAfterMs,
      overlapEndsMs: nowMs + intervals.PREVIOUS_CERTIFICATE_OVERLAP_MS,
    };
  }

  // An inventory without sections changes nothing and proves the certificate.
  async function tryNew(): Promise<TrialOutcome> {
    const answer = await client.post(SENSOR_PATHS.inventory, EMPTY_INVENTORY, {
      timeoutMs: intervals.HEARTBEAT_TIMEOUT_MS,
    });
    if (answer.ok) return 'accepted';
    if (answer.kind === 'unreachable') {
      return answer.trouble.kind === 'certificate_refused' ? 'rejected' : 'unreachable';
    }
    if (NOT_KNOWN.has(answer.code)) return 'rejected';
    const isLater = answer.status >= 500 || answer.status === 429;
    return isLater || answer.code === 'certificate_expired' ? 'unreachable' : 'accepted';
  }

  async function fallBack(): Promise<{ readonly notAfterMs: number }> {
    const back = await directory.fallBackToPrevious();
    if (back.kind !== 'whole') throw new Error('there is no previous certificate to fall back to');
    present(back);
    return { notAfterMs: back.notAfterMs };
  }

  function note(status: string): void {
    facts.trust.renewal_status = status;
    void directory.saveState({ renewal_status: status });
  }

  const supersededAtMs = Date.parse(identity.state.superseded_at ?? '');
  return startActor(
    parts,
    renewalMachine.provide({
      actors: {
        readClock: fromPromise<number, undefined>(async () => parts.now()),
        renewCertificate: fromPromise<RenewalOutcome, undefined>(renew),
        tryCertificate: fromPromise<TrialOutcome, undefined>(tryNew),
        fallBack: fromPromise<{ readonly notAfterMs: number }, undefined>(fallBack),
      },
      actions: {
        forgetPrevious: () => void directory.forgetPrevious(),
        tellRenewing: () => note('renewing'),
        tellRenewed: () => {
          note('ok');
          hooks.onRenewed();
          logger.info('the certificate is renewed');
        },
        tellFailed: (_, { reason }) => {
          note('failed');
          logger.warn({ reason }, 'the renewal failed');
        },
      },
    }),
    {
      notAfterMs: identity.notAfterMs,
      overlapEndsMs:
        identity.previous === null
          ? null
          : (Number.isNaN(supersededAtMs) ? parts.now() : supersededAtMs) +
            intervals.PREVIOUS_CERTIFICATE_OVERLAP_MS,
      recommendedMs: intervals.RENEWAL_RECOMMENDED_MS,
      dueMs: intervals.RENEWAL_DUE_MS,
      retryMinMs: intervals.RENEWAL_RETRY_MIN_MS,
      retryMaxMs: intervals.RENEWAL_RETRY_MAX_MS,
      seed: parts.seed,
    },
  );
}
