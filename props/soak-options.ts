// What `npm run soak` tells the simulated fleet: `soak-simulation.ts` exports a `SoakSimulation`.
import { PROFILES, type Profile } from './simulation/options.ts';

export { PROFILES };
export type SoakProfile = Profile;

export type SoakOptions = {
  /** The time that is left for the simulation. */
  readonly seconds: number;
  /** Decimal text when it was drawn; whatever was given with --seed otherwise. */
  readonly seed: string;
  readonly profile: SoakProfile;
  /** At most so many seeds; null for as many as fit into the time. */
  readonly seeds: number | null;
  readonly workers: number;
  /** On a real PostgreSQL beside the simulated one. */
  readonly isOnPostgres: boolean;
  readonly say: (line: string) => void;
};
export type SoakSimulation = {
  /** Resolves with the exit code: 0 nothing found, 1 a crash of the runner, 2 safety, 3 liveness. */
  soakSimulation(options: SoakOptions): Promise<number>;
};
