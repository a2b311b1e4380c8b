// What a Console knows of policies, small enough to be held whole: packs, published versions, who is assigned what, the
// keys. A change is judged on one book and counts only if nobody changed the book meanwhile. decision: D82
import type { PackManifest } from '../../policy/manifest.rules.ts';
import type { EnforcementMode, KeyRotation, PackHead, PolicyMode } from '../../wire/policy.ts';
import type { Flavor } from '../../wire/scalars.ts';
import type { RolloutContext } from './rollout.machine.ts';
import { hasReached, isSplit, type RolloutState } from './rollout.rules.ts';

export type PackRow = {
  readonly packId: string;
  readonly name: string;
  readonly flavor: Flavor;
  readonly createdAtMs: number;
  readonly createdBy: string;
  readonly draftRevision: number;
  /** Null = nothing was published. */
  readonly latestVersion: number | null;
};
/** What the next version is made of. */
export type PackDraft = Pick<
  PackHead,
  'mode' | 'modes_allowed' | 'namespace_scope' | 'rollback_to'
> & {
  readonly policies: readonly { readonly name: string; readonly yaml: string }[];
};
/** A published version; it never changes. */
export type VersionRow = {
  readonly manifest: PackManifest;
  readonly manifestSha256: string;
  /** The key that signed it. */
  readonly keyId: string;
  readonly publishedAtMs: number;
  readonly publishedBy: string;
};
export const TARGET_KINDS = ['sensor', 'group', 'tag', 'fleet'] as const;
export type TargetKind = (typeof TARGET_KINDS)[number];
/** `id` of the fleet is `fleet`. */
export type Target = { readonly kind: TargetKind; readonly id: string };
export type AssignmentRow = {
  /** Another one with every change, so that a node knows what it was told. */
  readonly assignmentId: string;
  readonly target: Target;
  readonly packId: string;
  readonly version: number;
  readonly mode: PolicyMode;
  readonly namespaceScope: readonly string[] | null;
  readonly whenUnsupported: 'fail' | 'skip';
  /** Among groups the higher one wins. */
  readonly priority: number;
  readonly createdAtMs: number;
  readonly createdBy: string;
};
export type SensorPolicyRow = {
  readonly sensorId: string;
  readonly customRevision: number;
  readonly custom: readonly { readonly name: string; readonly sha256: string }[];
  readonly enforcementRevision: number;
  readonly enforcementMode: EnforcementMode;
};
/** The first key that nodes were given; every later one comes from a statement. */
export type KeyBaseRow = { readonly keyId: string; readonly pem: string };
/** A version on its way to a target, as its last transition left it. */
export type RolloutRow = {
  readonly rolloutId: string;
  readonly target: Target;
  /** What the target was assigned when it began; it stays that until the rollout is done. */
  readonly before: AssignmentRow | null;
  /** What the sensors it reached have, and in the end the target. */
  readonly next: AssignmentRow;
  readonly state: RolloutState;
  readonly context: RolloutContext;
  /** Of its last transition; the first is 1. */
  readonly sequence: number;
  readonly movedAtMs: number;
  readonly startedAtMs: number;
  readonly startedBy: string;
};

type Heads = {
  readonly pack: PackRow;
  readonly version: VersionRow;
  readonly assignment: AssignmentRow;
  readonly sensor: SensorPolicyRow;
  readonly key_base: KeyBaseRow;
  readonly rotation: KeyRotation;
  readonly rollout: RolloutRow;
};
export type DocumentKind = keyof Heads;
/** Kinds that are written once. */
export const WRITTEN_ONCE: readonly DocumentKind[] = ['version', 'key_base', 'rotation'];
export type PolicyDocument = {
  [Kind in DocumentKind]: {
    readonly kind: Kind;
    readonly id: string;
    readonly head: Heads[Kind];
  };
}[DocumentKind];
/** A head of null removes the document. A body that is absent stays as it is. */
export type PolicyChange =
  | (PolicyDocument & { readonly body?: unknown })
  | { readonly kind: DocumentKind; readonly id: string; readonly head: null };

type Table<Kind extends DocumentKind> = ReadonlyMap<string, Heads[Kind]>;
export type PolicyBook = {
  /** Grows by one with every change, of whichever Console. */
  readonly revision: number;
  readonly packs: Table<'pack'>;
  readonly versions: Table<'version'>;
  readonly assignments: Table<'assignment'>;
  readonly sensors: Table<'sensor'>;
  readonly keyBases: Table<'key_base'>;
  readonly rotations: Table<'rotation'>;
  readonly rollouts: Table<'rollout'>;
  /** By target, newest first: the rollouts whose sensors have another version than the target's. */
  readonly splits: ReadonlyMap<string, readonly RolloutRow[]>;
};

/** The book of some documents. */
export function bookOf(revision: number, documents: readonly PolicyDocument[]): PolicyBook {
  const table = <Kind extends DocumentKind>(kind: Kind): Table<Kind> =>
    new Map(
      documents.flatMap((one) => (one.kind === kind ? [[one.id, one.head as Heads[Kind]]] : [])),
    );
  const [assignments, rollouts] = [table('assignment'), table('rollout')];
  return {
    revision,
    packs: table('pack'),
    versions: table('version'),
    assignments,
    rollouts,
    splits: splitsOf(assignments, rollouts),
    sensors: table('sensor'),
    keyBases: table('key_base'),
    rotations: table('rotation'),
  };
}

// One whose target was assigned something else since has no say any more.
function splitsOf(
  assignments: Table<'assignment'>,
  rollouts: Table<'rollout'>,
): PolicyBook['splits'] {
  const inForce = [...rollouts.values()].filter(({ state, target, before }) => {
    const now = assignments.get(targetId(target))?.assignmentId ?? null;
    return isSplit(state) && now === (before?.assignmentId ?? null);
  });
  const newest = inForce.sort((a, b) => (a.rolloutId < b.rolloutId ? 1 : -1));
  return Map.groupBy(newest, ({ target }) => targetId(target));
}

/** What a target gives one sensor: of a rollout under way when it reached the sensor, else what is assigned. */
export function givenBy(
  book: Pick<PolicyBook, 'assignments' | 'splits'>,
  target: Target,
  sensorId: string,
): AssignmentRow | undefined {
  const id = targetId(target);
  const reached = book.splits.get(id)?.find((one) => hasReached(one, sensorId));
  return reached?.next ?? book.assignments.get(id);
}

/** Everything that a target gives one or another of its sensors. */
export function givenByAll(
  book: Pick<PolicyBook, 'assignments' | 'splits'>,
  target: Target,
): readonly AssignmentRow[] {
  const id = targetId(target);
  const own = book.assignments.get(id);
  const onTheWay = (book.splits.get(id) ?? []).map(({ next }) => next);
  return own === undefined ? onTheWay : [...onTheWay, own];
}

/** The id of a version among the documents. */
export function versionId(packId: string, version: number): string {
  return `${packId}/${version}`;
}

/** The id of what is assigned to a target: there is one at most. */
export function targetId({ kind, id }: Target): string {
  return `${kind}:${id}`;
}

/** The versions of a pack, newest first. */
export function versionsOf(book: PolicyBook, packId: string): readonly VersionRow[] {
  return [...book.versions.values()]
    .filter(({ manifest }) => manifest.pack_id === packId)
    .sort((a, b) => b.manifest.version - a.manifest.version);
}

/** The statements of the chain, in their order. */
export function rotationsOf(book: Pick<PolicyBook, 'rotations'>): readonly KeyRotation[] {
  return [...book.rotations.values()].sort((a, b) => a.sequence - b.sequence);
}
