// For /proc, where a vanished or forbidden entry is an everyday answer, and the stack of an error is what makes it dear.

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
