// Teams of people and the sensors they own, groups and tags of sensors. Every method rejects with StoreUnavailable;
// changes are audited with them. invariant: I18
import type { Doing } from './doing.ts';

export type TeamRow = {
  readonly teamId: string;
  readonly name: string;
  readonly description: string;
  readonly createdAtMs: number;
  readonly userIds: readonly string[];
  readonly sensorIds: readonly string[];
};
export type GroupRow = {
  readonly groupId: string;
  readonly name: string;
  readonly description: string;
  readonly createdAtMs: number;
  readonly sensorIds: readonly string[];
};

export type TeamStore = {
  createTeam(
    input: Doing & { readonly teamId: string; readonly name: string; readonly description: string },
  ): Promise<TeamRow | 'name_taken'>;
  changeTeam(
    input: Doing & {
      readonly teamId: string;
      readonly name?: string;
      readonly description?: string;
    },
  ): Promise<TeamRow | 'not_found' | 'name_taken'>;
  removeTeam(input: Doing & { readonly teamId: string }): Promise<boolean>;
  listTeams(): Promise<readonly TeamRow[]>;
  getTeam(teamId: string): Promise<TeamRow | null>;
  /** Adds and removes members and sensors in one go; what is unknown is named and nothing is changed. */
  changeTeamMembers(
    input: Doing & {
      readonly teamId: string;
      readonly addUsers?: readonly string[];
      readonly removeUsers?: readonly string[];
      readonly addSensors?: readonly string[];
      readonly removeSensors?: readonly string[];
    },
  ): Promise<TeamRow | 'not_found' | { readonly unknown: readonly string[] }>;

  createGroup(
    input: Doing & {
      readonly groupId: string;
      readonly name: string;
      readonly description: string;
    },
  ): Promise<GroupRow | 'name_taken'>;
  changeGroup(
    input: Doing & {
      readonly groupId: string;
      readonly name?: string;
      readonly description?: string;
      readonly addSensors?: readonly string[];
      readonly removeSensors?: readonly string[];
    },
  ): Promise<GroupRow | 'not_found' | 'name_taken' | { readonly unknown: readonly string[] }>;
  removeGroup(input: Doing & { readonly groupId: string }): Promise<boolean>;
  listGroups(): Promise<readonly GroupRow[]>;
  getGroup(groupId: string): Promise<GroupRow | null>;

  /** Replaces the tags of a sensor; null when there is no such sensor. */
  setSensorTags(
    input: Doing & { readonly sensorId: string; readonly tags: readonly string[] },
  ): Promise<readonly string[] | null>;
  /** Tags, groups and teams of each of the sensors. */
  labelsOf(sensorIds: readonly string[]): Promise<
    readonly {
      readonly sensorId: string;
      readonly tags: readonly string[];
      readonly groupIds: readonly string[];
      readonly teamIds: readonly string[];
    }[]
  >;
  /** Sensors that carry a tag or belong to a group. */
  sensorsWith(
    by: { readonly tag: string } | { readonly groupId: string },
  ): Promise<readonly string[]>;

  /** Replaces a user's own list of sensors. */
  setUserSensors(
    input: Doing & { readonly userId: string; readonly sensorIds: readonly string[] },
  ): Promise<'ok' | 'not_found' | { readonly unknown: readonly string[] }>;
  /** Whether a sensor is on the user's own list or belongs to one of its teams. */
  owns(userId: string, sensorId: string): Promise<boolean>;
  /** Every sensor that the user owns. */
  ownedBy(userId: string): Promise<readonly string[]>;
};
