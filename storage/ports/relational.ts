// The other, smaller uses of the relational database, one port each.
import type { InventoryItem, InventorySectionName } from '../../machines/wire/inventory.ts';

/** Thrown by every relational port when the database cannot answer; never for a refusal. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

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

/** By which name a section of a sensor is stored. */
export type StoredHash = {
  readonly sensorId: string;
  readonly section: InventorySectionName;
  readonly hash: string;
};
/** Stored inventory sections; a write replaces the section of one sensor whole. */
export type InventoryStore = {
  /** Hashes of all sections of all sensors, for the gateway's suppression map. */
  loadHashes(): Promise<readonly StoredHash[]>;
  /** The same, of these sensors. */
  hashesOf(sensorIds: readonly string[]): Promise<readonly StoredHash[]>;
  get(
    sensorId: string,
    section: InventorySectionName,
  ): Promise<{
    readonly hash: string;
    readonly items: readonly InventoryItem[];
    /** How many there are on the node; null: these are all. */
    readonly nodeTotal: number | null;
    readonly storedAtMs: number;
  } | null>;
  put(input: {
    readonly sensorId: string;
    readonly section: InventorySectionName;
    readonly hash: string;
    readonly items: readonly InventoryItem[];
    /** Absent or null: these are all. */
    readonly nodeTotal?: number | null;
    readonly nowMs: number;
  }): Promise<void>;
};

/** What one action changed: field names and values, secrets masked before they are stored. */
export type AuditFacts = Readonly<Record<string, unknown>>;

export type AuditEntry = {
  readonly atMs: number;
  readonly actor: string;
  readonly action: string;
  readonly target: string;
  readonly result: string;
  readonly detail: AuditFacts;
  /** The address that asked; absent for what the Console did by itself. */
  readonly from?: string | null | undefined;
  /** What the action found and what it left, when it changed something. */
  readonly before?: AuditFacts | null | undefined;
  readonly after?: AuditFacts | null | undefined;
};

/** An entry as stored. `sequence` and `hash` are its place in the chain; null until it is sealed. */
export type AuditRow = {
  readonly auditId: number;
  readonly atMs: number;
  readonly actor: string;
  readonly action: string;
  readonly target: string;
  readonly result: string;
  readonly detail: AuditFacts;
  readonly from: string | null;
  readonly before: AuditFacts | null;
  readonly after: AuditFacts | null;
  readonly sequence: number | null;
  readonly hash: string | null;
};

export type AuditFilter = {
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  readonly target?: string | undefined;
  readonly result?: string | undefined;
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
};
export type AuditQuery = AuditFilter & {
  /** `newest`: by id, descending. `chain`: sealed rows by sequence, then the open tail by id. */
  readonly order: 'newest' | 'chain';
  /** The last row of the page before. */
  readonly after: Pick<AuditRow, 'auditId' | 'sequence'> | null;
  readonly limit: number;
};

/** Append-only record of operator and trust actions, refused ones included. Writers never wait for each other. */
export type AuditLog = {
  append(entries: readonly AuditEntry[]): Promise<void>;
  /** Newest first. */
  recent(limit: number): Promise<readonly AuditRow[]>;
  /** One page; exact matches, `fromMs` included and `toMs` not. */
  search(query: AuditQuery): Promise<readonly AuditRow[]>;
};

export type RelationalHealth = { ping(): Promise<boolean> };
