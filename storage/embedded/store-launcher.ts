// What the supervisor of an embedded database needs of it, whichever database it is. decision: D7

export type StoreExit = { readonly code: number | null; readonly signal: string | null };

export type RunningStore<Endpoint> = {
  readonly endpoint: Endpoint;
  readonly pid: number;
  /** True when a server of a killed Console was taken over instead of started. */
  readonly adopted: boolean;
  /** Resolves when the process is gone, whoever ended it. */
  readonly exited: Promise<StoreExit>;
  /** Whether it answers now. Never rejects. */
  probe(): Promise<boolean>;
  /** Asks it to finish in order, then kills it after the deadline. Resolves when it is gone. */
  stop(deadlineMs: number): Promise<void>;
};

export type StoreLauncher<Endpoint> = {
  readonly name: string;
  /**
   * Takes over a running orphan of this data directory, or starts the server on the port it always had. Resolves when
   * it answers; rejects with the reason, having left nothing running. `signal` ends a start that takes too long.
   */
  start(signal: AbortSignal): Promise<RunningStore<Endpoint>>;
};

export type EmbeddedLogger = {
  info(fields: Readonly<Record<string, unknown>>, text: string): void;
  warn(fields: Readonly<Record<string, unknown>>, text: string): void;
  error(fields: Readonly<Record<string, unknown>>, text: string): void;
};

export type PostgresEndpoint = { readonly url: string; readonly port: number };
export type ClickhouseEndpoint = {
  readonly url: string;
  readonly username: string;
  readonly password: string;
};
