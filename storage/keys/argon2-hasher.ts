// Argon2id on the thread pool: the event loop never waits for it. Few run at a time, because each takes a thread and its
// memory, and few wait, because a login that waits for seconds is none. decision: D37
import { hash, parseOptions, verify } from '@node-rs/argon2';
import {
  PASSWORD_HASHES_RUNNING_MAX,
  PASSWORD_HASHES_WAITING_MAX,
  PASSWORD_LANES,
  PASSWORD_MEMORY_KIB,
  PASSWORD_PASSES,
} from '../../machines/limits.ts';
import type { PasswordHasher } from '../ports/access/password-hasher.ts';

// Argon2id is the library's default; naming it would take a const enum, which is erased.
const COST = {
  memoryCost: PASSWORD_MEMORY_KIB,
  timeCost: PASSWORD_PASSES,
  parallelism: PASSWORD_LANES,
};

/** Makes the hasher. */
export function createArgon2Hasher(
  bounds: { readonly runningMax?: number; readonly waitingMax?: number } = {},
): PasswordHasher {
  const { runningMax = PASSWORD_HASHES_RUNNING_MAX, waitingMax = PASSWORD_HASHES_WAITING_MAX } =
    bounds;
  const waiting: (() => void)[] = [];
  let running = 0;

  async function inTurn<T>(work: () => Promise<T>): Promise<T | 'busy'> {
    if (running >= runningMax) {
      if (waiting.length >= waitingMax) return 'busy';
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else running += 1;
    try {
      return await work();
    } finally {
      // The place is handed on, so that nobody who comes now gets before who waits.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  }

  return {
    hash: (password) => inTurn(() => hash(Buffer.from(password), COST)),
    verify: (stored, password) => inTurn(() => verify(stored, Buffer.from(password))),
    isOutdated(stored) {
      const { memoryCost, timeCost, parallelism } = parseOptions(stored);
      const isWeaker = memoryCost < COST.memoryCost || timeCost < COST.timeCost;
      return isWeaker || parallelism < COST.parallelism;
    },
  };
}
