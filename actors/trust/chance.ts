// Chance as a port: identifiers and secrets come from the system's source, except where a seed must be able to repeat a
// run.
import { randomBytes } from 'node:crypto';
import { newId } from './uuid-v7.ts';

export type Chance = {
  /** A UUID that no one has seen, sortable by the time it was made. */
  newId(): string;
  /** Bytes that nobody can guess. */
  randomBytes(count: number): Buffer;
};

/** The operating system's chance. */
export const systemChance: Chance = { newId, randomBytes };
