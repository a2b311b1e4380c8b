// What the Console wants of the policies of this node, what is held here, and the next step from one to the other. Keys
// come first, since what follows may be signed by them; then the switch, the sensor's own policies, the pack. decision: D78
import type { HighestApplied } from '../policy/manifest.rules.ts';
import type {
  CustomPolicies,
  EnforcementPolicy,
  EnforcementState,
  KeyRotation,
  PackAssignment,
  PolicyAnswer,
} from '../wire/policy.ts';
import { NODE_PACKS_MAX } from './policy-limits.ts';

export type AssignedPack = Extract<PackAssignment, { readonly pack_id: string }>;
export type NamedDigest = { readonly name: string; readonly sha256: string };
/** What is in force here; kept on disk as one file. */
export type Held = {
  readonly pack: (AssignedPack & { readonly policies: readonly NamedDigest[] }) | null;
  readonly enforcement: EnforcementPolicy;
  readonly custom: { readonly revision: number; readonly policies: readonly NamedDigest[] };
  /** Of each pack that was ever applied here, by its id. */
  readonly highest: Readonly<Record<string, HighestApplied>>;
};
export const NOTHING_HELD: Held = {
  pack: null,
  enforcement: { revision: 0, mode: 'enforce' },
  custom: { revision: 0, policies: [] },
  highest: {},
};

/** One step. */
export type PolicyJob =
  | { readonly kind: 'keys'; readonly rotations: readonly KeyRotation[] }
  | { readonly kind: 'switch'; readonly enforcement: EnforcementPolicy }
  | { readonly kind: 'custom'; readonly custom: CustomPolicies }
  | { readonly kind: 'removal'; readonly assignmentId: string }
  | { readonly kind: 'pack'; readonly pack: AssignedPack };
export type JobKind = PolicyJob['kind'];
/** At most one step of each kind; a removal waits in the place of a pack. */
export type Wish = {
  readonly keys: PolicyJob | null;
  readonly switch: PolicyJob | null;
  readonly custom: PolicyJob | null;
  readonly pack: PolicyJob | null;
};
export type WishSlot = keyof Wish;
export const NO_WISH: Wish = { keys: null, switch: null, custom: null, pack: null };
const ORDER: readonly WishSlot[] = ['keys', 'switch', 'custom', 'pack'];

export type Refusal = {
  readonly state: Extract<EnforcementState, 'rejected' | 'failed'>;
  readonly code: string;
  readonly reason: string;
};
export type RefusedJob = { readonly job: PolicyJob; readonly refusal: Refusal };
export type Refused = Readonly<Record<WishSlot, RefusedJob | null>>;
export const NONE_REFUSED: Refused = { keys: null, switch: null, custom: null, pack: null };

/** What a download taught of a job: what it holds, as far as it was verified. */
export type Fetched = {
  readonly policies: readonly NamedDigest[];
  /** Of a pack: the versions its manifest lets this node return to. */
  readonly rollbackTo: readonly number[];
};

export function slotOf(job: PolicyJob): WishSlot {
  return job.kind === 'removal' ? 'pack' : job.kind;
}

/** The next step; null = none. */
export function nextJob(wish: Wish): PolicyJob | null {
  for (const slot of ORDER) if (wish[slot] !== null) return wish[slot];
  return null;
}

/** Whether its content lies on the Console. */
export function needsDownload(job: PolicyJob): boolean {
  if (job.kind === 'custom') return job.custom.policies.length > 0;
  return job.kind === 'pack';
}

/** The steps that an answer asks for. */
export function jobsOf(answer: PolicyAnswer): readonly PolicyJob[] {
  const { signing_key_rotations, enforcement_policy, custom_policies, pack_assignment } = answer;
  const jobs: PolicyJob[] = [];
  if (signing_key_rotations !== undefined && signing_key_rotations.length > 0) {
    jobs.push({ kind: 'keys', rotations: signing_key_rotations });
  }
  if (enforcement_policy !== undefined) {
    jobs.push({ kind: 'switch', enforcement: enforcement_policy });
  }
  if (custom_policies !== undefined) jobs.push({ kind: 'custom', custom: custom_policies });
  if (pack_assignment !== undefined) {
    jobs.push(
      'removed' in pack_assignment
        ? { kind: 'removal', assignmentId: pack_assignment.assignment_id }
        : { kind: 'pack', pack: pack_assignment },
    );
  }
  return jobs;
}

/** Puts steps into their places. What is held already is no step, and what was refused is not tried again for being told
 * again. */
export function wishAfter(
  wish: Wish,
  jobs: readonly PolicyJob[],
  known: { readonly held: Held; readonly refused: Refused },
): Wish {
  let next = wish;
  for (const job of jobs) {
    const slot = slotOf(job);
    const isDone = isHeld(job, known.held) || isSame(known.refused[slot]?.job ?? null, job);
    next = { ...next, [slot]: isDone ? null : job };
  }
  return next;
}

/** Whether what a step asks for is in force. */
export function isHeld(job: PolicyJob, held: Held): boolean {
  switch (job.kind) {
    case 'keys':
      return false;
    case 'switch':
      return isSame(job.enforcement, held.enforcement);
    case 'custom':
      return (
        job.custom.revision === held.custom.revision &&
        isSame(job.custom.policies, held.custom.policies)
      );
    case 'removal':
      return held.pack === null;
    case 'pack': {
      if (held.pack === null) return false;
      const { policies: _, ...assigned } = held.pack;
      return isSame(job.pack, assigned);
    }
  }
}

/** What is held after a step. `fetched` is null where nothing was downloaded. */
export function heldAfter(held: Held, job: PolicyJob, fetched: Fetched | null): Held {
  const policies = fetched?.policies ?? [];
  switch (job.kind) {
    case 'keys':
      return held;
    case 'switch':
      return { ...held, enforcement: job.enforcement };
    case 'custom':
      return { ...held, custom: { revision: job.custom.revision, policies } };
    case 'removal':
      return { ...held, pack: null };
    case 'pack':
      return {
        ...held,
        pack: { ...job.pack, policies },
        highest: raised(held.highest, job.pack, fetched?.rollbackTo ?? []),
      };
  }
}

/** Whether one more pack can be remembered: forgetting one would forget which versions of it are too old. */
export function canRemember(highest: Held['highest'], packId: string): boolean {
  return highest[packId] !== undefined || Object.keys(highest).length < NODE_PACKS_MAX;
}

function raised(
  highest: Held['highest'],
  { pack_id, version, manifest_sha256 }: AssignedPack,
  rollbackTo: readonly number[],
): Held['highest'] {
  const before = highest[pack_id];
  if (before !== undefined && before.version >= version) return highest;
  return { ...highest, [pack_id]: { version, manifest_sha256, rollback_to: rollbackTo } };
}

/** The same plain data. Members in another order are another text, and then a step is done once more. */
export function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
