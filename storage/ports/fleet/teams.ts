// Teams of people and the sensors they own, groups and tags of sensors, and each person's own list of sensors. Every
// method rejects with StoreUnavailable. A change happens whole or not at all, and is audited with it; what would grow
// past a bound is refused as `too_many`. decision: D43; invariant: I18
import type { AuditContext } from '../plumbing/audit-context.ts';

/** What teams and groups have in common: a name that is unique without case, and when it was made. */
export type LabelRow = {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly createdAtMs: number;
  /** How many people; 0 for a group. */
  readonly users: number;
  readonly sensors: number;
};
export type TeamMembers = {
  readonly userIds: readonly string[];
  readonly sensorIds: readonly string[];
};
export type LabelPatch = { readonly name?: string; readonly description?: string };
export type LabelChange = AuditContext & { readonly id: string } & LabelPatch;
export type NewLabel = AuditContext & {
  readonly id: string;
  readonly name: string;
  readonly description: string;
};
/** By name without case. */
export type LabelPage = {
  readonly limit: number;
  /** The name of the last one seen, as `nameKeyOf` folds it. */
  readonly after: string | null;
};
export type MemberChange = AuditContext & {
  readonly id: string;
  readonly addUsers?: readonly string[];
  readonly removeUsers?: readonly string[];
  readonly addSensors?: readonly string[];
  readonly removeSensors?: readonly string[];
};
/** Ids that were to be added and that nobody knows. */
export type Unknown = { readonly unknown: readonly string[] };

export type SensorLabels = {
  readonly sensorId: string;
  readonly tags: readonly string[];
  readonly groupIds: readonly string[];
  readonly teamIds: readonly string[];
};
export type SensorPatch = {
  /** Replaces all tags. */
  readonly tags?: readonly string[];
  /** Replaces all groups. */
  readonly groupIds?: readonly string[];
  readonly declaredRole?: string | null;
};
/** What joins a set and what leaves it; whoever is in both is in it afterwards. */
type Moves = { readonly add: readonly string[]; readonly remove: readonly string[] };
/** The same, or what joins and leaves the sets as they are stored then: one change never undoes another. */
export type SensorPatchAsked = SensorPatch & {
  readonly moveTags?: Moves;
  readonly moveGroups?: Moves;
};

/** One kind of label: teams or groups. */
export type LabelStore = {
  create(input: NewLabel): Promise<LabelRow | 'name_taken' | 'too_many'>;
  change(input: LabelChange): Promise<LabelRow | 'not_found' | 'name_taken'>;
  remove(input: AuditContext & { readonly id: string }): Promise<boolean>;
  list(page: LabelPage): Promise<readonly LabelRow[]>;
  get(id: string): Promise<(LabelRow & TeamMembers) | null>;
  /** Removes, then adds, in one go; what is unknown is named and nothing is changed. Groups take no users. */
  changeMembers(
    input: MemberChange,
  ): Promise<(LabelRow & TeamMembers) | 'not_found' | 'too_many' | Unknown>;
};

export type OwnershipStore = {
  /** Changes a sensor's tags, groups and declared role, together. */
  changeSensor(
    input: AuditContext & { readonly sensorId: string; readonly patch: SensorPatchAsked },
  ): Promise<'ok' | 'not_found' | 'too_many' | Unknown>;
  /** Tags, groups and teams of each of the sensors, in their order. */
  labelsOf(sensorIds: readonly string[]): Promise<readonly SensorLabels[]>;
  /** Replaces a user's own list of sensors. */
  setUserSensors(
    input: AuditContext & { readonly userId: string; readonly sensorIds: readonly string[] },
  ): Promise<'ok' | 'not_found' | 'too_many' | Unknown>;
  /** A user's own list; null when there is no such user. */
  userSensors(userId: string): Promise<readonly string[] | null>;
  /** Whether a sensor is on the user's own list or belongs to one of its teams. */
  owns(userId: string, sensorId: string): Promise<boolean>;
  /** Every sensor that the user owns. */
  ownedBy(userId: string): Promise<readonly string[]>;
};

export type TeamStore = OwnershipStore & {
  readonly teams: LabelStore;
  readonly groups: LabelStore;
};
