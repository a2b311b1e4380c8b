// Opens the license of a starting Console. A quick start that was told no key makes one of its own, kept with the other
// keys, and signs itself an evaluation license once; a license that was bought is taken there as well.
// decision: D17, D32
import { join } from 'node:path';
import { signLicense } from '../../../actors/license/envelope-signature.ts';
import { type LicenseDesk, openLicenseDesk } from '../../../actors/license/license-desk.ts';
import type { Logger } from '../../../actors/runtime/logger.ts';
import type { WheelClock } from '../../../actors/runtime/wheel-clock.ts';
import { LICENSE_EVALUATION_DAYS, LICENSE_EVALUATION_NODES } from '../../../machines/limits.ts';
import { payloadOfDraft } from '../../../machines/trust/license.rules.ts';
import {
  LICENSE_FILES,
  type LicenseKey,
  makeLicenseKeys,
  openLicenseKey,
} from '../../../storage/keys/license-key.ts';
import type { LicenseStore } from '../../../storage/ports/license/license-store.ts';
import { embeddedAnchor, licenseAnchorOf } from '../../assembly/license.ts';
import { processTime } from '../../assembly/time.ts';

const DAY_MS = 86_400_000;
const FOLDER = 'license-evaluation';

export type OpenLicenseOptions = {
  readonly store: LicenseStore;
  readonly keysFolder: string;
  /** SERVICE_LICENSE_TRUST_ANCHOR; null when it is not set. */
  readonly anchorPath: string | null;
  readonly isQuickStart: boolean;
  /** Of a license that is signed here. */
  readonly graceDays: number;
  readonly clock: WheelClock;
  readonly logger: Logger;
};

/** Opens the desk. Throws why a key cannot be used; rejects with StoreUnavailable. */
export async function openConsoleLicense(options: OpenLicenseOptions): Promise<LicenseDesk> {
  const { store, keysFolder, anchorPath, isQuickStart, clock, logger } = options;
  const common = { store, clock, logger, ...timeOf() };
  if (!isQuickStart || anchorPath !== null) {
    const anchor = licenseAnchorOf({ override: anchorPath, isQuickStart, logger });
    return openLicenseDesk({ ...common, anchors: [anchor] });
  }
  const key = await evaluationKey(join(keysFolder, FOLDER));
  const own = { source: 'evaluation', publicKey: key.publicKey } as const;
  const desk = await openLicenseDesk({ ...common, anchors: [own, embeddedAnchor()] });
  const { license, isStoredRefused } = desk.view();
  // What somebody imported under another key is shown as refused, and not replaced.
  if (license === null && !isStoredRefused) await evaluate(desk, key, options);
  return desk;
}

async function evaluate(
  desk: LicenseDesk,
  key: LicenseKey,
  { graceDays, logger }: OpenLicenseOptions,
): Promise<void> {
  const nowMs = processTime.now();
  const draft = {
    customer_id: 'evaluation',
    workspace_id: 'quick-start',
    license_id: `evaluation-${new Date(nowMs).toISOString()}`,
    plan: 'evaluation',
    max_protected_nodes: LICENSE_EVALUATION_NODES,
    valid_from: new Date(nowMs).toISOString(),
    valid_until: new Date(nowMs + LICENSE_EVALUATION_DAYS * DAY_MS).toISOString(),
  };
  const signed = signLicense(payloadOfDraft(draft, nowMs, graceDays), key.secretKey);
  const imported = signed.ok
    ? await desk.import({ envelope: signed.envelope, actor: 'quick-start' })
    : signed;
  if (!imported.ok) logger.warn({ code: imported.code }, 'no evaluation license was made');
}

async function evaluationKey(folder: string): Promise<LicenseKey> {
  await makeLicenseKeys(folder);
  const opened = await openLicenseKey(join(folder, LICENSE_FILES.privateKey));
  if (!opened.ok) throw new Error(opened.reason);
  return opened.key;
}

function timeOf() {
  return { now: processTime.now, monotonicNow: processTime.monotonicNow };
}
