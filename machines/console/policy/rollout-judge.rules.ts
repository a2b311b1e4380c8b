// What may begin, and what a step of a rollout changes in the book. Judged on one book, so that an assignment and a rollout
// never overtake each other. decision: D82, D90
import { whyNotSigned, whyNotVersion } from '../../policy/manifest.rules.ts';
import {
  type AssignmentRow,
  type PolicyBook,
  type PolicyChange,
  type RolloutRow,
  type Target,
  targetId,
  type VersionRow,
  versionId,
} from './book.rules.ts';
import { effectiveFor, type SensorLabelFacts } from './effective.rules.ts';
import { ROLLOUTS_KEPT_MAX, ROLLOUTS_OPEN_MAX } from './limits.ts';
import { isOpen, isSplit } from './rollout.rules.ts';

/** The rollouts that still move, oldest first. */
export function openRollouts({ rollouts }: Pick<PolicyBook, 'rollouts'>): readonly RolloutRow[] {
  return [...rollouts.values()]
    .filter(({ state }) => isOpen(state))
    .sort((a, b) => (a.rolloutId < b.rolloutId ? -1 : 1));
}

/** The rollout under way on exactly this target; null when there is none. */
export function rolloutOn(book: PolicyBook, target: Target): RolloutRow | null {
  const id = targetId(target);
  return openRollouts(book).find((one) => targetId(one.target) === id) ?? null;
}

/**
 * Whether a sensor would have this assignment if its target gave it to everybody: the sensors of a rollout, reached or not.
 * `others`: what the sensor's other targets give it.
 */
export function isTouched(
  next: AssignmentRow,
  sensor: SensorLabelFacts,
  others: readonly AssignmentRow[],
): boolean {
  const id = targetId(next.target);
  const all = [...others.filter(({ target }) => targetId(target) !== id), next];
  return effectiveFor(sensor, all).ranked[0]?.assignment === next;
}

export type StartRefusal =
  | {
      readonly code: 'mode_not_signed' | 'scope_not_signed' | 'rollback_refused' | 'bound_reached';
    }
  | { readonly code: 'reference_unknown' | 'rollout_reaches_nobody' }
  | { readonly code: 'rollout_in_the_way'; readonly rolloutId: string };

/** The sensors of a rollout that is to begin. */
export type Touched = {
  readonly sensors: number;
  /** What they are to have now, each once. */
  readonly given: readonly AssignmentRow[];
  /** Whether one that is open touches one of them. */
  readonly touches: (rollout: RolloutRow) => boolean;
};

/** Why a rollout may not begin; null when it may. */
export function whyNotStart(
  book: PolicyBook,
  next: AssignmentRow,
  touched: Touched,
): StartRefusal | null {
  const version = book.versions.get(versionId(next.packId, next.version));
  if (version === undefined) return { code: 'reference_unknown' };
  const asked = { mode: next.mode, namespace_scope: next.namespaceScope };
  const unsigned = whyNotSigned(version.manifest, asked);
  if (unsigned !== null) return { code: unsigned };
  const open = openRollouts(book);
  const inTheWay = rolloutOn(book, next.target) ?? open.find((one) => touched.touches(one)) ?? null;
  if (inTheWay !== null) return { code: 'rollout_in_the_way', rolloutId: inTheWay.rolloutId };
  if (!mayFollow(book, touched.given, version)) return { code: 'rollback_refused' };
  if (open.length >= ROLLOUTS_OPEN_MAX) return { code: 'bound_reached' };
  return touched.sensors === 0 ? { code: 'rollout_reaches_nobody' } : null;
}

/** Whether whoever was given these may take a version after them. */
export function mayFollow(
  book: Pick<PolicyBook, 'versions'>,
  given: readonly AssignmentRow[],
  next: VersionRow,
): boolean {
  return versionsAmong(book, given).every((one) => isOther(one, next) || isAllowed(next, one));
}

/** Whether those who took a version may go back to what they were given: no node refuses it later. decision: D91 */
export function mayReturn(
  book: Pick<PolicyBook, 'versions'>,
  given: readonly AssignmentRow[],
  next: VersionRow,
): boolean {
  return versionsAmong(book, given).every((one) => isOther(one, next) || isAllowed(one, next));
}

function versionsAmong(
  { versions }: Pick<PolicyBook, 'versions'>,
  given: readonly AssignmentRow[],
): readonly VersionRow[] {
  return given.flatMap(({ packId, version }) => versions.get(versionId(packId, version)) ?? []);
}

function isOther(a: VersionRow, b: VersionRow): boolean {
  return a.manifest.pack_id !== b.manifest.pack_id;
}

function isAllowed(next: VersionRow, highest: VersionRow): boolean {
  const { version, rollback_to } = highest.manifest;
  const applied = { version, rollback_to, manifest_sha256: highest.manifestSha256 };
  const wanted = { version: next.manifest.version, manifest_sha256: next.manifestSha256 };
  return whyNotVersion(wanted, applied) === null;
}

/** What a step changes: the rollout's own row, and with its end what the target is assigned. */
export function changesOf(row: RolloutRow, body?: unknown): readonly PolicyChange[] {
  const own = {
    ...{ kind: 'rollout' as const, id: row.rolloutId, head: row },
    ...(body === undefined ? {} : { body }),
  };
  if (row.state !== 'done') return [own];
  return [own, { kind: 'assignment', id: targetId(row.target), head: row.next }];
}

/** The ended rollouts that leave when another one begins, oldest first; one that holds its sensors apart stays. */
export function leavingRollouts(book: PolicyBook): readonly PolicyChange[] {
  const ended = [...book.rollouts.values()]
    .filter(({ state, target, rolloutId }) => {
      const holds = book.splits.get(targetId(target))?.some((one) => one.rolloutId === rolloutId);
      return !isOpen(state) && !(isSplit(state) && holds === true);
    })
    .sort((a, b) => (a.rolloutId < b.rolloutId ? -1 : 1));
  const surplus = ended.slice(0, Math.max(0, ended.length + 1 - ROLLOUTS_KEPT_MAX));
  return surplus.map(({ rolloutId: id }) => ({ kind: 'rollout', id, head: null }));
}
