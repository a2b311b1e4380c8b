// Identifiers that sort by the time they were made.
import { randomUUIDv7 } from 'node:crypto';

/** A new UUID of version 7, as lower-case text. */
export function newId(): string {
  return randomUUIDv7();
}
