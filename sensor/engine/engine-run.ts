// One run of an engine, as its launcher starts it and its actor watches it.
import type { KindGap } from './last-watcher.ts';

export type EngineRun = {
  /** Resolves, never rejects, with how it ended. */
  readonly gone: Promise<string>;
  hasEnded(): boolean;
  /** What it holds of the machine's memory; null when that cannot be read. Never rejects. */
  memoryBytes(): Promise<number | null>;
  /** Asks it to end. Idempotent. */
  endInput(): void;
  kill(): void;
  /** Has it read its policy file again. Absent where the engine takes none. */
  readonly readPolicies?: () => void;
  /** Whether it takes compiled policies, which only monitor, without having them in force: what it says of them, line by
   * line. Rejects when that cannot be found out now. */
  readonly tryPolicies?: (policies: string) => Promise<readonly string[]>;
  /** The one before has ended, and this is what it told last. Absent where an engine learns it by itself. */
  readonly takeOver?: (told: LastTold) => void;
};
/** The end of what an engine told, in its own time; its last events, as it names them, where it hands those over. */
export type LastTold = {
  readonly until: number;
  readonly events?: { readonly since: number; readonly names: string };
};
export type EngineLaunch = {
  readonly exportFile: string;
  readonly nodeName: string;
  /** Where the compiled policies are, for an engine that takes them so. */
  readonly policyFile?: string;
  /** Policies laid by hand need a signature, too; for an engine that reads them by itself. */
  readonly isStrict?: boolean;
  /** Each line of its standard output. */
  readonly onLine: (line: string) => void;
  readonly onErrorLine: (line: string) => void;
  /** The engine before was of another kind, and between the two nobody watched. */
  readonly onGap?: (gap: KindGap) => void;
};
