// A Sensor dies at each step of taking a pack (told of it, downloading, verifying, trying it, writing, giving it to its
// engine, hearing of it, keeping it, reporting it) and of taking a statement about keys; half of the lives after that die on
// their way as well. What its disk and its engine have is then all of the old or all of the new, signed, and nothing
// older; in the end the new. KILL_STEPS=all dies at every step, PROPS_SEED repeats a sample. decision: D78, D79
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { missingForEbpf } from '../ebpf.ts';
import { isSkipped, startConsole } from '../fleet.ts';
import { eventually, type Home, makeHome, removeHome } from '../programs.ts';
import {
  copiesOn,
  digestOf,
  givenOn,
  keyIdOf,
  keysAfter,
  keysOn,
  packOn,
  type Statement,
  statementBy,
} from './by-hand.ts';
import {
  ask,
  createProbe,
  type DyingNode,
  hasReported,
  INTERVALS,
  makePack,
  policiesOf,
  roll,
  startNode,
  statusOf,
  watchedBy,
} from './nodes.ts';
import { beatAt, deedAt, deedsIn, drawsOf, type Step, stepsOf } from './plan.ts';

const NODES = 3;
/** Steps of heartbeats: the one that tells of a wish, and the one that reports. */
const BEATS = 6;
const STARTING_STEPS = 14;
const PACK_SAMPLE = 18;
const KEYS_SAMPLE = 9;
const TIMEOUT_MS = 1_800_000;
const seed = Number(process.env['PROPS_SEED'] ?? 20_261_128);
const skip = isSkipped('steps of a Sensor', missingForEbpf());

/** A change of what nodes have: the n-th is made, and nodes are looked at. */
type Story = {
  change(n: number): Promise<void>;
  /** The Console has heard that the node has it. */
  hasIt(node: DyingNode, n: number): Promise<boolean>;
  /** Which of these the disk has; fails when it has no whole one. */
  onDisk(node: DyingNode, among: readonly number[]): number;
  /** Looks at the engines of dead nodes, then of living ones. */
  inForce(old: number, next: number, areAlive: boolean): Promise<void>;
};

describe.skipIf(skip)('a Sensor that dies', () => {
  let at: Home;
  let nodes: readonly DyingNode[] = [];
  let probe: ReturnType<typeof createProbe>;
  let packId = '';
  const draw = drawsOf(seed);
  beforeAll(async () => {
    at = await makeHome(INTERVALS);
    await startConsole(at);
    const names = Array.from({ length: NODES }, (_, place) => `node-${place}`);
    nodes = await Promise.all(names.map((name) => startNode(at, name)));
    probe = createProbe(at, nodes);
    packId = await makePack(at);
    await roll(at, packId, 1);
    await eventually('all have a pack', async () => {
      for (const node of nodes) if (!(await hasReported(node, 1))) return null;
      return true;
    });
  }, TIMEOUT_MS);
  afterAll(() => removeHome(at), TIMEOUT_MS);

  const haveIt = (story: Story, n: number) =>
    eventually(`all have ${n}`, async () => {
      for (const node of nodes) if (!node.program().isRunning()) node.start();
      for (const node of nodes) if (!(await story.hasIt(node, n))) return null;
      return true;
    }).catch((error: unknown) =>
      expect.unreachable(`${error}\n${nodes.map((one) => one.program().output()).join('\n\n')}`),
    );

  /** All nodes die, each at its step, in the n-th change. */
  async function dieIn(story: Story, n: number, steps: readonly Step[]): Promise<void> {
    for (const [place, { dying }] of nodes.entries()) dying.arm(steps[place], draw() < 0.5);
    await story.change(n);
    await Promise.all(nodes.map((node) => node.program().exited));
    const died = nodes.map(({ dying }) => dying.deeds().find(({ isLast }) => isLast)?.label);
    for (const node of nodes) story.onDisk(node, [n - 1, n]);
    await story.inForce(n - 1, n, false);
    const had = nodes.map((node) => story.onDisk(node, [n - 1, n]));
    process.stdout.write(
      `${n}: ${died.map((one, place) => `${one} (${had[place]})`).join(', ')}\n`,
    );
    expect(died, nodes.map((one) => one.program().output()).join('\n')).not.toContain(undefined);
    for (const node of nodes) {
      // Half of the next lives end soon.
      if (draw() < 0.5) node.dying.arm(deedAt(Math.floor(draw() * STARTING_STEPS)), draw() < 0.5);
      node.start();
    }
    await haveIt(story, n);
    for (const { dying } of nodes) dying.disarm();
    await haveIt(story, n);
    for (const node of nodes) story.onDisk(node, [n]);
    await story.inForce(n - 1, n, true);
  }

  /** A change that nobody cuts tells the steps; then they are gone through. */
  async function dieAtEach(story: Story, from: number, sample: number): Promise<void> {
    for (const { dying } of nodes) dying.arm();
    await story.change(from);
    await haveIt(story, from);
    const whole = nodes.map(({ dying }) => deedsIn(dying.deeds()).length);
    for (const { dying } of nodes) dying.disarm();
    const steps = Math.max(...whole);
    expect(steps).toBeGreaterThan(sample);
    const todo = stepsOf(steps, draw, { sample, beats: BEATS });
    process.stdout.write(`seed ${seed}: ${steps} steps, ${todo.length} of them\n`);
    for (let n = from + 1; todo.length > 0; n += 1) {
      const some = todo.splice(0, NODES);
      await dieIn(
        story,
        n,
        nodes.map((_, place) => some[place] ?? beatAt(place)),
      );
    }
  }

  it(
    'should have the whole old pack or the whole new one in force, wherever it dies',
    async () => {
      const textsOf = (n: number) => policiesOf(at, n).map(({ yaml }) => yaml);
      const story: Story = {
        change: (n) => roll(at, packId, n),
        hasIt: hasReported,
        onDisk({ home: { sensorDir } }, among) {
          const held = packOn(sensorDir);
          expect(among).toContain(held?.version);
          expect(held?.texts).toEqual(textsOf(held?.version ?? 0));
          expect(among.map((n) => textsOf(n).map(digestOf))).toContainEqual(givenOn(sensorDir));
          const published = among.flatMap(textsOf);
          for (const copy of copiesOn(sensorDir)) expect(published).toContain(copy);
          return held?.version ?? 0;
        },
        // An engine outlives its Sensor, and has them without a gap.
        async inForce(old, next, areAlive) {
          const found = await probe([old - 1, old, next]);
          for (const told of found) {
            if (areAlive) expect(told).toEqual(watchedBy(at, next));
            const isWhole = (n: number) => watchedBy(at, n).every((file) => told.includes(file));
            expect(isWhole(old) || isWhole(next), told.join()).toBe(true);
            for (const file of watchedBy(at, old - 1)) expect(told).not.toContain(file);
          }
        },
      };
      await dieAtEach(story, 2, PACK_SAMPLE);
    },
    TIMEOUT_MS,
  );

  it(
    'should trust the keys before a statement or those after it, wherever it dies',
    async () => {
      const key = createPrivateKey(
        readFileSync(join(at.consoleDir, 'keys', 'policy-signing.ed25519')),
      );
      const pemOf = (one: KeyObject) => one.export({ format: 'pem', type: 'spki' }).toString();
      const pem = pemOf(createPublicKey(key));
      const statements: Statement[] = [];
      const keysOf = (n: number) => keysAfter(pem, statements.slice(0, n));
      const story: Story = {
        // Each brings a key, and ends the one before for good.
        async change(n) {
          const before = statements.at(-1)?.new_key_pem;
          const statement = statementBy(
            { key, pem },
            {
              sequence: n,
              new_key_pem: pemOf(generateKeyPairSync('ed25519').publicKey),
              retired_key_ids: before === undefined ? [] : [keyIdOf(before)],
            },
          );
          statements.push(statement);
          await ask(at, 'POST', '/signing-keys/rotations', statement);
        },
        async hasIt(node, n) {
          const wanted = digestOf(keysOf(n).map(keyIdOf).sort().join('\n'));
          if (statusOf(node)?.pack?.signing_keys_sha256 !== wanted) return false;
          const path = `/sensors/${node.sensorId}/policy`;
          const { reported } = await ask<{ reported: { signing_keys_sha256: string } | null }>(
            ...[at, 'GET', path],
          );
          return reported?.signing_keys_sha256 === wanted;
        },
        onDisk({ home: { sensorDir } }, among) {
          const { pems, sequence } = keysOn(sensorDir);
          expect(among).toContain(sequence);
          const now = among.find((n) => keysOf(n).join('') === pems.join(''));
          expect(now, pems.join('')).toBeDefined();
          // The number is never behind the keys, or an old statement would count again.
          expect(sequence).toBeGreaterThanOrEqual(now ?? 0);
          expect(packOn(sensorDir)?.texts).toHaveLength(2);
          return now ?? 0;
        },
        inForce: async () => undefined,
      };
      await dieAtEach(story, 1, KEYS_SAMPLE);
    },
    TIMEOUT_MS,
  );
});
