// Who has which pack: an assignment to a sensor, a group, a tag or the fleet, within what the pack's manifest signs; the
// policies of one sensor; and the switch above all packs of a sensor. decision: D83
import {
  type AssignmentRow,
  givenByAll,
  type PolicyBook,
  type RolloutRow,
  type SensorPolicyRow,
  type Target,
  targetId,
  versionId,
} from '../../machines/console/policy/book.rules.ts';
import { mayFollow, rolloutOn } from '../../machines/console/policy/rollout-judge.rules.ts';
import { refuse } from '../../machines/errors.ts';
import { ASSIGNMENTS_MAX } from '../../machines/limits.ts';
import { whyNotSigned } from '../../machines/policy/manifest.rules.ts';
import type { CustomPack, EnforcementMode, SignedPolicy } from '../../machines/wire/policy.ts';
import type { AuditContext } from '../../storage/ports/plumbing/audit-context.ts';
import { isSigned, policyDigest, type SignBytes, signPolicy } from '../runtime/policy-pack.ts';
import { refusalOfChecks } from './pack-acts.ts';
import { checkPolicies } from './pack-check.ts';
import {
  type Acted,
  type BookService,
  entryOf,
  factsOfAssignment,
  type Judged,
} from './policy-book.ts';

export type AssignmentActs = {
  assign(
    input: AuditContext & Omit<AssignmentRow, 'createdAtMs' | 'createdBy'>,
  ): Promise<Acted<AssignmentRow>>;
  /** False when nothing was assigned. */
  unassign(input: AuditContext & { readonly target: Target }): Promise<Acted<boolean>>;
  /** What monitors is enforced, if it still is what somebody looked at. decision: D125 */
  enforce(
    input: AuditContext & {
      readonly target: Target;
      readonly assignmentId: string;
      readonly nextId: string;
      readonly isDryRun: boolean;
      /** In the last days, as whoever enforces it was told. */
      readonly wouldHaveActed: number;
    },
  ): Promise<Acted<AssignmentRow>>;
  /** `signature` null = this Console signs it. */
  setCustom(
    input: AuditContext & {
      readonly sensorId: string;
      readonly policies: readonly {
        readonly name: string;
        readonly yaml: string;
        readonly signature: string | null;
      }[];
    },
  ): Promise<Acted<SensorPolicyRow>>;
  setEnforcement(
    input: AuditContext & { readonly sensorId: string; readonly mode: EnforcementMode },
  ): Promise<Acted<SensorPolicyRow>>;
  custom(sensorId: string): Promise<CustomPack | null>;
};

/** Makes the acts. */
export function createAssignmentActs(deps: {
  readonly book: BookService;
  readonly signer: () => SignBytes | null;
}): AssignmentActs {
  const { book, signer } = deps;
  return {
    assign: (input) => book.act(input.nowMs, (on) => judgeAssignment(on, input)),
    unassign: (input) => book.act(input.nowMs, (on) => judgeEnd(on, input)),
    enforce: (input) => enforce(book, input),
    async setCustom({ sensorId, policies, ...doing }) {
      const wrong = checkPolicies(policies).filter(({ ok }) => !ok);
      if (wrong.length > 0) return refusalOfChecks(wrong);
      const signed = signedOf(policies, signer());
      if (signed === null) return refuse('signing_offline', 'policy_signing is offline.');
      const bad = signed.find((one) => !isSigned(one, book.keys().keys));
      if (bad !== undefined) {
        return refuse('signature_not_trusted', `${bad.name} is not signed by a trusted key.`);
      }
      const custom = signed.map(({ name, yaml }) => ({ name, sha256: policyDigest(yaml) }));
      return book.act(doing.nowMs, (on) => {
        const before = sensorRowOf(on, sensorId);
        const row = { ...before, customRevision: before.customRevision + 1, custom };
        const body: CustomPack = { revision: row.customRevision, policies: [...signed] };
        return {
          ok: true,
          answer: row,
          changes: [{ kind: 'sensor', id: sensorId, head: row, body }],
          audit: [
            entryOf(doing, {
              action: 'policy.custom',
              target: sensorId,
              before: { policies: before.custom },
              after: { policies: custom },
            }),
          ],
        };
      });
    },
    setEnforcement: ({ sensorId, mode, ...doing }) =>
      book.act(doing.nowMs, (on) => {
        const before = sensorRowOf(on, sensorId);
        const enforcementRevision = before.enforcementRevision + 1;
        const row = { ...before, enforcementRevision, enforcementMode: mode };
        return {
          ok: true,
          answer: row,
          changes: [{ kind: 'sensor', id: sensorId, head: row }],
          audit: [
            entryOf(doing, {
              action: 'policy.enforcement',
              target: sensorId,
              before: { mode: before.enforcementMode },
              after: { mode },
            }),
          ],
        };
      }),
    custom: async (sensorId) => (await book.store.body('sensor', sensorId)) as CustomPack | null,
  };
}

/** What is known of one sensor; a sensor nobody named has nothing of its own. */
export function sensorRowOf(book: PolicyBook, sensorId: string): SensorPolicyRow {
  return (
    book.sensors.get(sensorId) ?? {
      ...{ sensorId, customRevision: 0, custom: [] },
      ...{ enforcementRevision: 0, enforcementMode: 'enforce' },
    }
  );
}

function judgeAssignment(on: PolicyBook, input: Parameters<AssignmentActs['assign']>[0]) {
  const { actor, from, nowMs, ...wanted } = input;
  const version = on.versions.get(versionId(wanted.packId, wanted.version));
  if (version === undefined) return refuse('reference_unknown', 'There is no such version.');
  const { manifest, manifestSha256 } = version;
  const scope = { mode: wanted.mode, namespace_scope: wanted.namespaceScope };
  const why = whyNotSigned(manifest, scope);
  if (why !== null) return refuse(why, `Version ${wanted.version} was not signed for this.`);
  const id = targetId(wanted.target);
  const before = on.assignments.get(id);
  if (before === undefined && on.assignments.size >= ASSIGNMENTS_MAX) {
    return refuse('bound_reached', `There are ${ASSIGNMENTS_MAX} assignments.`);
  }
  const underWay = rolloutOn(on, wanted.target);
  if (underWay !== null) return inTheWay(underWay);
  // Of another pack a node has no version; of this one it may have any that the target gave.
  if (!mayFollow(on, givenByAll(on, wanted.target), version)) {
    return refuse(
      'rollback_refused',
      `The version in force does not name ${wanted.version} in rollback_to.`,
    );
  }
  const row: AssignmentRow = { ...wanted, createdAtMs: nowMs, createdBy: actor };
  return {
    ok: true as const,
    answer: row,
    changes: [{ kind: 'assignment' as const, id, head: row }],
    audit: [
      entryOf(
        { actor, from, nowMs },
        {
          action: 'assignment.set',
          target: id,
          before: before === undefined ? null : factsOfAssignment(before, digestOf(on, before)),
          after: factsOfAssignment(row, manifestSha256),
        },
      ),
    ],
  };
}

async function enforce(
  book: BookService,
  { isDryRun, ...input }: Parameters<AssignmentActs['enforce']>[0],
): Promise<Acted<AssignmentRow>> {
  if (!isDryRun) return book.act(input.nowMs, (on) => judgeEnforcing(on, input));
  const judged = judgeEnforcing(book.book(), input);
  return judged.ok ? { ok: true, answer: judged.answer } : judged;
}

function judgeEnforcing(
  on: PolicyBook,
  input: Omit<Parameters<AssignmentActs['enforce']>[0], 'isDryRun'>,
): Judged<AssignmentRow> {
  const { target, assignmentId, nextId, wouldHaveActed, ...doing } = input;
  const held = on.assignments.get(targetId(target));
  if (held === undefined) return refuse('not_found', 'Nothing is assigned to it.');
  if (held.assignmentId !== assignmentId) {
    return refuse('assignment_changed', `It has version ${held.version} in ${held.mode} now.`);
  }
  if (held.mode === 'enforce') return refuse('not_rehearsing', 'It is enforced already.');
  const { createdAtMs: _at, createdBy: _by, ...same } = held;
  const next = { ...doing, ...same, assignmentId: nextId, mode: 'enforce' as const };
  const judged = judgeAssignment(on, next);
  if (!judged.ok) return judged;
  const detail = { would_have_acted_7d: wouldHaveActed };
  return {
    ...judged,
    audit: judged.audit.map((one) => ({ ...one, action: 'assignment.enforce' as const, detail })),
  };
}

function judgeEnd(
  on: PolicyBook,
  { target, ...doing }: Parameters<AssignmentActs['unassign']>[0],
): Judged<boolean> {
  const underWay = rolloutOn(on, target);
  if (underWay !== null) return inTheWay(underWay);
  const id = targetId(target);
  const assigned = on.assignments.get(id);
  if (assigned === undefined) return { ok: true, answer: false, changes: [], audit: [] };
  const before = factsOfAssignment(assigned, digestOf(on, assigned));
  return {
    ok: true,
    answer: true,
    changes: [{ kind: 'assignment', id, head: null }],
    audit: [entryOf(doing, { action: 'assignment.remove', target: id, before })],
  };
}

function inTheWay({ rolloutId, target }: RolloutRow) {
  return refuse('rollout_in_the_way', `The rollout ${rolloutId} changes ${targetId(target)}.`);
}

function digestOf(book: PolicyBook, { packId, version }: AssignmentRow): string {
  return book.versions.get(versionId(packId, version))?.manifestSha256 ?? '';
}

function signedOf(
  policies: Parameters<AssignmentActs['setCustom']>[0]['policies'],
  sign: SignBytes | null,
): readonly SignedPolicy[] | null {
  const signed = policies.flatMap(({ name, yaml, signature }) => {
    if (signature !== null) return [{ name, yaml, signature }];
    return sign === null ? [] : [signPolicy({ name, yaml }, sign)];
  });
  return signed.length === policies.length ? signed : null;
}
