// Keys with which programs ask, and people from the command line. Every method rejects with StoreUnavailable.

export type ApiKeyRow = {
  readonly keyId: string;
  readonly name: string;
  readonly scopes: readonly string[];
  /** Who made it; null: the Console itself. */
  readonly userId: string | null;
  readonly createdAtMs: number;
  readonly lastUsedAtMs: number | null;
  readonly expiresAtMs: number | null;
  readonly revokedAtMs: number | null;
};

export type ApiKeyPage = {
  /** Only those that this person made; absent: all. */
  readonly userId?: string;
  readonly limit: number;
  /** The id of the last one seen. */
  readonly before: string | null;
};

/**
 * Keys are found by the SHA-256 of the secret; the secret itself is never stored. Changes are audited with them, and the
 * keys of a person go with the person. decision: D43; invariant: I11
 */
export type ApiKeys = {
  /**
   * A person has a bounded number of keys that can still be used; of those that ended, the newest are kept. Rejects when
   * the id or the hash exists already. With `bySession`, the session that asked must live while the key is made: else a
   * key would outlast whatever ended the session. invariant: I18
   */
  create(input: {
    readonly keyId: string;
    readonly hash: Buffer;
    readonly name: string;
    readonly scopes: readonly string[];
    readonly nowMs: number;
    readonly expiresAtMs: number | null;
    readonly userId?: string | null | undefined;
    readonly bySession?: Buffer | undefined;
    readonly actor?: string | undefined;
    readonly from?: string | undefined;
  }): Promise<'created' | 'too_many' | 'no_user' | 'no_session'>;
  findByHash(hash: Buffer): Promise<ApiKeyRow | null>;
  get(keyId: string): Promise<ApiKeyRow | null>;
  /** Newest first. */
  list(page: ApiKeyPage): Promise<readonly ApiKeyRow[]>;
  /** When keys were last used; written in batches. A later use stays. */
  touch(seen: readonly { readonly hash: Buffer; readonly atMs: number }[]): Promise<void>;
  /** Idempotent; null when there is no such key, or when it is not that of the person who is named. */
  revoke(input: {
    readonly keyId: string;
    readonly userId?: string | undefined;
    readonly nowMs: number;
    readonly actor?: string | undefined;
    readonly from?: string | undefined;
  }): Promise<ApiKeyRow | null>;
};
