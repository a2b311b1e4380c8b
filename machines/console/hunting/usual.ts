// What somebody declared to be usual from now on: a program everywhere or on one sensor, or all of one sensor. It changes
// what the Console raises because something is unusual, and nothing else: rules, policies and nodes never hear of it.
// decision: D147
export type UsualMark = {
  /** Null: every program. */
  readonly binary: string | null;
  /** Null: every sensor. */
  readonly sensorId: string | null;
  readonly reason: string;
  readonly by: string;
  /** Null: until it is removed. */
  readonly untilMs: number | null;
};

/** Whether what a program did on a sensor is declared to be usual. */
export function isUsual(
  marks: Iterable<UsualMark>,
  what: { readonly binary: string; readonly sensorId: string },
  nowMs: number,
): boolean {
  for (const { binary, sensorId, untilMs } of marks) {
    if (untilMs !== null && untilMs <= nowMs) continue;
    if (binary !== null && binary !== what.binary) continue;
    if (sensorId !== null && sensorId !== what.sensorId) continue;
    // A mark of everything everywhere marks nothing.
    if (binary !== null || sensorId !== null) return true;
  }
  return false;
}
