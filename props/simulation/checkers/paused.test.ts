// What a Console that is paused may do, and what it owes as soon as it goes on: stories told by hand.
import { expect, it } from 'vitest';
import { DEFAULT_INTERVALS } from '../../../machines/intervals.ts';
import type { Observation } from '../world/observation.ts';
import type { FleetView } from './checker.ts';
import { designation } from './designation.ts';

const CONSOLE = 'console-1';
const began = (console: string, epoch: number): Observation => ({
  ...{ kind: 'designation.began', console, epoch },
});
const ended: Observation = { kind: 'designation.ended', console: CONSOLE };
const sealed = (epoch: number): Observation => ({
  ...{ kind: 'audit.sealed', console: CONSOLE, epoch, from: 1, to: 2 },
});
const resumed: Observation = { kind: 'process.resumed', host: CONSOLE, incarnation: 1 };
type Step = readonly [atMs: number, what: Observation | 'look' | 'paused' | 'turns'];

/** The first Console holds itself for designated throughout, though the lock is another's by the end. */
function tell(story: readonly Step[]): readonly string[] {
  const found: string[] = [];
  let isPaused = false;
  const console = {
    name: CONSOLE,
    isPaused: () => isPaused,
    running: () => ({ context: { loops: { designation: () => ({ epoch: 1 }) } } }),
  };
  const fleet = {
    intervals: DEFAULT_INTERVALS,
    consoles: [console],
    stores: { relational: { designation: { holder: () => 'console-2' } } },
  } as unknown as FleetView;
  const checker = designation.make(fleet, (detail) => found.push(detail));
  for (const [atMs, what] of story) {
    if (what === 'look') checker.probe?.(atMs);
    else if (what === 'paused' || what === 'turns') isPaused = what === 'paused';
    else checker.observe?.(what, atMs);
  }
  return found;
}
const lost: readonly Step[] = [
  [0, began(CONSOLE, 1)],
  [1_000, 'paused'],
  [40_000, ended],
  [41_000, began('console-2', 2)],
  [90_000, 'look'],
  [100_000, 'turns'],
  [100_000, resumed],
];

it('should give a paused Console the time to stop from when it goes on', () => {
  expect(tell([...lost, [103_000, 'look']])).toEqual([]);
});

it('should not give it more than that', () => {
  expect(tell([...lost, [107_000, 'look']])).toEqual([
    `${CONSOLE} holds itself for designated 7000 ms after it lost the lock`,
  ]);
});

it('should not let it write under the tenure that it lost while it was paused', () => {
  expect(tell([...lost, [100_001, sealed(1)]])).toEqual([
    `${CONSOLE} sealed under tenure 1, and 2 had begun`,
  ]);
});
