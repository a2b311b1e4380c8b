// What the Console does with its license: opens the stored one at the start, imports another, notes the time in the store
// every minute and follows what another Console on the same database imported. A stored license that does not verify any
// more counts as none and is named in the log. Enrollment asks the gate and nobody else does. invariant: I16;
// decision: D32, D33
import { type Refusal, refuse } from '../../machines/errors.ts';
import { LICENSE_LOOK_INTERVAL_MS } from '../../machines/limits.ts';
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
import type { LicenseRow, LicenseStore, StoredLicense } from '../../storage/ports/license-store.ts';
import { watchWallClock } from '../runtime/clock-watch.ts';
import type { Logger } from '../runtime/logger.ts';
import type { WheelClock } from '../runtime/wheel-clock.ts';
import type { LicenseGate } from '../trust/license-gate.ts';
import { orUnavailable } from '../trust/outage.ts';
import { openEnvelope, openEnvelopeText } from './envelope-signature.ts';
import { type LicenseActor, startLicenseActor } from './license.actor.ts';

/** The public key licenses are checked with, and where it comes from. */
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

export type LicenseDesk = {
  readonly gate: LicenseGate;
  readonly actor: LicenseActor;
  view(): LicenseView;
  /** Imports an envelope; the one in force again is answered and changes nothing. */
  import(input: {
    readonly envelope: unknown;
    readonly actor: string;
  }): Promise<{ readonly ok: true; readonly isChanged: boolean } | Refusal>;
  /** Notes the time a last time and stops. */
  close(): Promise<void>;
};

export type LicenseDeskDeps = {
  readonly store: LicenseStore;
  readonly anchor: LicenseAnchor;
  readonly clock: WheelClock;
  readonly now: () => number;
  readonly monotonicNow: () => number;
  readonly logger: Logger;
};

type Desk = LicenseDeskDeps & { readonly actor: LicenseActor; row: LicenseRow };

/** Opens the desk from what is stored. Rejects with StoreUnavailable. */
export async function openLicenseDesk(deps: LicenseDeskDeps): Promise<LicenseDesk> {
  const row = await deps.store.observe({ nowMs: deps.now(), seenMs: 0, revision: 0 });
  const license = factsOfStored(deps, row.license);
  const actor = startLicenseActor({ ...deps, license, seenMs: row.seenMs });
  const desk: Desk = { ...deps, actor, row };
  tellBehind(desk);
  const stopLooking = lookRegularly(desk);
  return {
    actor,
    gate: {
      nodesAllowed(nowMs) {
        actor.tellTime(nowMs);
        const { license: facts, seenMs } = actor.ref.getSnapshot().context;
        return nodesAllowedBy(facts, Math.max(nowMs, seenMs));
      },
    },
    view: () => viewOf(desk),
    import: (input) => orUnavailable(() => importLicense(desk, input)),
    async close() {
      stopLooking();
      await look(desk).catch((error: unknown) => notLooked(desk, error));
      actor.stop();
    },
  };
}

async function importLicense(
  desk: Desk,
  input: { readonly envelope: unknown; readonly actor: string },
): Promise<{ readonly ok: true; readonly isChanged: boolean } | Refusal> {
  const opened = openEnvelope(input.envelope, desk.anchor.publicKey);
  if (!opened.ok) return opened;
  // What another Console imported meanwhile is known before it is judged or replaced.
  await look(desk);
  const { facts } = opened;
  const { license: before, seenMs: seenBeforeMs } = desk.actor.ref.getSnapshot().context;
  if (before !== null && isSame(before, facts)) return { ok: true, isChanged: false };
  const nowMs = desk.now();
  const seenMs = seenAfterImport({ before, next: facts }, { nowMs, seenMs: seenBeforeMs });
  if (phaseOfLicense(facts, seenMs) === 'expired') {
    return refuse('license_ended', 'The license is past the end of its grace period.');
  }
  const row = await desk.store.put({
    revision: desk.row.revision,
    licenseId: facts.licenseId,
    envelope: JSON.stringify(opened.envelope),
    seenMs,
    nowMs,
    actor: input.actor,
    detail: { before: before === null ? null : summaryOf(before), after: summaryOf(facts) },
  });
  if (row === null) {
    return refuse('store_unavailable', 'Another import came first; try again.');
  }
  desk.row = row;
  desk.actor.tellImported(facts, row.seenMs);
  return { ok: true, isChanged: true };
}

/** Notes the time in the store and takes over what another Console imported. */
async function look(desk: Desk): Promise<void> {
  const { revision } = desk.row;
  desk.actor.tellTime(desk.now());
  const { seenMs } = desk.actor.ref.getSnapshot().context;
  const row = await desk.store.observe({ nowMs: desk.now(), seenMs, revision });
  // An import of this Console that ended meanwhile knows more.
  if (row.revision < desk.row.revision) return;
  const isNew = row.revision > desk.row.revision;
  desk.row = row;
  if (!isNew) return desk.actor.tellTime(row.seenMs);
  const facts = factsOfStored(desk, row.license);
  if (facts !== null) desk.actor.tellImported(facts, row.seenMs);
}

function lookRegularly(desk: Desk): () => void {
  const { clock, now, monotonicNow } = desk;
  let isStopped = false;
  const tick = (): void => {
    if (isStopped) return;
    look(desk)
      .catch((error: unknown) => notLooked(desk, error))
      .finally(() => clock.setTimeout(tick, LICENSE_LOOK_INTERVAL_MS));
  };
  clock.setTimeout(tick, LICENSE_LOOK_INTERVAL_MS);
  const stopWatch = watchWallClock({
    clock,
    now,
    monotonicNow,
    onJump({ atMs }) {
      desk.actor.tellTime(atMs);
      tellBehind(desk);
    },
  });
  return () => {
    isStopped = true;
    stopWatch();
  };
}

function viewOf({ actor, anchor, row, now }: Desk): LicenseView {
  const nowMs = now();
  const { license, seenMs } = actor.ref.getSnapshot().context;
  const atMs = Math.max(nowMs, seenMs);
  return {
    phase: phaseOfLicense(license, atMs),
    anchor: anchor.source,
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

function factsOfStored(
  deps: Pick<LicenseDeskDeps, 'anchor' | 'logger'>,
  stored: StoredLicense | null,
): LicenseFacts | null {
  if (stored === null) return null;
  const opened = openEnvelopeText(stored.envelope, deps.anchor.publicKey);
  if (opened.ok) return opened.facts;
  const { code, detail } = opened;
  deps.logger.error({ code, detail, anchor: deps.anchor.source }, 'the stored license is refused');
  return null;
}

function tellBehind(desk: Desk): void {
  const { seenMs } = desk.actor.ref.getSnapshot().context;
  const nowMs = desk.now();
  if (!isClockBehind(nowMs, seenMs)) return;
  const fields = {
    now: new Date(nowMs).toISOString(),
    largestSeen: new Date(seenMs).toISOString(),
  };
  desk.logger.warn(fields, 'the clock was set back: the license counts by the largest time seen');
}

function notLooked(desk: Desk, error: unknown): void {
  desk.logger.warn({ error: String(error) }, 'the time could not be noted beside the license');
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
