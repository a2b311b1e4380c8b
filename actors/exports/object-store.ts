// Where objects are written: a name, its bytes, and the same bytes back. What is written under a name takes the place of what
// was there at once or not at all. decision: D158
import type { Readable } from 'node:stream';

export type ObjectStore = {
  /** Writes what the stream gives. Rejects when it cannot, and when the stream breaks; nothing is there then. */
  write(name: string, from: Readable, signal: AbortSignal): Promise<void>;
  /** Null: there is no such object. */
  read(name: string, signal: AbortSignal): Promise<Readable | null>;
  /** One that is not there is no mistake. */
  remove(name: string, signal: AbortSignal): Promise<void>;
};
