// Which Console of a database is the designated one. The lock says who may begin; the epoch, which every new tenure raises,
// decides what is written: a transaction under an older epoch is refused, however late it comes. decision: D60

/** One Console's time as the designated one. */
export type Tenure = {
  /** Higher than that of every tenure before. */
  readonly epoch: number;
  /** Resolves while the lock is held. Rejects with Overtaken or StoreUnavailable; the tenure is over then. */
  prove(): Promise<void>;
  /** Lets the lock go; never rejects, and may be called more than once. */
  release(): Promise<void>;
};

/** Who became the designated Console last; epoch 0 before anybody did. */
export type LastTenure = {
  readonly epoch: number;
  readonly holder: string;
  readonly sinceMs: number;
};

export type Designation = {
  /**
   * Stands for it: a tenure, or null while another Console holds the lock. Rejects with StoreUnavailable. `onLost` is
   * called at most once, when the connection that holds the lock has ended before it was released.
   */
  stand(request: {
    readonly holder: string;
    readonly nowMs: number;
    readonly onLost: (reason: string) => void;
  }): Promise<Tenure | null>;
  /** Rejects with StoreUnavailable. */
  last(): Promise<LastTenure>;
  /** Closes what was kept to stand again; a tenure is released by itself. Never rejects. */
  close(): Promise<void>;
};

/** Another Console became the designated one since: nothing of the run under this epoch was written. */
export class Overtaken extends Error {
  override readonly name = 'Overtaken';
  constructor(epoch: number) {
    super(`another Console was designated after epoch ${epoch}`);
  }
}
