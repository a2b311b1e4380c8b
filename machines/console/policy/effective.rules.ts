// Which pack a sensor has, and why: one assigned to the sensor itself over one of its groups, over one of its tags, over the
// fleet's. Exactly one counts; the others are named as passed over. decision: D83
import type { AssignmentRow, TargetKind } from './book.rules.ts';

export type SensorLabelFacts = {
  readonly sensorId: string;
  readonly tags: readonly string[];
  readonly groups: readonly { readonly id: string; readonly name: string }[];
};
export type EffectiveAssignment = {
  readonly assignment: AssignmentRow;
  /** In words for people: `assigned to the group web (priority 10)`. */
  readonly because: string;
};
export type Effective = {
  /** The first counts. */
  readonly ranked: readonly EffectiveAssignment[];
};

const RANK: Readonly<Record<TargetKind, number>> = { sensor: 0, group: 1, tag: 2, fleet: 3 };

/** Everything that is assigned to a sensor, in the order of precedence. */
export function effectiveFor(
  sensor: SensorLabelFacts,
  assignments: Iterable<AssignmentRow>,
): Effective {
  const named = [...assignments].flatMap((assignment) => {
    const name = nameOf(sensor, assignment);
    return name === null ? [] : [{ assignment, name }];
  });
  named.sort((a, b) => {
    const [one, other] = [a.assignment, b.assignment];
    const byKind = RANK[one.target.kind] - RANK[other.target.kind];
    const byPriority = one.target.kind === 'group' ? other.priority - one.priority : 0;
    return (
      byKind || byPriority || compare(a.name, b.name) || compare(one.target.id, other.target.id)
    );
  });
  return {
    ranked: named.map(({ assignment, name }) => ({
      assignment,
      because: becauseOf(assignment, name),
    })),
  };
}

/** The name a target has for a sensor; null when it does not reach it. */
function nameOf(sensor: SensorLabelFacts, { target }: AssignmentRow): string | null {
  switch (target.kind) {
    case 'sensor':
      return target.id === sensor.sensorId ? target.id : null;
    case 'group':
      return sensor.groups.find(({ id }) => id === target.id)?.name ?? null;
    case 'tag':
      return sensor.tags.includes(target.id) ? target.id : null;
    case 'fleet':
      return 'fleet';
  }
}

function becauseOf({ target, priority }: AssignmentRow, name: string): string {
  switch (target.kind) {
    case 'sensor':
      return 'assigned to this sensor';
    case 'group':
      return `assigned to its group ${name} (priority ${priority})`;
    case 'tag':
      return `assigned to its tag ${name}`;
    case 'fleet':
      return 'assigned to the fleet';
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
