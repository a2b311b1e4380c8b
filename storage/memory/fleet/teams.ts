// The reference store of teams, groups, tags and ownership: the same promises as the real one. Whoever is removed is gone
// from every team and has no list any more, as a foreign key has it. decision: D43
import type { LabelStore, OwnershipStore, TeamStore } from '../../ports/fleet/teams.ts';
import { createAwaySwitch } from '../plumbing/away-switch.ts';
import { type Ask, portOf } from '../plumbing/unsafe-port-of.ts';
import { type Labelled, type LabelsState, labelCalls } from './labels.ts';
import { ownershipCalls } from './ownership.ts';

export type MemoryTeams = {
  readonly teams: TeamStore;
  setAway(away: boolean): void;
};

/** Makes the store on a state that the registry of sensors reads as well. */
export function createMemoryTeams(state: LabelsState, about: Labelled): MemoryTeams {
  const { ask, setAway } = createAwaySwitch();
  return { setAway, teams: teamsOver(state, about, ask) };
}

/** The store over a way of asking. */
export function teamsOver(state: LabelsState, about: Labelled, ask: Ask): TeamStore {
  return {
    ...portOf<OwnershipStore>('ownership', ownershipCalls(state, about), ask),
    teams: portOf<LabelStore>('teams', labelCalls(state, 'team', about), ask),
    groups: portOf<LabelStore>('groups', labelCalls(state, 'group', about), ask),
  };
}
