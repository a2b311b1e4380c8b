// A Sensor dies at each step of taking a pack: told of it, downloading, verifying, trying it, writing, giving it to its
// engine, hearing of it, keeping it, reporting it; half of the lives after that die on their way as well. What its disk and
// its engine have is then the whole old version or the whole new one, signed, and no older one; in the end the new one.
// KILL_STEPS=all dies at every step, PROPS_SEED repeats a sample. decision: D78, D79
import { mkdirSync } from 'node:fs';
import { afterEach, expect, it } from 'vitest';
import { missingForEbpf } from '../ebpf.ts';
import { isSkipped, startConsole } from '../fleet.ts';
import { eventually, type Home, makeHome, removeHome } from '../programs.ts';
import { copiesOn, digestOf, givenOn, packOn } from './by-hand.ts';
import {
  createProbe,
  type DyingNode,
  hasReported,
  INTERVALS,
  makePack,
  policiesOf,
  roll,
  startNode,
  watchedBy,
} from './nodes.ts';
import { drawsOf, stepsOf } from './plan.ts';

const NODES = 3;
const STARTING_STEPS = 14;
const SAMPLE = 24;
const TIMEOUT_MS = 1_800_000;
const seed = Number(process.env['PROPS_SEED'] ?? 20_261_128);
let home: Home | null = null;
afterEach(async () => {
  if (home !== null) await removeHome(home);
}, TIMEOUT_MS);

const skip = isSkipped('steps of a Sensor', missingForEbpf());

/** What lies there, judged by hand, is one of these versions as a whole. Answers which. */
function expectWhole(at: Home, { home: own }: DyingNode, versions: readonly number[]): number {
  const held = packOn(own.sensorDir);
  const version = held?.version ?? 0;
  expect(versions).toContain(version);
  expect(held?.texts).toEqual(policiesOf(at, version).map(({ yaml }) => yaml));
  const sets = versions.map((one) => policiesOf(at, one).map(({ yaml }) => digestOf(yaml)));
  expect(sets).toContainEqual(givenOn(own.sensorDir));
  const texts = versions.flatMap((one) => policiesOf(at, one).map(({ yaml }) => yaml));
  for (const copy of copiesOn(own.sensorDir)) expect(texts).toContain(copy);
  return version;
}

it.skipIf(skip)(
  'should have the whole old pack or the whole new one in force, wherever its Sensor dies',
  { timeout: TIMEOUT_MS },
  async () => {
    const at = await makeHome(INTERVALS);
    home = at;
    mkdirSync(at.sensorDir, { recursive: true });
    await startConsole(at);
    const nodes = await Promise.all(
      Array.from({ length: NODES }, (_, place) => startNode(at, `node-${place}`)),
    );
    const probe = createProbe(at, nodes);
    const draw = drawsOf(seed);
    const packId = await makePack(at);
    const haveIt = (version: number) =>
      eventually(`all have version ${version}`, async () => {
        for (const node of nodes) if (!node.program().isRunning()) node.start();
        for (const node of nodes) if (!(await hasReported(node, version))) return null;
        return true;
      }).catch((error: unknown) =>
        expect.unreachable(`${error}\n${nodes.map((one) => one.program().output()).join('\n\n')}`),
      );
    await roll(at, packId, 1);
    await haveIt(1);

    // A version that nobody cuts: its deeds are the steps.
    for (const { dying } of nodes) dying.arm();
    await roll(at, packId, 2);
    await haveIt(2);
    const whole = nodes.map(({ dying }) => dying.deeds());
    for (const one of whole[0] ?? []) process.stdout.write(`${one.count} ${one.label}\n`);
    const steps = Math.max(...whole.map(({ length }) => length)) + 2;
    expect(steps).toBeGreaterThan(50);

    const todo = [...stepsOf(steps, draw, SAMPLE)];
    let version = 2;
    while (todo.length > 0) {
      const [old, next] = [version, version + 1];
      version = next;
      const dead = nodes.map((node) => ({ node, step: todo.shift() ?? steps }));
      for (const { node, step } of dead) node.dying.arm(step, draw() < 0.5);
      const began = Date.now();
      await roll(at, packId, next);
      await Promise.all(dead.map(({ node }) => node.program().exited));
      const labels = dead.map(({ node }) => node.dying.deeds().find(({ isLast }) => isLast)?.label);
      const died = Date.now() - began;
      for (const { node } of dead) node.dying.disarm();
      for (const [place, { node }] of dead.entries()) {
        expect(labels[place], node.program().output()).toBeDefined();
        expectWhole(at, node, [old, next]);
      }
      // The engine outlives its Sensor, and has them without a gap.
      const inForce = await probe([old - 1, old, next]);
      for (const told of inForce) {
        const isWhole = [old, next].some((one) =>
          watchedBy(at, one).every((file) => told.includes(file)),
        );
        expect(isWhole, `${labels}: ${told}`).toBe(true);
        expect(told).not.toEqual(expect.arrayContaining(watchedBy(at, old - 1).slice(0, 1)));
      }
      const before = nodes.map((node) => expectWhole(at, node, [old, next]));
      for (const { node } of dead) {
        if (draw() < 0.5) node.dying.arm(Math.floor(draw() * STARTING_STEPS), draw() < 0.5);
        node.start();
      }
      await haveIt(next);
      for (const { node } of dead) node.dying.disarm();
      await haveIt(next);
      for (const node of nodes) expect(expectWhole(at, node, [next])).toBe(next);
      const after = await probe([old, next]);
      for (const told of after) expect(told).toEqual(watchedBy(at, next));
      process.stdout.write(
        `version ${next}: ${labels.join('; ')} after ${died} ms: had ${before}, ${Date.now() - began} ms\n`,
      );
    }
  },
);
