// What the resource `system` and the probes are given: what every capability contributes.
import type { AnyStateMachine } from 'xstate';
import type { CrashLog } from '../../../actors/runtime/supervisor.ts';
import type { CursorSigner } from '../plumbing/cursor.ts';
import type { DirectoryView, Probe, VersionFacts } from '../plumbing/deps.ts';
import type { Metrics } from './metrics.ts';

export type SystemRouteDeps = {
  readonly version: VersionFacts;
  readonly cursors: CursorSigner;
  /** Where sensors and people reach this Console. */
  readonly baseUrl: () => string;
  readonly caPem: () => string;
  /** SHA-256 of the CA certificate, as colon-separated upper-case hex. */
  readonly caFingerprint: () => string;
  /** What enrols a node when it is pasted there. */
  readonly enrollLine: () => string;
  readonly directories: readonly DirectoryView[];
  readonly crashes: Pick<CrashLog, 'recent'>;
  readonly machines: readonly AnyStateMachine[];
  readonly probes: readonly Probe[];
  /** Null when ready; otherwise why not (starting, migrating, draining). */
  readonly notReadyBecause: () => string | null;
  readonly metrics: Metrics;
};
