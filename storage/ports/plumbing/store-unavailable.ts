// The one way in which a store that cannot answer says so.

/** Thrown by every relational port when the database cannot answer; never for a refusal. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

/** Whether the database answers. */
export type RelationalHealth = { ping(): Promise<boolean> };
