// A counter of requests that replicas share. Counting is atomic: of any number of replicas that count one key at once,
// exactly `limit` are told that they are within it. decision: D41; invariant: I10

/** Thrown when the counter cannot answer in time; never for a budget that is used up. */
export class SharedCounterUnavailable extends Error {
  override readonly name = 'SharedCounterUnavailable';
}

/** One budget: how many requests a key has in a window. Its name keeps its keys apart from those of others. */
export type Budgeted = { readonly name: string; readonly limit: number; readonly windowMs: number };

export type BudgetState = {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  readonly resetMs: number;
};

/** Every method rejects with SharedCounterUnavailable, within SHARED_LIMITS_COMMAND_TIMEOUT_MS. */
export type SharedCounter = {
  /** Takes one request from the key's budget. The window begins with its first request. */
  consume(budget: Budgeted, key: string): Promise<BudgetState>;
  /** Gives one request back. */
  reward(budget: Budgeted, key: string): Promise<void>;
  /** Resolves when the counter answers. */
  look(): Promise<void>;
  /** Tells when the connection is lost. */
  onLost(listener: (reason: string) => void): void;
  close(): Promise<void>;
};
