// What the Console does with its license: opens the stored one at the start, imports another, notes the time in the store
// every minute and follows what another Console on the same database imported. A stored license that does not verify any
// more counts as none and is named in the log. Enrollment asks the gate and nobody else does. invariant: I16;
// decision: D32, D33
import { type Refusal, refuse } from '../../machines/errors.ts';
import { LICENSE_LOOK_INTERVAL_MS, RETRY_AFTER_STORE_MS } from '../../machines/limits.ts';
import {
  bannersOfLicense,
  isClockBehind,
  type LicenseBanner,
  type LicenseFacts,
  type LicensePhase,
  type LicenseStretch,
  nodesAllowedBy,
  phaseOfLicense,
  seenAfterImport,
  timelineOfLicense,
} from '../../machines/trust/license.rules.ts';
import type {
  LicenseRow,
  LicenseStore,
  StoredLicense,
} from '../../storage/ports/license/license-store.ts';
import { clockLoop } from '../loops/clock-loop.ts';
import type { UpkeepLoop } from '../loops/loop.ts';
import type { Logger } from '../runtime/logger.ts';
import { createLooks, type Looks } from '../runtime/looks.ts';
import type { WheelClock } from '../runtime/wheel-clock.ts';
import type { LicenseGate } from '../trust/license-gate.ts';
import { orUnavailable } from '../trust/outage.ts';
import { type OpenedLicense, openEnvelope, openEnvelopeText } from './envelope-signature.ts';
import { type LicenseActor, startLicenseActor } from './license.actor.ts';

/** A public key licenses are checked with, and where it comes from. */
export type LicenseAnchor = {
  readonly source: 'embedded' | 'evaluation';
  readonly publicKey: Uint8Array;
};

export type LicenseView = {
  readonly phase: LicensePhase;
  readonly anchor: LicenseAnchor['source'];
  readonly license: LicenseFacts | null;
  readonly stored: StoredLicense | null;
  /** One is stored, but its signature is not by the trusted key: it counts as none. */
  readonly isStoredRefused: boolean;
  readonly timeline: readonly LicenseStretch[];
  readonly banners: readonly LicenseBanner[];
  readonly nodesAllowed: number | null;
  readonly nowMs: number;
  readonly seenMs: number;
  readonly isClockBehind: boolean;
};

export type LicenseService = {
  readonly gate: LicenseGate;
  readonly actor: LicenseActor;
  view(): LicenseView;
  /** Verifies an envelope and changes nothing. */
  check(envelope: unknown): OpenedLicense | Refusal;
  /** Imports an envelope; the one in force again is answered and changes nothing. */
  import(input: {
    readonly envelope: unknown;
    readonly actor: string;
    readonly from?: string | undefined;
  }): Promise<{ readonly ok: true; readonly isChanged: boolean } | Refusal>;
  /** Note the time in the store and what another Console imported, and tell jumps of the clock. */
  readonly loops: readonly UpkeepLoop[];
  /** Notes the time a last time and stops. */
  close(): Promise<void>;
};

export type LicenseServiceDeps = {
  readonly store: LicenseStore;
  /** Tried in this order; the first is shown while there is no license. */
  readonly anchors: readonly [LicenseAnchor, ...LicenseAnchor[]];
  readonly clock: WheelClock;
  readonly now: () => number;
  readonly monotonicNow: () => number;
  readonly logger: Logger;
};

type Service = LicenseServiceDeps & {
  readonly actor: LicenseActor;
  row: LicenseRow;
  readonly looks: Looks;
  /** The warning that the log has, so that it has each once a day. */
  toldBanner: string | null;
  /** Whose key the license in force verified with. */
  source: LicenseAnchor['source'];
};
type Opened = OpenedLicense & { readonly source: LicenseAnchor['source'] };

/** Opens the service from what is stored. Rejects with StoreUnavailable. */
export async function openLicenseService(deps: LicenseServiceDeps): Promise<LicenseService> {
  const row = await deps.store.observe({ nowMs: deps.now(), seenMs: 0, revision: 0 });
  const stored = openStored(deps, row.license);
  const license = stored?.facts ?? null;
  const actor = startLicenseActor({ ...deps, license, seenMs: row.seenMs });
  const service: Service = {
    ...deps,
    actor,
    row,
    looks: createLooks(),
    toldBanner: null,
    source: stored?.source ?? deps.anchors[0].source,
  };
  tellBehind(service);
  tellEnd(service);
  let isSaid = false;
  return {
    actor,
    gate: {
      nodesAllowed(nowMs) {
        actor.tellTime(nowMs);
        const { license: facts, seenMs } = actor.ref.getSnapshot().context;
        if (facts === null && !isSaid) {
          isSaid = true;
          deps.logger.warn('no license is in force: enrollment has no limit');
        }
        return nodesAllowedBy(facts, Math.max(nowMs, seenMs));
      },
    },
    view: () => viewOf(service),
    check: (envelope) => openByAny(service, (publicKey) => openEnvelope(envelope, publicKey)),
    import: (input) => orUnavailable(() => importLicense(service, input)),
    loops: [lookLoop(service), jumpLoop(service)],
    async close() {
      await look(service).catch((error: unknown) => notLooked(service, error));
      actor.stop();
    },
  };
}

async function importLicense(
  service: Service,
  input: { readonly envelope: unknown; readonly actor: string; readonly from?: string | undefined },
): Promise<{ readonly ok: true; readonly isChanged: boolean } | Refusal> {
  const opened = openByAny(service, (publicKey) => openEnvelope(input.envelope, publicKey));
  if (!opened.ok) return opened;
  // What another Console imported meanwhile is known before it is judged or replaced.
  await look(service);
  const { facts } = opened;
  const { license: before, seenMs: seenBeforeMs } = service.actor.ref.getSnapshot().context;
  if (before !== null && isSame(before, facts)) return { ok: true, isChanged: false };
  const nowMs = service.now();
  const seenMs = seenAfterImport({ before, next: facts }, { nowMs, seenMs: seenBeforeMs });
  if (phaseOfLicense(facts, seenMs) === 'expired') {
    return refuse('license_ended', 'The license is past the end of its grace period.');
  }
  const row = await service.store.put({
    revision: service.row.revision,
    licenseId: facts.licenseId,
    envelope: JSON.stringify(opened.envelope),
    seenMs,
    nowMs,
    actor: input.actor,
    from: input.from,
    before: before === null ? null : summaryOf(before),
    after: summaryOf(facts),
  });
  if (row === null) {
    return refuse('store_unavailable', 'Another import came first; try again.', {
      retryAfterMs: RETRY_AFTER_STORE_MS,
    });
  }
  service.looks.outdate();
  service.row = row;
  service.source = opened.source;
  service.actor.tellImported(facts, row.seenMs);
  return { ok: true, isChanged: true };
}

/** Notes the time in the store and takes over what is stored there now. */
async function look(service: Service): Promise<void> {
  const { revision } = service.row;
  service.actor.tellTime(service.now());
  const { seenMs } = service.actor.ref.getSnapshot().context;
  const isNewest = service.looks.begin();
  const row = await service.store.observe({ nowMs: service.now(), seenMs, revision });
  // An import of this Console that ended meanwhile knows more.
  if (!isNewest()) return;
  const before = service.row;
  service.row = row;
  // A database that went back may have come to the same revision by another import.
  const isSame =
    row.revision === before.revision && row.license?.envelope === before.license?.envelope;
  if (isSame) return service.actor.tellTime(row.seenMs);
  const stored = openStored(service, row.license);
  if (stored === null && row.license !== null) return;
  if (stored !== null) service.source = stored.source;
  service.actor.tellImported(stored?.facts ?? null, row.seenMs);
}

function lookLoop(service: Service): UpkeepLoop {
  return {
    name: 'license-look',
    runsOn: 'process',
    everyMs: LICENSE_LOOK_INTERVAL_MS,
    async run() {
      await look(service);
      tellEnd(service);
      return undefined;
    },
  };
}

function jumpLoop(service: Service): UpkeepLoop {
  const { now, monotonicNow } = service;
  return clockLoop({
    ...{ name: 'license-clock', now, monotonicNow },
    onJump({ atMs }) {
      service.actor.tellTime(atMs);
      tellBehind(service);
    },
  });
}

function viewOf({ actor, source, row, now }: Service): LicenseView {
  const nowMs = now();
  const { license, seenMs } = actor.ref.getSnapshot().context;
  const atMs = Math.max(nowMs, seenMs);
  return {
    phase: phaseOfLicense(license, atMs),
    anchor: source,
    license,
    stored: license === null ? null : row.license,
    isStoredRefused: license === null && row.license !== null,
    timeline: timelineOfLicense(license),
    banners: bannersOfLicense(license, { nowMs, seenMs }),
    nodesAllowed: nodesAllowedBy(license, atMs),
    nowMs,
    seenMs: atMs,
    isClockBehind: isClockBehind(nowMs, seenMs),
  };
}

/** Opens with the first key that signed it; otherwise the refusal of the last. */
function openByAny(
  { anchors }: Pick<LicenseServiceDeps, 'anchors'>,
  open: (publicKey: Uint8Array) => OpenedLicense | Refusal,
): Opened | Refusal {
  let refused: Refusal = refuse('license_refused', 'No key is trusted.');
  for (const { publicKey, source } of anchors) {
    const opened = open(publicKey);
    if (opened.ok) return { ...opened, source };
    refused = opened;
  }
  return refused;
}

function openStored(
  deps: Pick<LicenseServiceDeps, 'anchors' | 'logger'>,
  stored: StoredLicense | null,
): Opened | null {
  if (stored === null) return null;
  const opened = openByAny(deps, (publicKey) => openEnvelopeText(stored.envelope, publicKey));
  if (opened.ok) return opened;
  const { code, detail } = opened;
  deps.logger.error({ code, detail }, 'the stored license is refused and counts as none');
  return null;
}

function tellBehind(service: Service): void {
  const { seenMs } = service.actor.ref.getSnapshot().context;
  const nowMs = service.now();
  if (!isClockBehind(nowMs, seenMs)) return;
  const fields = {
    now: new Date(nowMs).toISOString(),
    largestSeen: new Date(seenMs).toISOString(),
  };
  service.logger.warn(
    fields,
    'the clock was set back: the license counts by the largest time seen',
  );
}

/** A license that is near its end, or past it, is in the log at the start and once a day. */
function tellEnd(service: Service): void {
  const { banners, license } = viewOf(service);
  const found = banners.find(({ reason }) => ENDING.has(reason));
  const told = found === undefined ? null : `${found.reason} ${found.daysLeft}`;
  if (told === service.toldBanner) return;
  service.toldBanner = told;
  if (found === undefined || license === null) return;
  const fields = {
    phase: found.reason,
    daysLeft: found.daysLeft,
    validUntil: new Date(license.validUntilMs).toISOString(),
    graceUntil: new Date(license.graceUntilMs).toISOString(),
  };
  service.logger.warn(fields, 'the license is near its end, or past it');
}

const ENDING: ReadonlySet<LicenseBanner['reason']> = new Set([
  ...(['ending_soon', 'grace', 'expired'] as const),
]);

function notLooked(service: Service, error: unknown): void {
  service.logger.warn({ error: String(error) }, 'the time could not be noted beside the license');
}

function isSame(one: LicenseFacts, other: LicenseFacts): boolean {
  return JSON.stringify(summaryOf(one)) === JSON.stringify(summaryOf(other));
}

function summaryOf(facts: LicenseFacts): Readonly<Record<string, unknown>> {
  return {
    license_id: facts.licenseId,
    customer_id: facts.customerId,
    workspace_id: facts.workspaceId,
    plan: facts.plan,
    max_protected_nodes: facts.maxProtectedNodes,
    valid_from: new Date(facts.validFromMs).toISOString(),
    valid_until: new Date(facts.validUntilMs).toISOString(),
    grace_until: new Date(facts.graceUntilMs).toISOString(),
    issued_at: new Date(facts.issuedAtMs).toISOString(),
  };
}
