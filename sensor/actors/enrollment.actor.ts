// The effects of enrollment: CA at first contact, key on disk before the request, installation of the answer.
// invariant: I2, I7, I13
import { fromPromise, toPromise } from 'xstate';
import { REQUEST_TIMEOUT_MS } from '../../machines/limits.ts';
import { enrollmentMachine } from '../../machines/sensor/enrollment.machine.ts';
import { type EnrollmentAttempt, judgeRefusal } from '../../machines/sensor/enrollment.rules.ts';
import { EnrollResponse, SENSOR_PATHS } from '../../machines/wire/enrollment.ts';
import { parserOfValue } from '../../machines/wire/parse.ts';
import type { Identity } from '../state-directory/identity.ts';
import { parseFingerprint } from '../transport/pinned-ca.ts';
import { troubleSentence } from '../transport/trouble-sentence.ts';
import type { NodePorts } from './node-ports.ts';
import { type Parts, startActor } from './parts.ts';

const readAnswer = parserOfValue(EnrollResponse);
export type EnrollmentParts = Pick<
  Parts,
  | 'config'
  | 'logger'
  | 'clock'
  | 'now'
  | 'seed'
  | 'version'
  | 'bootId'
  | 'system'
  | 'directory'
  | 'onCrash'
> & {
  readonly instanceId: string;
  readonly consoleUrl: URL;
  readonly ports: Pick<NodePorts, 'files' | 'transport' | 'keyWork'>;
  /** Gets the identity as it was installed: a disk that cannot be read a moment later changes nothing. */
  readonly onInstalled: (identity: Identity) => void;
};

/** Exchanges a token for an identity; goes on until an answer is final. The token is never logged. */
export function enroll(parts: EnrollmentParts, token: string): Promise<EnrollmentAttempt> {
  const actor = startActor(
    parts,
    enrollmentMachine.provide({
      actors: {
        requestEnrollment: fromPromise<EnrollmentAttempt, undefined>(() => attempt(parts, token)),
      },
      actions: {
        tellRetry: (_, { reason }) =>
          parts.logger.warn({ reason }, 'not enrolled yet, trying again'),
      },
    }),
    {
      retryMinMs: parts.config.intervals.ENROLLMENT_RETRY_MIN_MS,
      retryMaxMs: parts.config.intervals.ENROLLMENT_RETRY_MAX_MS,
      seed: parts.seed,
    },
  );
  return toPromise(actor);
}

async function attempt(parts: EnrollmentParts, token: string): Promise<EnrollmentAttempt> {
  const { config, directory, consoleUrl } = parts;
  const { transport, keyWork } = parts.ports;
  const ca = await trustAnchor(parts);
  if (!ca.ok) {
    if (!ca.isReachable) return { kind: 'retry', reason: ca.reason, retryAfterMs: null };
    return { kind: 'refused', code: 'console_not_trusted', detail: ca.reason };
  }
  const keyPem = await directory.beginKey(() => keyWork.generateKeyPem());
  const csr = await keyWork.signingRequest(config.nodeName, keyPem);
  const client = transport.createClient({
    baseUrl: consoleUrl,
    instanceId: parts.instanceId,
    proxyUrl: config.proxyUrl,
    identity: { keyPem: null, certPem: null, caPem: ca.caPem },
  });
  const body = {
    token,
    csr_pem: csr,
    node_name: config.nodeName,
    flavor: config.flavor,
    ...(config.declaredRole === null ? {} : { declared_role: config.declaredRole }),
    labels: config.labels,
    system: parts.system,
    boot_id: parts.bootId,
    sensor_version: parts.version,
  };
  const answer = await client.post(SENSOR_PATHS.enroll, JSON.stringify(body), {
    timeoutMs: REQUEST_TIMEOUT_MS,
  });
  client.close();
  if (!answer.ok) {
    // Kept of an enrollment whose answer was lost, or copied from another node: with a new key the token is good.
    if (answer.kind === 'refused' && answer.code === 'key_in_use') await directory.forgetKey();
    if (answer.kind === 'refused')
      return judgeRefusal(answer.code, answer.detail, answer.retryAfterMs);
    const { kind } = answer.trouble;
    const reason = troubleSentence(answer.trouble, consoleUrl, parts.now());
    if (kind === 'console_not_trusted') return { kind: 'refused', code: kind, detail: reason };
    return { kind: 'retry', reason, retryAfterMs: null };
  }
  return install(parts, answer.json);
}

async function install(parts: EnrollmentParts, json: unknown): Promise<EnrollmentAttempt> {
  const parsed = readAnswer(json);
  if (!parsed.ok) return { kind: 'retry', reason: 'the answer does not fit', retryAfterMs: null };
  const answer = parsed.value;
  const { config } = parts;
  const installed = await parts.directory.installEnrollment({
    sensorId: answer.sensor_id,
    certPem: answer.control_plane_certificate_pem,
    caPem: answer.control_plane_ca_certificate_pem,
    policyPubPem: answer.policy_signing_public_key_pem,
    state: {
      trust_state: 'trusted',
      renewal_status: 'ok',
      console_url: parts.consoleUrl.href,
      node_name: config.nodeName,
      flavor: config.flavor,
      enrolled_at: new Date(parts.now()).toISOString(),
      ...(config.declaredRole === null ? {} : { declared_role: config.declaredRole }),
    },
  });
  if (!installed.ok) {
    const reason = `${installed.reason}: ${installed.detail}`;
    return { kind: 'retry', reason, retryAfterMs: null };
  }
  parts.onInstalled(installed.identity);
  const { sensorId, notAfterMs } = installed.identity;
  parts.logger.info({ sensorId }, 'enrolled');
  return { kind: 'enrolled', sensorId, notAfterMs };
}

type Anchor =
  | { readonly ok: true; readonly caPem: string | null }
  | { readonly ok: false; readonly isReachable: boolean; readonly reason: string };

// A named anchor wins; then what an earlier enrollment left (a re-enrollment needs no flag); then the public chain.
async function trustAnchor(parts: EnrollmentParts): Promise<Anchor> {
  const { config, directory, consoleUrl } = parts;
  const { files, transport } = parts.ports;
  const textOf = (path: string): Promise<string | null> =>
    files.readFile(path).then(String, () => null);
  if (config.caFile !== null) {
    const caPem = await textOf(config.caFile);
    if (caPem !== null) return { ok: true, caPem };
    return { ok: false, isReachable: true, reason: `${config.caFile} cannot be read` };
  }
  if (config.caFingerprint !== null) {
    const fingerprint = parseFingerprint(config.caFingerprint);
    if (fingerprint === null) {
      return {
        ok: false,
        isReachable: true,
        reason: '--ca-fingerprint must be 64 hex digits: copy it whole',
      };
    }
    return transport.fetchPinnedCa(consoleUrl, fingerprint, config.proxyUrl);
  }
  const kept = await textOf(directory.pathOf('consoleCa'));
  return { ok: true, caPem: kept };
}
