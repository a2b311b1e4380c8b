// What nodes told about themselves, section by section. Every method rejects with StoreUnavailable. decision: D49
import type { InventoryItem, InventorySectionName } from '../../../machines/wire/inventory.ts';

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
