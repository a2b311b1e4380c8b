// Reading in /proc, where a vanished or forbidden entry is an everyday answer, and the stack of an error is what makes it dear.
import { readdirSync } from 'node:fs';

/** What the read answers; undefined when it throws. */
export function orNothing<Value>(read: () => Value): Value | undefined {
  const depth = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    return read();
  } catch {
    return undefined;
  } finally {
    Error.stackTraceLimit = depth;
  }
}

/** The processes there are, the youngest last. Never throws. */
export function pidsOf(proc: string): number[] {
  const names = orNothing(() => readdirSync(proc)) ?? [];
  return names
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .sort((a, b) => a - b);
}
