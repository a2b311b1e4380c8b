// What an operator does with packs: make one, change its draft, publish, put in what was signed elsewhere. A published
// version never changes. decision: D80, D82
import {
  type PackDraft,
  type PackRow,
  type VersionRow,
  versionId,
  versionsOf,
} from '../../machines/console/policy/book.rules.ts';
import { type Refusal, refuse } from '../../machines/errors.ts';
import { PACK_VERSIONS_MAX, PACKS_MAX } from '../../machines/limits.ts';
import { mistakesOfManifest } from '../../machines/policy/manifest.rules.ts';
import type { PackHead, SignedPack } from '../../machines/wire/policy.ts';
import type { Flavor } from '../../machines/wire/scalars.ts';
import type { AuditContext } from '../../storage/ports/plumbing/audit-context.ts';
import { type SignBytes, signPack, verifyPack } from '../runtime/policy-pack.ts';
import { type CheckedPolicy, checkPolicies, isWithinBody } from './pack-check.ts';
import { type Acted, type BookService, entryOf, type Judged } from './policy-book.ts';

export type PackActs = {
  create(
    input: AuditContext & {
      readonly packId: string;
      readonly name: string;
      readonly flavor: Flavor;
      readonly draft: PackDraft;
    },
  ): Promise<Acted<PackRow>>;
  /** `revision`: of the draft that was read. */
  changeDraft(
    input: AuditContext & {
      readonly packId: string;
      readonly revision: number;
      readonly draft: PackDraft;
    },
  ): Promise<Acted<PackRow>>;
  /** Null when there is no such pack. */
  draft(packId: string): Promise<PackDraft | null>;
  /** Signs the draft as the next version, or only says what that would be. */
  publish(
    input: AuditContext & {
      readonly packId: string;
      readonly isDryRun: boolean;
      /**
       * The highest version that nodes say they had, 0 without any: they take no other one of its number, nor a lower one,
       * also where the database forgot it. decision: D171
       */
      readonly heard: number;
    },
  ): Promise<Acted<VersionRow>>;
  /** Takes a version that was signed elsewhere as it is; makes its pack when there is none. */
  publishSigned(
    input: AuditContext & { readonly pack: SignedPack; readonly isDryRun: boolean },
  ): Promise<Acted<VersionRow>>;
  /** Null when it was not published. */
  signed(packId: string, version: number): Promise<SignedPack | null>;
};

export type PackActsDeps = {
  readonly book: BookService;
  /** Null while this Console signs nothing. */
  readonly signer: () => SignBytes | null;
};

const NO_PACK = refuse('not_found', 'There is no such pack.');
const OFFLINE = refuse('signing_offline', 'policy_signing is offline.');

/** Makes the acts. */
export function createPackActs({ book, signer }: PackActsDeps): PackActs {
  function commitVersion(
    input: AuditContext & { readonly pack: SignedPack; readonly isDryRun: boolean },
  ): Promise<Acted<VersionRow>> | Acted<VersionRow> {
    const { pack, isDryRun, ...doing } = input;
    const refused = whyNotPublished(pack);
    if (refused !== null) return refused;
    const verdict = verifyPack(pack, book.keys().keys);
    if (!verdict.ok) {
      return refuse('signature_not_trusted', `${verdict.pointer}: ${verdict.reason}.`);
    }
    const { manifest, manifestSha256, keyId } = verdict;
    const row: VersionRow = {
      ...{ manifest, manifestSha256, keyId },
      ...{ publishedAtMs: doing.nowMs, publishedBy: doing.actor },
    };
    const judge = (): Judged<VersionRow> => judgeVersion(book, doing, { row, pack });
    if (!isDryRun) return book.act(doing.nowMs, judge);
    const judged = judge();
    return judged.ok ? { ok: true, answer: judged.answer } : judged;
  }

  return {
    create: ({ packId, name, flavor, draft, ...doing }) =>
      book.act(doing.nowMs, ({ packs }) => {
        const refused = whyNotNew(packs, name);
        if (refused !== null) return refused;
        const row: PackRow = {
          ...{ packId, name, flavor, createdAtMs: doing.nowMs, createdBy: doing.actor },
          ...{ draftRevision: 1, latestVersion: null },
        };
        return {
          ok: true,
          answer: row,
          changes: [{ kind: 'pack', id: packId, head: row, body: draft }],
          audit: [entryOf(doing, { action: 'pack.create', target: packId, after: { name } })],
        };
      }),
    changeDraft: ({ packId, revision, draft, ...doing }) =>
      book.act(doing.nowMs, ({ packs }) => {
        const before = packs.get(packId);
        if (before === undefined) return NO_PACK;
        if (before.draftRevision !== revision) {
          return refuse('draft_changed', `The draft is at revision ${before.draftRevision}.`);
        }
        const row = { ...before, draftRevision: revision + 1 };
        const names = draft.policies.map((one) => one.name);
        return {
          ok: true,
          answer: row,
          changes: [{ kind: 'pack', id: packId, head: row, body: draft }],
          audit: [
            entryOf(doing, { action: 'pack.draft', target: packId, after: { policies: names } }),
          ],
        };
      }),
    draft: async (packId) => (await book.store.body('pack', packId)) as PackDraft | null,
    async publish({ packId, isDryRun, heard, ...doing }) {
      const sign = signer();
      if (sign === null) return OFFLINE;
      const row = book.book().packs.get(packId);
      const draft = (await book.store.body('pack', packId)) as PackDraft | null;
      if (row === undefined || draft === null) return NO_PACK;
      const version = nextAfter(row.latestVersion ?? 0, heard);
      const { policies, ...rest } = draft;
      const { name, flavor } = row;
      const head: PackHead = { pack_id: packId, version, name, flavor, ...rest };
      const refused = whyNotHead(head, policies);
      if (refused !== null) return refused;
      return commitVersion({ ...doing, pack: signPack(head, policies, sign), isDryRun });
    },
    publishSigned: async (input) => commitVersion(input),
    signed: async (packId, version) =>
      (await book.store.body('version', versionId(packId, version))) as SignedPack | null,
  };
}

/** A node that lies uses up no more numbers than a pack could have had. */
function nextAfter(latest: number, heard: number): number {
  return (heard - latest > PACK_VERSIONS_MAX ? latest : Math.max(latest, heard)) + 1;
}

function judgeVersion(
  { book }: BookService,
  doing: AuditContext,
  { row, pack }: { readonly row: VersionRow; readonly pack: SignedPack },
): Judged<VersionRow> {
  const { packs } = book();
  const { pack_id: packId, version, name, flavor } = row.manifest;
  const before = packs.get(packId);
  if (before === undefined) {
    const refused = whyNotNew(packs, name);
    if (refused !== null) return refused;
  }
  const latest = before?.latestVersion ?? 0;
  if (version <= latest) {
    return refuse('version_not_newer', `Version ${latest} is published; ${version} is not newer.`);
  }
  if (versionsOf(book(), packId).length >= PACK_VERSIONS_MAX) {
    return refuse('bound_reached', `A pack has at most ${PACK_VERSIONS_MAX} versions.`);
  }
  const made = { createdAtMs: doing.nowMs, createdBy: doing.actor, draftRevision: 1 };
  const head: PackRow = { packId, name, flavor, ...made, ...before, latestVersion: version };
  const { policies, mode, modes_allowed, namespace_scope, rollback_to } = pack;
  const texts = policies.map((one) => ({ name: one.name, yaml: one.yaml }));
  const draft: PackDraft = { mode, modes_allowed, namespace_scope, rollback_to, policies: texts };
  return {
    ok: true,
    answer: row,
    changes: [
      { kind: 'version', id: versionId(packId, version), head: row, body: pack },
      { kind: 'pack', id: packId, head, ...(before === undefined ? { body: draft } : {}) },
    ],
    audit: [
      entryOf(doing, {
        action: 'pack.publish',
        target: packId,
        before: before === undefined ? null : { version: before.latestVersion },
        after: { version, manifest_sha256: row.manifestSha256, key_id: row.keyId },
      }),
    ],
  };
}

function whyNotNew(packs: ReadonlyMap<string, PackRow>, name: string): Refusal | null {
  if (packs.size >= PACKS_MAX) return refuse('bound_reached', `There are ${PACKS_MAX} packs.`);
  const key = name.toLowerCase();
  const isTaken = [...packs.values()].some((one) => one.name.toLowerCase() === key);
  return isTaken ? refuse('name_taken', 'Another pack has this name.') : null;
}

function whyNotHead(head: PackHead, policies: readonly { name: string }[]): Refusal | null {
  const manifest = { ...head, policies: policies.map(({ name }) => ({ name, sha256: '' })) };
  const errors = mistakesOfManifest(manifest);
  if (policies.length === 0) return refuse('policy_refused', 'A pack holds at least one policy.');
  return errors.length === 0
    ? null
    : refuse('schema_violation', 'The pack contradicts itself.', { errors });
}

/** Every policy is judged before anything is signed or believed. */
function whyNotPublished(pack: SignedPack): Refusal | null {
  if (!isWithinBody(pack)) return refuse('body_too_large', 'The signed pack is larger than 4 MB.');
  const wrong = checkPolicies(pack.policies).filter(({ ok }) => !ok);
  return wrong.length === 0 ? null : refusalOfChecks(wrong);
}

const ERRORS_TOLD_MAX = 20;

/** The refusal that names every place. */
export function refusalOfChecks(wrong: readonly CheckedPolicy[]): Refusal {
  const errors = wrong
    .flatMap(({ name, refusals }) =>
      refusals.map(({ path, line, column, reason }) => ({
        pointer: `/policies/${name}${path === '' ? '' : `/${path}`}`,
        detail: `line ${line}, column ${column}: ${reason}`,
      })),
    )
    .slice(0, ERRORS_TOLD_MAX);
  const names = wrong.map(({ name }) => name).join(', ');
  return refuse('policy_refused', `No engine can honour ${names}.`.slice(0, 500), { errors });
}
