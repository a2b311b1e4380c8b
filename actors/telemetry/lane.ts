// A lane per sensor: one piece of work at a time is in flight to storage, the rest waits in order, and a full lane says
// so at once. A lane exists only while it is used. invariant: I6, I10
import { SENSOR_LANE_WAITING_MAX } from '../../machines/limits.ts';

export type Lanes = {
  /** Runs work after what is before it in the lane; null when the lane is full. The work's own failure is passed on. */
  run<T>(key: string, work: () => Promise<T>): Promise<T> | null;
  /** Lanes in use. */
  size(): number;
};

type Lane = { waiting: number; tail: Promise<unknown> };

/** Makes the lanes. */
export function createLanes(waitingMax: number = SENSOR_LANE_WAITING_MAX): Lanes {
  const lanes = new Map<string, Lane>();

  function leave(key: string, lane: Lane): void {
    lane.waiting -= 1;
    if (lane.waiting === 0 && lanes.get(key) === lane) lanes.delete(key);
  }

  return {
    run(key, work) {
      const lane = lanes.get(key);
      if (lane === undefined) {
        const started = work();
        const own: Lane = { waiting: 1, tail: settled(started) };
        lanes.set(key, own);
        return started.finally(() => leave(key, own));
      }
      // One is in flight; the others wait.
      if (lane.waiting > waitingMax) return null;
      lane.waiting += 1;
      const next = lane.tail.then(work);
      lane.tail = settled(next);
      return next.finally(() => leave(key, lane));
    },
    size: () => lanes.size,
  };
}

function settled(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    () => undefined,
  );
}
