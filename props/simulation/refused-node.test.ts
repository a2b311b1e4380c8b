// What the service manager of a node does with a Sensor that was refused: nothing, as its unit says, until somebody helps.
import { expect, it } from 'vitest';
import type { PlannedFault } from './faults/kinds.ts';
import { drawOptions } from './options.ts';
import { CALM } from './planted/settings.ts';
import { runSimulation } from './run.ts';

it('should start a node that was refused again only when somebody gives it a token', async () => {
  const options = drawOptions('refused', 'smoke', { ...CALM, sensors: 1, people: 0, hours: 0.2 });
  const wrong: PlannedFault = {
    ...{ id: 0, kind: 'operator.wrong_token', atMs: 60_000, durationMs: 100_000 },
    ...{ target: 0, severity: 0.3 },
  };
  const { outcome, observations, violations } = await runSimulation(options, { plan: [wrong] });
  expect({ outcome, violations }).toEqual({ outcome: 'held', violations: [] });
  expect(observations['node.wiped']).toBe(1);
  // A Console, the node, the node with the wrong word, and once more with the token of somebody who helped.
  expect(observations['process.started']).toBe(4);
});
