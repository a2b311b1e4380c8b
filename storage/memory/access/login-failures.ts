// The reference store of counted failures.
import type { LoginFailureStore, LoginFailures } from '../../ports/access/login-failures.ts';
import { storableText } from '../../ports/plumbing/stored-text.ts';
import type { Calls } from '../plumbing/unsafe-port-of.ts';
import type { PeopleState } from './people-state.ts';

/** Its calls on a state. */
export function failureCalls({ failures }: PeopleState): Calls<LoginFailureStore> {
  const current = (key: string, nowMs: number, windowMs: number): LoginFailures => {
    const row = failures.get(key);
    return row === undefined || row.lastAtMs <= nowMs - windowMs
      ? { key, failures: 0, firstAtMs: nowMs, lastAtMs: nowMs }
      : row;
  };
  const count = (row: LoginFailures, nowMs: number): LoginFailures => {
    const next = {
      ...row,
      failures: row.failures + 1,
      lastAtMs: Math.max(row.lastAtMs, nowMs),
    };
    failures.set(row.key, next);
    return next;
  };
  return {
    takeTry({ keys, nowMs, windowMs, waitMs }) {
      for (const row of failures.values()) {
        const isAhead = ordered(keys).includes(row.key) && row.lastAtMs > nowMs + windowMs;
        if (isAhead) failures.set(row.key, { ...row, lastAtMs: nowMs });
      }
      const rows = ordered(keys).map((key) => current(key, nowMs, windowMs));
      const wait = Math.max(0, ...rows.map(waitMs));
      if (wait === 0) for (const row of rows) count(row, nowMs);
      return wait;
    },
    returnTry(keys) {
      for (const key of ordered(keys)) {
        const row = failures.get(key);
        if (row !== undefined) {
          failures.set(key, { ...row, failures: Math.max(0, row.failures - 1) });
        }
      }
    },
    noteFailure: ({ keys, nowMs, windowMs }) =>
      ordered(keys).map((key) => count(current(key, nowMs, windowMs), nowMs)),
    failuresOf: (keys, nowMs, windowMs) =>
      ordered(keys)
        .map((key) => current(key, nowMs, windowMs))
        .filter((row) => row.failures > 0),
    forgetFailures(keys) {
      for (const key of ordered(keys)) failures.delete(key);
    },
    sweepFailures(beforeMs) {
      const old = [...failures.values()].filter((row) => row.lastAtMs < beforeMs);
      for (const { key } of old) failures.delete(key);
      return old.length;
    },
  };
}

function ordered(keys: readonly string[]): readonly string[] {
  return [...new Set(keys.map(storableText))].sort();
}
