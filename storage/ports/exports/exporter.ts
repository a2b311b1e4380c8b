// Copies parts of a day to where exports go, somewhere else than where the Console serves: it moves many megabytes. A name
// that is written again takes the place of what was there. Every call rejects with ExportFailed, and is given up at its
// signal. decision: D157, D158
import type { TableDay } from '../../../machines/console/exports/export-run.rules.ts';
import type { ExportPlace } from '../../../machines/console/exports/target.rules.ts';

/** Where something is written, with what opens it. */
export type ExportDestination = {
  readonly place: ExportPlace;
  readonly prefix: string;
  /** Null: none is needed. */
  readonly secretAccessKey: string | null;
  /** Private names, addresses and networks that may be reached. */
  readonly allowList: readonly string[];
};

/** What was read back. */
export type CopiedObject = {
  readonly bytes: number;
  readonly sha256: string;
};
export type CopiedPart = CopiedObject & {
  /** As the file itself says. */
  readonly rows: number;
};

export type PartJob = TableDay & {
  readonly destination: ExportDestination;
  /** Below the prefix. */
  readonly name: string;
  /** From 1. */
  readonly part: number;
  readonly parts: number;
};

export type Exporter = {
  /** Reads a part as Parquet, writes it, reads it back: what is answered is there. */
  copy(job: PartJob, signal: AbortSignal): Promise<CopiedPart>;
  /** The same with a small object. */
  put(
    job: {
      readonly destination: ExportDestination;
      readonly name: string;
      readonly text: string;
    },
    signal: AbortSignal,
  ): Promise<CopiedObject>;
  /** Removes objects; one that is not there is no mistake. */
  remove(
    job: { readonly destination: ExportDestination; readonly names: readonly string[] },
    signal: AbortSignal,
  ): Promise<void>;
};

export class ExportFailed extends Error {
  override readonly name = 'ExportFailed';
}
