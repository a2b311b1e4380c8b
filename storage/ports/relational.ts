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
  readonly createdAtMs: number;
  readonly expiresAtMs: number | null;
  readonly revokedAtMs: number | null;
};

/** Keys are found by the SHA-256 of the secret; the secret itself is never stored. invariant: I11 */
export type ApiKeys = {
  create(input: {
    readonly keyId: string;
    readonly hash: Buffer;
    readonly name: string;
    readonly scopes: readonly string[];
    readonly nowMs: number;
    readonly expiresAtMs: number | null;
  }): Promise<void>;
  findByHash(hash: Buffer): Promise<ApiKeyRow | null>;
  list(): Promise<readonly ApiKeyRow[]>;
  /** Idempotent; false when there is no such key. */
  revoke(input: { readonly keyId: string; readonly nowMs: number }): Promise<boolean>;
};

/** Stored inventory sections; a write replaces the section of one sensor whole. */
export type InventoryStore = {
  /** Hashes of all sections of all sensors, for the gateway's suppression map. */
  loadHashes(): Promise<
    readonly {
      readonly sensorId: string;
      readonly section: InventorySectionName;
      readonly hash: string;
    }[]
  >;
  get(
    sensorId: string,
    section: InventorySectionName,
  ): Promise<{
    readonly hash: string;
    readonly items: readonly InventoryItem[];
    readonly storedAtMs: number;
  } | null>;
  put(input: {
    readonly sensorId: string;
    readonly section: InventorySectionName;
    readonly hash: string;
    readonly items: readonly InventoryItem[];
    readonly nowMs: number;
  }): Promise<void>;
};

export type AuditEntry = {
  readonly atMs: number;
  readonly actor: string;
  readonly action: string;
  readonly target: string;
  readonly result: string;
  readonly detail: Readonly<Record<string, unknown>>;
};

/** Append-only record of operator and trust actions, refused ones included. */
export type AuditLog = {
  append(entries: readonly AuditEntry[]): Promise<void>;
  recent(limit: number): Promise<readonly AuditEntry[]>;
};

export type RelationalHealth = { ping(): Promise<boolean> };
