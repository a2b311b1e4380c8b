import { describe, expect, it } from 'vitest';
import type { PlannedFault } from './faults/kinds.ts';
import { drawPlan } from './faults/plan.ts';
import { drawOptions } from './options.ts';
import { type Failing, type Failure, shrink } from './shrink.ts';

const options = drawOptions('7', 'smoke', {
  sensors: 9,
  consoles: 2,
  hours: 2,
  faultsPerHour: 60,
  kinds: ['node.kill', 'network.cut', 'console.kill', 'disk.full'],
});
const plan = drawPlan(options);

function first(
  kind: PlannedFault['kind'],
  faults: readonly PlannedFault[],
): PlannedFault | undefined {
  return faults.find((fault) => fault.kind === kind);
}

/** Fails one second after a node was killed after a network was cut, when there are two sensors. */
async function toy({
  options: { sensors, hours },
  plan: faults,
}: Failing): Promise<Failure | null> {
  const cut = first('network.cut', faults);
  const kill = faults.find(
    ({ kind, atMs }) => kind === 'node.kill' && atMs > (cut?.atMs ?? Infinity),
  );
  if (sensors < 2) return { outcome: 'liveness', checker: 'liveness', atMs: 0 };
  if (kill === undefined || kill.atMs + 1_000 > hours * 3_600_000) return null;
  return { outcome: 'safety', checker: 'toy', atMs: kill.atMs + 1_000 };
}

describe('shrink', () => {
  it('should leave only what the failure needs', async () => {
    const shrunk = await shrink({ options, plan }, { tryCase: toy, runsMax: 500 });
    expect(shrunk?.plan.map(({ kind }) => kind)).toEqual(['network.cut', 'node.kill']);
    expect(shrunk?.options).toMatchObject({ sensors: 2, consoles: 1 });
    expect([...(shrunk?.options.kinds ?? [])].sort()).toEqual(['network.cut', 'node.kill']);
    expect(shrunk?.failure).toMatchObject({ outcome: 'safety', checker: 'toy' });
    expect(shrunk?.options.hours).toBeLessThan(options.hours);
    expect(shrunk === null ? null : await toy(shrunk)).toEqual(shrunk?.failure);
  });

  it('should answer null when the case holds', async () => {
    expect(await shrink({ options, plan: [] }, { tryCase: async () => null })).toBeNull();
  });

  it('should answer with what it has when its runs are used up', async () => {
    let runs = 0;
    const shrunk = await shrink(
      { options, plan },
      {
        runsMax: 5,
        tryCase(failing) {
          runs += 1;
          return toy(failing);
        },
      },
    );
    expect(runs).toBe(5);
    expect(shrunk?.runs).toBe(5);
    expect(shrunk === null ? null : await toy(shrunk)).toEqual(shrunk?.failure);
  });
});
