// Digests as admins manage them: judged before they are stored, the secret sealed and never told again, a preview of what
// would be sent now, and a test that sends it. decision: D166; invariant: I11
import {
  type DigestMistake,
  type DigestPlan,
  mistakesOfDigest,
  secretPlaceOf,
} from '../../machines/console/digest/destination.rules.ts';
import type { Digest } from '../../machines/console/digest/digest.ts';
import { localDayOf } from '../../machines/console/digest/digest-due.rules.ts';
import { type Refusal, refuse } from '../../machines/errors.ts';
import { DIGEST_STEP_TIMEOUT_MS } from '../../machines/limits.ts';
import { DAY_MS } from '../../machines/units.ts';
import { auditEntryOf } from '../../storage/ports/audit/audit-entry.ts';
import type { AuditLog } from '../../storage/ports/audit/audit-log.ts';
import type { DigestRow, DigestStore } from '../../storage/ports/digest/digest-store.ts';
import type { LabelStore } from '../../storage/ports/fleet/teams.ts';
import type { AuditContext } from '../../storage/ports/plumbing/audit-context.ts';
import type { Sealer } from '../../storage/ports/plumbing/sealer.ts';
import { areCertificates } from '../outbound/ca-pem.ts';
import { mistakeOfProxy, mistakeOfTarget } from '../outbound/destination-mistakes.ts';
import { hostOf } from '../outbound/guarded-connect.ts';
import type { Handed } from '../outbound/outbound-mail.ts';
import type { Chance } from '../trust/chance.ts';
import type { DigestFacts } from './digest-facts.ts';
import { secretContextOfDigest } from './digest-secrets.ts';
import type { DigestSender } from './digest-sender.ts';

type Of = AuditContext & { readonly digestId: string };
type Changed = { readonly ok: true; readonly digest: DigestRow } | Refusal;
/** `secret` absent: the one before stays, null removes it. */
export type DigestGiven = {
  readonly plan: DigestPlan;
  readonly secret?: string | null | undefined;
};

export type DigestService = {
  create(input: AuditContext & DigestGiven): Promise<Changed>;
  change(input: Of & DigestGiven & { readonly revision: number }): Promise<Changed>;
  remove(input: Of): Promise<{ readonly ok: true } | Refusal>;
  /** What would be sent now of the last 24 hours; nothing is sent. */
  preview(of: {
    readonly digestId: string;
    readonly nowMs: number;
  }): Promise<{ readonly ok: true; readonly digest: Digest } | Refusal>;
  /** Sends it, marked as a test, whatever the day. */
  test(input: Of): Promise<{ readonly ok: true; readonly handed: Handed } | Refusal>;
};
export type DigestServiceDeps = {
  readonly digests: Pick<DigestStore, 'get' | 'create' | 'change' | 'remove'>;
  readonly groups: Pick<LabelStore, 'get'>;
  readonly audit: Pick<AuditLog, 'append'>;
  readonly facts: DigestFacts;
  readonly sender: DigestSender;
  readonly sealer: Sealer;
  readonly allowList: () => readonly string[];
  readonly chance: Pick<Chance, 'newId'>;
};

const NOT_FOUND = refuse('not_found', 'There is no such digest.');

/** Makes the service. Every method rejects with StoreUnavailable. */
export function createDigestService(deps: DigestServiceDeps): DigestService {
  return {
    create: (input) => create(deps, input),
    change: (input) => change(deps, input),
    remove: async (input) => ((await deps.digests.remove(input)) ? { ok: true } : NOT_FOUND),
    preview: ({ digestId, nowMs }) => preview(deps, { digestId, nowMs, isTest: false }),
    test: (input) => test(deps, input),
  };
}

async function create(
  deps: DigestServiceDeps,
  { plan, secret, ...context }: Parameters<DigestService['create']>[0],
): Promise<Changed> {
  const errors = await mistakesOf(deps, plan, typeof secret === 'string');
  if (errors.length > 0) return refused(errors);
  const digestId = deps.chance.newId();
  const secretSealed = sealed(deps, digestId, secret ?? null);
  const digest = { ...plan, digestId, secretSealed, sinceMs: context.nowMs };
  const created = await deps.digests.create({ ...context, digest });
  if (created === 'full') return refuse('digests_full', 'No more can be added.');
  return created === 'conflict' ? conflict() : { ok: true, digest: created };
}

async function change(
  deps: DigestServiceDeps,
  { plan, secret, ...input }: Parameters<DigestService['change']>[0],
): Promise<Changed> {
  const { digestId, nowMs } = input;
  const before = await deps.digests.get(digestId);
  if (before === null) return NOT_FOUND;
  // A secret that would go to another place is given again: nobody sends a stored one where they like.
  const stays = secretPlaceOf(before.way) === secretPlaceOf(plan.way) ? before.secretSealed : null;
  const secretSealed = secret === undefined ? stays : sealed(deps, digestId, secret);
  const errors = await mistakesOf(deps, plan, secretSealed !== null);
  if (errors.length > 0) return refused(errors);
  const isSame =
    before.at === plan.at &&
    before.timeZone === plan.timeZone &&
    before.groupId === plan.groupId &&
    before.isOn === plan.isOn;
  const sinceMs = isSame ? before.sinceMs : nowMs;
  const patch = { ...plan, secretSealed, sinceMs };
  const changed = await deps.digests.change({ ...input, patch });
  if (changed === 'not_found') return NOT_FOUND;
  return changed === 'conflict' ? conflict() : { ok: true, digest: changed };
}

async function preview(
  deps: DigestServiceDeps,
  of: { readonly digestId: string; readonly nowMs: number; readonly isTest: boolean },
): ReturnType<DigestService['preview']> {
  const { digestId, nowMs, isTest } = of;
  const row = await deps.digests.get(digestId);
  if (row === null) return NOT_FOUND;
  const digest = await deps.facts.collect({
    ...{ row, day: localDayOf(row.timeZone, nowMs), fromMs: nowMs - DAY_MS, toMs: nowMs, nowMs },
    ...{ isTest, untold: [], signal: AbortSignal.timeout(DIGEST_STEP_TIMEOUT_MS) },
  });
  if (digest !== null) return { ok: true, digest };
  return refused([{ pointer: '/group_id', detail: 'its group is gone' }]);
}

async function test(deps: DigestServiceDeps, input: Of): ReturnType<DigestService['test']> {
  const { digestId, nowMs } = input;
  const row = await deps.digests.get(digestId);
  const made = await preview(deps, { digestId, nowMs, isTest: true });
  if (row === null || !made.ok) return made.ok ? NOT_FOUND : made;
  const signal = new AbortController().signal;
  const handed = await deps.sender.send({ row, digest: made.digest, signal });
  const entry = auditEntryOf(input, 'digest.test', digestId, 'ok');
  await deps.audit.append([{ ...entry, detail: { outcome: handed.kind } }]);
  return { ok: true, handed };
}

async function mistakesOf(
  deps: DigestServiceDeps,
  plan: DigestPlan,
  hasSecret: boolean,
): Promise<readonly DigestMistake[]> {
  const found = [...mistakesOfDigest(plan)];
  const { way, caPem, proxyUrl, groupId } = plan;
  const allowList = deps.allowList();
  const add = (pointer: string, detail: string | null): void => {
    if (detail !== null) found.push({ pointer, detail });
  };
  if (way.kind === 'mail' && (way.username !== null) !== hasSecret) {
    const needed = 'is needed; with another server, port or user it is given again';
    add('/secret', hasSecret ? 'is of no use without a user' : needed);
  }
  if (groupId !== null && (await deps.groups.get(groupId)) === null) {
    add('/group_id', 'there is no such group');
  }
  if (caPem !== null && !areCertificates(caPem)) {
    add('/ca_pem', 'certificates in PEM, and nothing else');
  }
  if (proxyUrl !== null) add('/proxy_url', mistakeOfProxy(proxyUrl, allowList));
  // A literal address is told at once; what a name resolves to is judged when something is sent.
  const pointer = way.kind === 'mail' ? '/mail/host' : '/webhook/target_url';
  if (found.some((one) => one.pointer === pointer)) return found;
  const host = way.kind === 'mail' ? way.host : hostOf(new URL(way.targetUrl));
  add(pointer, mistakeOfTarget(host, allowList));
  return found;
}

function sealed({ sealer }: DigestServiceDeps, digestId: string, secret: string | null) {
  return secret === null ? null : sealer.seal(secret, secretContextOfDigest(digestId));
}

function refused(errors: readonly DigestMistake[]): Refusal {
  return refuse('digest_refused', 'Some fields cannot be used like this.', { errors });
}

function conflict(): Refusal {
  return refuse('digest_conflict', 'It was changed meanwhile, or another has this name.');
}
