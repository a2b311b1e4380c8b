// What is kept of sensors, and what they are labelled with.
import type { FactWriter, SensorRegistry } from './sensor-registry.ts';
import type { TeamStore } from './teams.ts';

export type FleetStores = {
  readonly sensors: SensorRegistry;
  readonly facts: FactWriter;
  readonly teams: TeamStore;
};
