// What an assignment rehearsed: which sensors have its pack, and what the pack's policies left in the event store on them.
// decision: D125
import {
  type AssignmentRow,
  type PolicyBook,
  type Target,
  targetId,
  versionId,
} from '../../machines/console/policy/book.rules.ts';
import {
  type PolicyMatch,
  type RehearsedPolicy,
  rehearsedOf,
} from '../../machines/console/policy/rehearsal.rules.ts';
import { POLICY_MATCH_SENSORS_MAX } from '../../machines/limits.ts';
import type { EventStore } from '../../storage/ports/telemetry/event-store.ts';
import type { BookService } from './policy-book.ts';
import type { WantedPolicies } from './wanted-policies.ts';

export type Rehearsal = {
  readonly assignment: AssignmentRow;
  /** That have it now. */
  readonly sensors: number;
  readonly policies: readonly RehearsedPolicy[];
};
export type Rehearsals = {
  /** Null when nothing is assigned to the target. Throws what the event store throws. */
  of(target: Target, span: Span): Promise<Rehearsal | null>;
};
type Span = { readonly fromMs: number; readonly toMs: number; readonly signal?: AbortSignal };

/** Makes them. */
export function createRehearsals(deps: {
  readonly book: Pick<BookService, 'book'>;
  readonly wanted: Pick<WantedPolicies, 'get'>;
  readonly sensorIds: () => Iterable<string>;
  readonly events: Pick<EventStore, 'policyMatches'>;
}): Rehearsals {
  const { book, wanted, events } = deps;
  return {
    async of(target, span) {
      const on = book.book();
      const assignment = on.assignments.get(targetId(target));
      if (assignment === undefined) return null;
      const sensorIds = [...deps.sensorIds()].filter(
        (id) => wanted.get(id).wanted.pack?.assignment_id === assignment.assignmentId,
      );
      const policies = namesOf(on, assignment);
      const matches: PolicyMatch[] = [];
      for (let at = 0; at < sensorIds.length; at += POLICY_MATCH_SENSORS_MAX) {
        const some = sensorIds.slice(at, at + POLICY_MATCH_SENSORS_MAX);
        matches.push(...(await events.policyMatches({ ...span, sensorIds: some, policies })));
      }
      const counted = matches.filter(({ sensorId, policy }) => !isOwn(on, sensorId, policy));
      return {
        ...{ assignment, sensors: sensorIds.length },
        policies: rehearsedOf(policies, counted),
      };
    },
  };
}

function namesOf(book: PolicyBook, { packId, version }: AssignmentRow): readonly string[] {
  const row = book.versions.get(versionId(packId, version));
  return (row?.manifest.policies ?? []).map(({ name }) => name);
}

/** A sensor's own policy stands over the pack's of the same name: its events tell nothing of the pack. */
function isOwn(book: PolicyBook, sensorId: string, policy: string): boolean {
  return book.sensors.get(sensorId)?.custom.some(({ name }) => name === policy) ?? false;
}
