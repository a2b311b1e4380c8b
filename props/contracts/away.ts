// What every relational port promises of a database that is gone, and the harness the suites are run with.
import { expect } from 'vitest';
import { StoreUnavailable } from '../../storage/ports/plumbing/store-unavailable.ts';

export type Harness<Port> = {
  /** Asked inside a test: the real one exists only then. */
  readonly port: () => Port;
  readonly setAway: (away: boolean) => Promise<void> | void;
};

/** Every call throws StoreUnavailable while the store is away, and works again afterwards without a restart. */
export async function expectAwayAndBack(
  harness: Pick<Harness<unknown>, 'setAway'>,
  calls: readonly (() => Promise<unknown>)[],
): Promise<void> {
  await harness.setAway(true);
  try {
    for (const call of calls) await expect(call()).rejects.toThrow(StoreUnavailable);
  } finally {
    await harness.setAway(false);
  }
  for (const call of calls) await call();
}
