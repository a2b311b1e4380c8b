// A node's Sensor dies at each step of containing and of releasing, and half of the lives after that soon as well. Prints
// what was wrong and what was done as JSON. Runs in a network namespace: `containment-steps.services.test.ts`.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { createToken, startConsole } from '../fleet.ts';
import { eventually, type Home, makeHome, type Program, removeHome } from '../programs.ts';
import {
  areInForce,
  keptOn,
  loseRules,
  makeNetwork,
  startSensorIn,
  startTalk,
  type Talk,
} from './containment-network.ts';
import { ask, INTERVALS } from './nodes.ts';
import { type Dying, deedAt, deedsIn, drawsOf, dyingIn, type Step, stepsOf } from './plan.ts';

const CHANGED = 'end of nft changes';
const SAMPLE = 10;
/** Looks at the rules of a contained node are steps, too. */
const HOLDING_STEPS = 4;
const STARTING_STEPS = 10;
const NEVER_MS = Number.MAX_SAFE_INTEGER;

type Wanted = 'contained' | 'released';
type Standing = { readonly state: string; readonly order: { readonly order_id: string } | null };

const wrong: string[] = [];
const done: string[] = [];
const seed = Number(process.env['PROPS_SEED'] ?? 20_261_128);
const draw = drawsOf(seed);
const demand = (holds: boolean, what: string): void => void (holds || wrong.push(what));

/** A node, its Sensor and what is ordered of it. */
async function openNode(at: Home) {
  const dying = dyingIn(join(at.folder, 'dying'), 'service-sensor.ts');
  let sensor = startSensorIn(at, dying.env, await createToken(at));
  const sensorId = await eventually('the node is heard of', async () => {
    const { items } = await ask<{ items: { sensor_id: string }[] }>(at, 'GET', '/sensors');
    return items[0]?.sensor_id ?? null;
  });
  return {
    dying,
    sensor: (): Program => sensor,
    start() {
      sensor = startSensorIn(at, dying.env);
    },
    async order(wanted: Wanted): Promise<string> {
      const path = `/sensors/${sensorId}/${wanted === 'contained' ? 'contain' : 'release'}`;
      const placed = await ask<Standing>(at, 'POST', path, { reason: 'a step' });
      return placed.order?.order_id ?? '';
    },
    /** Resolves when a life that nobody cuts any more has carried out the order. */
    async become(wanted: Wanted, orderId: string): Promise<void> {
      const isSo = async (): Promise<true | null> => {
        if (!sensor.isRunning()) sensor = startSensorIn(at, dying.env);
        const path = `/sensors/${sensorId}/containment`;
        const { state, order } = await ask<Standing>(at, 'GET', path);
        return state === wanted && order?.order_id === orderId ? true : null;
      };
      await eventually(`it is ${wanted}`, isSo).catch((error: unknown) =>
        Promise.reject(new Error(`${error}\n${sensor.output()}`)),
      );
      dying.disarm();
      await eventually(`it is still ${wanted}`, isSo);
    },
  };
}
type Node = Awaited<ReturnType<typeof openNode>>;

const firstMs = (dying: Dying, label: string): number | undefined =>
  dying.deeds().find((one) => one.label === label)?.atMs;
const lastWords = (dying: Dying): string =>
  dying.deeds().find(({ isLast }) => isLast)?.label ?? 'not cut';

/** The next life: the rules of an order on its disk come before its first connection, where they are not there. */
async function liveAgain(at: Home, node: Node, what: string): Promise<void> {
  const { dying, sensor } = node;
  const kept = keptOn(at);
  dying.arm(draw() < 0.5 ? deedAt(Math.floor(draw() * STARTING_STEPS)) : undefined, draw() < 0.5);
  node.start();
  const connect = `connect ${at.port}`;
  await eventually('it connects, or dies', () =>
    firstMs(dying, connect) !== undefined || !sensor().isRunning() ? true : null,
  );
  const labels = dying.deeds().map(({ label }) => label);
  if (kept?.wanted !== 'contained' || !labels.includes(connect)) return;
  const [applied, connected] = [labels.indexOf(CHANGED), labels.indexOf(connect)];
  demand(applied >= 0 && applied < connected, `${what}: connected before its rules: ${labels}`);
}

/** Contains the node while its Sensor dies; answers since when it is held, and how that was. */
async function contain(at: Home, node: Node, talk: Talk, step: Step | undefined) {
  const { dying, sensor } = node;
  dying.arm(step, draw() < 0.5);
  const orderId = await node.order('contained');
  if (step === undefined) await node.become('contained', orderId);
  else await sensor().exited;
  const name = `containing, ${lastWords(dying)}`;
  const isHeld = areInForce();
  let sinceMs = firstMs(dying, CHANGED) ?? (isHeld ? Date.now() : NEVER_MS);
  demand(isHeld || sinceMs === NEVER_MS, `${name}: the rules are gone`);
  const kept = keptOn(at);
  demand(kept?.order_id === orderId || kept?.wanted !== 'contained', `${name}: an older order`);
  done.push(`${name}: ${isHeld ? 'held' : 'not yet'}`);
  if (step !== undefined) {
    if (isHeld && draw() < 0.5) {
      demand(talk.came(sinceMs, Date.now()) === 0, `${name}: it talked`);
      loseRules();
      sinceMs = NEVER_MS;
    }
    await liveAgain(at, node, name);
    await eventually('it is held', () => {
      if (!sensor().isRunning()) node.start();
      return areInForce() ? true : null;
    });
    sinceMs = Math.min(sinceMs, Date.now());
  }
  await node.become('contained', orderId);
  demand(areInForce(), `${name}: not held in the end`);
  return { sinceMs: Math.min(sinceMs, Date.now()), name };
}

/** Releases it while its Sensor dies. */
async function release(at: Home, node: Node, step: Step | undefined): Promise<void> {
  const { dying, sensor } = node;
  dying.arm(step, draw() < 0.5);
  const orderId = await node.order('released');
  if (step === undefined) await node.become('released', orderId);
  else await sensor().exited;
  const name = `releasing, ${lastWords(dying)}`;
  demand(keptOn(at)?.wanted === 'released' || areInForce(), `${name}: let go before its order`);
  done.push(`${name}: ${areInForce() ? 'held' : 'let go'}`);
  if (step !== undefined) await liveAgain(at, node, name);
  await node.become('released', orderId);
  demand(!areInForce(), `${name}: held in the end`);
}

async function story(at: Home): Promise<void> {
  writeFileSync(
    join(at.sensorDir, 'sensor.yaml'),
    stringify({ engine: 'procfs', node_name: 'node', intervals: INTERVALS }),
    { mode: 0o600 },
  );
  await startConsole({ ...at, env: { ...at.env, SERVICE_CONSOLE_BIND: '0.0.0.0' } });
  const node = await openNode(at);
  const talk = await startTalk(at);
  await talk.comes();
  const stepsIn = (name: string, more: number): Step[] => {
    const labels = deedsIn(node.dying.deeds());
    done.push(`${name}: ${labels.map(({ label }) => label).join(', ')}`);
    return stepsOf(labels.length + more, draw, { sample: SAMPLE, beats: 3 });
  };
  // Nobody cuts the first time: its deeds are the steps.
  await contain(at, node, talk, undefined);
  const containing = stepsIn('containing', HOLDING_STEPS);
  await release(at, node, undefined);
  const releasing = stepsIn('releasing', 0);
  while (containing.length + releasing.length > 0) {
    await talk.comes();
    const { sinceMs, name } = await contain(at, node, talk, containing.shift());
    const untilMs = Date.now();
    await release(at, node, releasing.shift());
    // What was sent last is there before anything that is sent now.
    await talk.comes();
    const passed = talk.came(sinceMs, untilMs);
    demand(passed === 0, `${name}: ${passed} datagrams passed while it was held`);
  }
}

makeNetwork();
const home = await makeHome(INTERVALS);
try {
  await story(home);
} finally {
  await removeHome(home);
}
process.stdout.write(`${JSON.stringify({ seed, wrong, done })}\n`);
process.exit(0);
