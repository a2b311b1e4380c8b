// What each node is to have, kept ready for its next heartbeat, and what it said last. Worked out again when the book or the
// labels of sensors change; a node whose wish changed is told at once on its stream. decision: D83
import { hash } from 'node:crypto';
import type { SensorEvent } from '../../machines/console/fleet/sensor.machine.ts';
import type { PolicyReport as PolicyRegion } from '../../machines/console/fleet/sensor.rules.ts';
import {
  type AssignmentRow,
  givenBy,
  type PolicyBook,
  type Target,
  versionId,
} from '../../machines/console/policy/book.rules.ts';
import {
  type Effective,
  type EffectiveAssignment,
  effectiveFor,
  type SensorLabelFacts,
} from '../../machines/console/policy/effective.rules.ts';
import { isTouched } from '../../machines/console/policy/rollout-judge.rules.ts';
import {
  partsFor,
  regionOf,
  reportText,
  type Wanted,
} from '../../machines/console/policy/wanted.rules.ts';
import { GROUPS_MAX, POLICY_LABELS_READ_MAX } from '../../machines/limits.ts';
import type { PolicyAnswer, PolicyReport } from '../../machines/wire/policy.ts';
import type { TeamStore } from '../../storage/ports/fleet/teams.ts';
import type { Logger } from '../runtime/logger.ts';
import { sensorRowOf } from './assignment-acts.ts';
import type { BookService } from './policy-book.ts';

export type SensorPolicy = {
  readonly wanted: Wanted;
  readonly effective: Effective;
  /** Null = the node never said anything of policies. */
  readonly report: PolicyReport | null;
};
export type WantedPolicies = {
  /** What a heartbeat said; kept when it says something. */
  take(sensorId: string, report: PolicyReport | undefined): void;
  /** The parts of its answer. Called on the hot path: nothing is asked. */
  answer(sensorId: string): PolicyAnswer & { readonly policyHash?: string };
  /** What a node said last, for its row. */
  reportOf(sensorId: string): PolicyReport | null;
  get(sensorId: string): SensorPolicy;
  /** The highest version of a pack that any node says it has; 0 when none does. */
  heardOf(packId: string): number;
  /** Whether a node is to have exactly this version now. */
  isAssigned(sensorId: string, packId: string, version: number): boolean;
  /**
   * The sensors that would have an assignment if its target gave it to everybody, each with what it is to have now. They are
   * those of a rollout. decision: D90
   */
  touchedBy(next: AssignmentRow): readonly TouchedSensor[];
  /** Reads the labels again; of every sensor when `all`. Rejects with StoreUnavailable. */
  readLabels(all?: boolean): Promise<void>;
  /** An actor began: it is told what is wanted and reported. */
  onStart(sensorId: string): void;
  stop(): void;
};
export type TouchedSensor = { readonly sensorId: string; readonly given: AssignmentRow | null };
type Known = { readonly report: PolicyReport; readonly hash: string | null };

export type WantedDeps = {
  readonly book: BookService;
  readonly teams: Pick<TeamStore, 'labelsOf' | 'groups'>;
  readonly sensorIds: () => Iterable<string>;
  readonly tell: (sensorId: string, event: SensorEvent) => void;
  /** Says on the stream that something of policies changed. */
  readonly refresh: (sensorId: string) => void;
  readonly now: () => number;
  readonly logger: Logger;
};

const NOTHING: SensorLabelFacts = { sensorId: '', tags: [], groups: [] };

/** Follows the book. `reports` are what nodes said before this Console began. */
export function followWanted(
  deps: WantedDeps,
  reports: Iterable<readonly [sensorId: string, report: PolicyReport]>,
): WantedPolicies {
  const { book, tell, now } = deps;
  const known = new Map<string, Known>();
  const labels = new Map<string, SensorLabelFacts>();
  const told = new Map<string, string>();
  const regions = new Map<string, PolicyRegion>();
  /** Worked out for the book and the labels there are. */
  const wishes = new Map<string, Wanted>();
  for (const [sensorId, report] of reports) known.set(sensorId, knownOf(report));

  const labelsOf = (sensorId: string) => labels.get(sensorId) ?? { ...NOTHING, sensorId };
  const effectiveOf = (sensorId: string) => effectiveIn(book.book(), labelsOf(sensorId));

  function wantedOf(sensorId: string): Wanted {
    const ready = wishes.get(sensorId);
    if (ready !== undefined) return ready;
    const wanted = wantedIn(book.book(), sensorId, effectiveOf(sensorId).ranked[0]);
    wishes.set(sensorId, wanted);
    return wanted;
  }

  // A wish that is another one is told on the stream; the next heartbeat carries it in any case.
  function compare(sensorId: string): void {
    const wanted = wantedOf(sensorId);
    const text = `${JSON.stringify(wanted)} ${book.keys().sha256}`;
    const before = told.get(sensorId);
    if (before === text) return;
    told.set(sensorId, text);
    tellRegion(sensorId, wanted);
    if (before !== undefined) deps.refresh(sensorId);
  }

  function tellRegion(sensorId: string, wanted: Wanted): void {
    const report = known.get(sensorId)?.report ?? null;
    const state = regionOf(wanted, report);
    if (state === (regions.get(sensorId) ?? 'unassigned')) return;
    regions.set(sensorId, state);
    tell(sensorId, { type: 'policy.reported', atMs: now(), state });
  }

  const compareAll = () => {
    wishes.clear();
    for (const sensorId of deps.sensorIds()) compare(sensorId);
  };
  const stop = book.subscribe(compareAll);

  return {
    take(sensorId, report) {
      if (report === undefined) return;
      known.set(sensorId, knownOf(report));
      tellRegion(sensorId, wantedOf(sensorId));
    },
    answer(sensorId) {
      const mine = known.get(sensorId);
      const rotations = [...book.book().rotations.values()].sort((a, b) => a.sequence - b.sequence);
      const keys = { keysSha256: book.keys().sha256, rotations };
      const parts = partsFor(wantedOf(sensorId), keys, mine?.report ?? null);
      const policyHash = mine?.hash ?? null;
      return policyHash === null ? parts : { ...parts, policyHash };
    },
    reportOf: (sensorId) => known.get(sensorId)?.report ?? null,
    get: (sensorId) => ({
      wanted: wantedOf(sensorId),
      effective: effectiveOf(sensorId),
      report: known.get(sensorId)?.report ?? null,
    }),
    heardOf: (packId) => heardAmong(known.values(), packId),
    isAssigned(sensorId, packId, version) {
      const { pack } = wantedOf(sensorId);
      return pack?.pack_id === packId && pack.version === version;
    },
    touchedBy: (next) => touchedAmong(book.book(), [...deps.sensorIds()].map(labelsOf), next),
    async readLabels(all = false) {
      for (const [sensorId, facts] of await labelsNow(deps, all)) labels.set(sensorId, facts);
      compareAll();
    },
    onStart(sensorId) {
      regions.delete(sensorId);
      tellRegion(sensorId, wantedOf(sensorId));
    },
    stop,
  };
}

function heardAmong(known: Iterable<Known>, packId: string): number {
  let highest = 0;
  for (const { report } of known) {
    const { pack_id: told, highest_version: top = 0, in_force: held } = report;
    if (told === packId) highest = Math.max(highest, top);
    if (held?.pack_id === packId) highest = Math.max(highest, held.version);
  }
  return highest;
}

function effectiveIn(book: PolicyBook, own: SensorLabelFacts): Effective {
  return effectiveFor(own, reaching(book, own));
}

function touchedAmong(
  book: PolicyBook,
  sensors: readonly SensorLabelFacts[],
  next: AssignmentRow,
): readonly TouchedSensor[] {
  return sensors.flatMap((own) => {
    const given = reaching(book, own);
    if (!isTouched(next, own, given)) return [];
    const now = effectiveFor(own, given).ranked[0]?.assignment ?? null;
    return [{ sensorId: own.sensorId, given: now }];
  });
}

/** The assignments that reach a sensor, without a look at the others; of rollouts only those that did. */
function reaching(
  book: Pick<PolicyBook, 'assignments' | 'splits'>,
  own: SensorLabelFacts,
): readonly AssignmentRow[] {
  const targets: readonly Target[] = [
    { kind: 'sensor', id: own.sensorId },
    ...own.groups.map(({ id }): Target => ({ kind: 'group', id })),
    ...own.tags.map((id): Target => ({ kind: 'tag', id })),
    { kind: 'fleet', id: 'fleet' },
  ];
  return targets.flatMap((target) => givenBy(book, target, own.sensorId) ?? []);
}

function knownOf(report: PolicyReport): Known {
  const text = reportText(report);
  return { report, hash: text === null ? null : hash('sha256', text, 'hex') };
}

/** What one sensor is to have. */
function wantedIn(
  book: PolicyBook,
  sensorId: string,
  first: EffectiveAssignment | undefined,
): Wanted {
  const own = sensorRowOf(book, sensorId);
  const row = first?.assignment;
  const version =
    row === undefined ? undefined : book.versions.get(versionId(row.packId, row.version));
  const pack: Wanted['pack'] =
    row === undefined || version === undefined
      ? null
      : {
          assignment_id: row.assignmentId,
          pack_id: row.packId,
          version: row.version,
          manifest_sha256: version.manifestSha256,
          mode: row.mode,
          namespace_scope: row.namespaceScope === null ? null : [...row.namespaceScope],
          path: `/sensors/policies/${row.packId}/${row.version}`,
          when_unsupported: row.whenUnsupported,
        };
  return {
    pack,
    enforcement: { revision: own.enforcementRevision, mode: own.enforcementMode },
    custom: {
      revision: own.customRevision,
      path: `/sensors/policies/custom/${own.customRevision}`,
      policies: own.custom.map(({ name, sha256 }) => ({ name, sha256 })),
    },
  };
}

async function labelsNow(
  deps: Pick<WantedDeps, 'teams' | 'sensorIds' | 'book'>,
  ofAll: boolean,
): Promise<readonly (readonly [string, SensorLabelFacts])[]> {
  const { assignments, rollouts } = deps.book.book();
  const kinds = [...assignments.values(), ...rollouts.values()].map(({ target }) => target.kind);
  // Labels count only where something is assigned by one.
  if (!ofAll && !kinds.includes('group') && !kinds.includes('tag')) return [];
  const groups = await deps.teams.groups.list({ limit: GROUPS_MAX, after: null });
  const names = new Map(groups.map(({ id, name }) => [id, name]));
  const ids = [...deps.sensorIds()];
  const all: (readonly [string, SensorLabelFacts])[] = [];
  for (let at = 0; at < ids.length; at += POLICY_LABELS_READ_MAX) {
    const rows = await deps.teams.labelsOf(ids.slice(at, at + POLICY_LABELS_READ_MAX));
    for (const { sensorId, tags, groupIds } of rows) {
      const own = groupIds.map((id) => ({ id, name: names.get(id) ?? id }));
      all.push([sensorId, { sensorId, tags, groups: own }]);
    }
  }
  return all;
}
