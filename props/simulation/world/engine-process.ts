// One process of a simulated host's engine.
import type { EngineLaunch } from '../../../sensor/engine/engine-launcher.ts';
import type { SimulatedBuild } from './engine-builds.ts';
import type { EngineOutput } from './engine-export.ts';
import type { ProcessPolicies } from './engine-policies.ts';
import type { Life } from './life.ts';

export type EngineProcess = {
  readonly life: Life;
  readonly own: SimulatedBuild;
  /** Of the Sensor that started it. */
  readonly sensor: Life;
  /** It was started beside another and has not taken over yet. */
  isNext: boolean;
  /** What it goes on with after a hang, as long as it does not write. */
  resume: () => void;
  readonly launch: EngineLaunch;
  /** Null where the engine carries out none. */
  policies: ProcessPolicies | null;
  output: EngineOutput | null;
  isInputEnded: boolean;
  isKilled: boolean;
  lost: number;
  lostTold: number;
  written: number;
  end(how: string): void;
};
