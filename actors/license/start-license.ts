// Opens the license of a starting Console. A quick start that was told no key makes one of its own, kept with the other
// keys, and signs itself an evaluation license once; a license that was bought is taken there as well.
// decision: D17, D32
import { LICENSE_EVALUATION_DAYS, LICENSE_EVALUATION_NODES } from '../../machines/limits.ts';
import { payloadOfDraft } from '../../machines/trust/license.rules.ts';
import type { signLicense } from './envelope-signature.ts';
import {
  type LicenseService,
  type LicenseServiceDeps,
  openLicenseService,
} from './license-service.ts';

const DAY_MS = 86_400_000;

/** Whose licenses count, and how an evaluation license is signed; null where none is made. */
export type LicenseTrust = {
  readonly anchors: LicenseServiceDeps['anchors'];
  readonly evaluation: EvaluationSigner | null;
};
export type EvaluationSigner = (
  payload: Parameters<typeof signLicense>[0],
) => ReturnType<typeof signLicense>;

export type StartLicenseDeps = Omit<LicenseServiceDeps, 'anchors'> & {
  readonly trust: LicenseTrust;
  /** Of a license that is signed here. */
  readonly graceDays: number;
};

/** Opens the service. Rejects with StoreUnavailable. */
export async function startLicense(deps: StartLicenseDeps): Promise<LicenseService> {
  const { anchors, evaluation } = deps.trust;
  const service = await openLicenseService({ ...deps, anchors });
  const { license, isStoredRefused } = service.view();
  // What somebody imported under another key is shown as refused, and not replaced.
  if (evaluation !== null && license === null && !isStoredRefused) {
    await evaluate(service, evaluation, deps);
  }
  return service;
}

async function evaluate(
  service: LicenseService,
  sign: EvaluationSigner,
  { graceDays, logger, now }: StartLicenseDeps,
): Promise<void> {
  const nowMs = now();
  const draft = {
    customer_id: 'evaluation',
    workspace_id: 'quick-start',
    license_id: `evaluation-${new Date(nowMs).toISOString()}`,
    plan: 'evaluation',
    max_protected_nodes: LICENSE_EVALUATION_NODES,
    valid_from: new Date(nowMs).toISOString(),
    valid_until: new Date(nowMs + LICENSE_EVALUATION_DAYS * DAY_MS).toISOString(),
  };
  const signed = sign(payloadOfDraft(draft, nowMs, graceDays));
  const imported = signed.ok
    ? await service.import({ envelope: signed.envelope, actor: 'quick-start' })
    : signed;
  if (!imported.ok) logger.warn({ code: imported.code }, 'no evaluation license was made');
}
