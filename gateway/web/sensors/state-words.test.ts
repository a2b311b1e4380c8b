// What the page calls the states of a sensor: each state of each region has a word for people.
import { expect, it } from 'vitest';
import { sensorMachine } from '../../../machines/console/fleet/sensor.machine.ts';
import { wordOfState } from './texts.ts';

/** Left in the moment in which they are entered. */
const PASSED = new Set(['assessing', 'deciding']);

it('should have a word for every state of a sensor', () => {
  const regions = Object.values(sensorMachine.root.states);
  const all = regions.flatMap((region) => Object.keys(region.states));
  const states = all.filter((state) => !PASSED.has(state));
  expect(states.length).toBeGreaterThan(10);
  expect(states.filter((state) => wordOfState(state) === state)).toEqual([]);
});
