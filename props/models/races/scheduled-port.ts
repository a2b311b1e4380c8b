// A port whose calls and answers are late: the scheduler decides when each call reaches the real thing and when its
// answer comes back, so that every order a network allows is tried, and a failing one can be replayed by its seed.
import fc from 'fast-check';
import { expect } from 'vitest';

type Call = (...args: never[]) => unknown;
/** A scheduler that also says how many turns an answer is late: mostly one, now and then so many that all others pass. */
export type Race = fc.Scheduler & { hops(): number };

const LATE_TURNS = 12;

/** Wraps every function of a port; the named ones only, when names are given. */
export function scheduledPort<Port extends object>(
  scheduler: Race,
  port: Port,
  names: readonly (keyof Port)[] = Object.keys(port) as (keyof Port)[],
): Port {
  const late = names.map((name) => {
    const call = port[name] as Call;
    const wrapped = async (...args: never[]): Promise<unknown> => {
      await scheduler.schedule(Promise.resolve(), `${String(name)} asked`);
      const answer = await settled(call(...args));
      for (let turns = scheduler.hops(); turns > 0; turns -= 1) {
        await scheduler.schedule(Promise.resolve(), `${String(name)} answers in ${turns}`);
      }
      if (answer.ok) return answer.value;
      throw answer.error;
    };
    return [name, wrapped] as const;
  });
  return { ...port, ...Object.fromEntries(late) };
}

const lateness = fc.infiniteStream(fc.constantFrom(1, 1, 1, 1, LATE_TURNS));

/** Checks one thing under many interleavings; every run gets its own scheduler, and all that was begun is ended. */
export async function raced<Input>(
  input: fc.Arbitrary<Input>,
  run: (scheduler: Race, input: Input) => Promise<void>,
  numRuns = 100,
): Promise<void> {
  expect.hasAssertions();
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), lateness, input, async (scheduler, turns, given) => {
      const hops = () => turns.next().value ?? 1;
      await run(Object.assign(scheduler, { hops }), given);
      await scheduler.waitIdle();
    }),
    { numRuns },
  );
}

/** Begins work at a moment the scheduler chooses; answers with its result. */
export async function begun<T>(
  scheduler: fc.Scheduler,
  label: string,
  work: () => T | Promise<T>,
): Promise<T> {
  await scheduler.schedule(Promise.resolve(), label);
  return work();
}

type Settled = { ok: true; value: unknown } | { ok: false; error: unknown };
async function settled(value: unknown): Promise<Settled> {
  try {
    return { ok: true, value: await value };
  } catch (error) {
    return { ok: false, error };
  }
}
