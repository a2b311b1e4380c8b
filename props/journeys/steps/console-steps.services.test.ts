// A Console dies at each step of making its signing key; before and after each question to its database while it signs and
// publishes a pack, assigns it, signs a statement about keys, and orders containment; and when its answer has just arrived.
// After the next start each act was done as a whole, with its audit row, or not at all; what was acknowledged was done;
// everything that is signed verifies by hand; and the node ends in all of it, without ever having had something older.
// KILL_STEPS=all dies at every step, PROPS_SEED repeats a sample. decision: D80, D81, D82, D85; invariant: I1, I7
import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allItems, api } from '../api.ts';
import { missingForEbpf } from '../ebpf.ts';
import { isSkipped, kill, startConsole } from '../fleet.ts';
import { eventually, type Home, makeHome, type Program, removeHome } from '../programs.ts';
import {
  keyIdOf,
  keysAfter,
  keysOn,
  type Pack,
  packOn,
  type Statement,
  verifiedPack,
} from './by-hand.ts';
import {
  ask,
  assignmentOf,
  type DyingNode,
  draft,
  hasReported,
  INTERVALS,
  makePack,
  policiesOf,
  startNode,
} from './nodes.ts';
import { type Dying, deedAt, deedsIn, drawsOf, dyingIn, type Step, stepsOf } from './plan.ts';

const SAMPLE = 6;
/** How many calls further each start dies. */
const STRIDES: Readonly<Record<string, number>> = { all: 1, few: 5 };
const TIMEOUT_MS = 1_800_000;
const seed = Number(process.env['PROPS_SEED'] ?? 20_261_128);
const skip = isSkipped('steps of a Console', missingForEbpf());

/** Something an operator does; the n-th time of it. */
type Act = {
  /** As the audit trail has it. */
  readonly action: readonly string[];
  /** What is asked, once what it needs is there. */
  call(n: number): Promise<{ readonly path: string; readonly body: unknown }>;
  /** How often it was done; everything of it is verified. */
  times(): Promise<number>;
};
type Keys = {
  readonly keys: readonly { readonly public_key_pem: string }[];
  readonly rotations: readonly Statement[];
};
type Orders = { readonly order_id: string; readonly wanted: string };

const publicPemOf = (privatePem: string): string =>
  createPublicKey(privatePem).export({ format: 'pem', type: 'spki' }).toString();

describe.skipIf(skip)('a Console that dies', () => {
  let at: Home;
  let dying: Dying;
  let running: Program;
  let node: DyingNode;
  let packId = '';
  let newest = 0;
  const draw = drawsOf(seed);
  beforeAll(async () => {
    at = await makeHome(INTERVALS);
    dying = dyingIn(join(at.folder, 'console-dying'), 'service-console.ts');
    running = await startConsole(at, dying.env);
    node = await startNode(at, 'node');
    packId = await makePack(at);
  }, TIMEOUT_MS);
  afterAll(() => removeHome(at), TIMEOUT_MS);

  /** The trail of an act: one row for each time. */
  async function rowsOf({ action }: Act): Promise<number> {
    const rows = await Promise.all(
      action.map((one) => allItems(at, `/api/v2/audit?action=${one}&result=ok`)),
    );
    return rows.flat().length;
  }

  /** The node has what it had, or something newer, and all of it is signed. */
  function lookAtNode(): void {
    const version = packOn(node.home.sensorDir)?.version ?? 0;
    expect(version).toBeGreaterThanOrEqual(newest);
    newest = version;
  }

  /** Does it once while the Console dies at a step; answers whether it was acknowledged. */
  async function dieDoing(act: Act, step: Step | undefined): Promise<void> {
    const before = await act.times();
    const { path, body } = await act.call(before + 1);
    dying.arm(step);
    const status = await api(at, 'POST', `/api/v2${path}`, body).then(
      (answer) => answer.status,
      () => null,
    );
    const isTaken = status !== null && status < 300;
    // It was heard, and at once nothing of the process is left.
    if (running.isRunning()) await kill(running);
    await running.exited;
    const died = dying.deeds().find(({ isLast }) => isLast)?.label ?? 'after its answer';
    dying.disarm();
    lookAtNode();
    running = await startConsole(at, dying.env);
    const after = await act.times();
    process.stdout.write(`${path} ${before + 1}: ${died}: ${status}, ${after - before} done\n`);
    expect([null, 200, 202]).toContain(status);
    expect(after - before, died).toBeGreaterThanOrEqual(isTaken ? 1 : 0);
    expect(after - before, died).toBeLessThanOrEqual(1);
    expect(await rowsOf(act), died).toBe(after);
  }

  /** An act that nobody cuts tells the steps; then they are gone through. */
  async function dieAtEach(act: Act): Promise<void> {
    const first = await act.times();
    const { path, body } = await act.call(first + 1);
    dying.arm();
    await ask(at, 'POST', path, body);
    const deeds = deedsIn(dying.deeds());
    dying.disarm();
    expect(await act.times()).toBe(first + 1);
    process.stdout.write(`${path}: ${deeds.map(({ label }) => label).join('; ')}\n`);
    expect(deeds.length).toBeGreaterThan(5);
    // In the end it goes on until its answer has arrived.
    const steps = [...stepsOf(deeds.length, draw, { sample: SAMPLE, last: 1 }), undefined];
    for (const step of steps) await dieDoing(act, step);
  }

  async function chain(): Promise<Keys & { readonly first: string }> {
    const file = join(at.consoleDir, 'keys', 'policy-signing.ed25519');
    const first = publicPemOf(readFileSync(file, 'utf8'));
    return { ...(await ask<Keys>(at, 'GET', '/signing-keys')), first };
  }

  const publish: Act = {
    action: ['pack.publish'],
    async call(n) {
      await draft(at, packId, n);
      return { path: `/packs/${packId}/publish`, body: {} };
    },
    async times() {
      const { latest_version } = await ask<{ latest_version: number | null }>(
        ...[at, 'GET', `/packs/${packId}`],
      );
      const pems = (await chain()).keys.map(({ public_key_pem }) => public_key_pem);
      for (let version = 1; version <= Number(latest_version); version += 1) {
        const pack = await ask<Pack>(at, 'GET', `/packs/${packId}/versions/${version}`);
        verifiedPack(pack, pems);
        expect(pack.policies).toMatchObject(policiesOf(at, version));
      }
      const beyond = await api(
        ...[at, 'GET', `/api/v2/packs/${packId}/versions/${Number(latest_version) + 1}`],
      );
      expect(beyond.status).toBe(404);
      return Number(latest_version);
    },
  };
  const assign: Act = {
    action: ['assignment.set'],
    async call(n) {
      if ((await publish.times()) < n) {
        await ask(at, 'POST', (await publish.call(n)).path, {});
      }
      return { path: '/assignments', body: assignmentOf(packId, n) };
    },
    async times() {
      const [own] = await allItems<{ version: number }>(at, '/api/v2/assignments?limit=10');
      return own?.version ?? 0;
    },
  };
  const rotate: Act = {
    action: ['signing_key.rotate'],
    async call() {
      const { publicKey } = generateKeyPairSync('ed25519');
      const pem = publicKey.export({ format: 'pem', type: 'spki' }).toString();
      const last = (await chain()).rotations.at(-1)?.new_key_pem;
      const retired_key_ids = last === undefined ? [] : [keyIdOf(last)];
      return { path: '/signing-keys', body: { public_key_pem: pem, retired_key_ids } };
    },
    async times() {
      const { first, keys, rotations } = await chain();
      const pems = keys.map(({ public_key_pem }) => public_key_pem);
      expect(pems).toEqual(keysAfter(first, rotations));
      return rotations.length;
    },
  };
  const ordersPath = () => `/sensors/${node.sensorId}/containment`;
  const orders = () => allItems<Orders>(at, `/api/v2${ordersPath()}-orders?limit=50`);
  const contain: Act = {
    action: ['sensor.contain', 'sensor.release'],
    async call(n) {
      const path = `/sensors/${node.sensorId}/${n % 2 === 1 ? 'contain' : 'release'}`;
      return { path, body: { reason: `the ${n}th` } };
    },
    async times() {
      const all = await orders();
      const { order } = await ask<{ order: Orders | null }>(at, 'GET', ordersPath());
      expect(order?.order_id).toBe(all[0]?.order_id);
      for (const [place, { wanted }] of [...all].reverse().entries()) {
        expect(wanted).toBe(place % 2 === 0 ? 'contained' : 'released');
      }
      return all.length;
    },
  };

  it(
    'should make its signing key once, wherever its first start dies',
    async () => {
      const fresh = await makeHome();
      const file = join(fresh.consoleDir, 'keys', 'policy-signing.ed25519');
      const starting = dyingIn(join(fresh.folder, 'console-dying'), 'service-console.ts');
      const died: string[] = [];
      let key: string | null = null;
      const lookAtKey = (): void => {
        if (!existsSync(file) && key === null) return;
        const text = readFileSync(file, 'utf8');
        expect(createPrivateKey(text).asymmetricKeyType).toBe('ed25519');
        expect(text).toBe(key ?? text);
        key = text;
      };
      try {
        // What a life did not come to, the next one has to do again: each dies a little later.
        const stride = STRIDES[process.env['KILL_STEPS'] ?? ''] ?? 2;
        for (let step = 0; ; step += stride) {
          starting.arm(deedAt(step), step % 4 === 0);
          const started = await startConsole(fresh, starting.env).catch(() => null);
          lookAtKey();
          const view =
            started && (await ask<Keys>(fresh, 'GET', '/signing-keys').catch(() => null));
          if (started !== null && view !== null) {
            const pems = view.keys.map(({ public_key_pem }) => public_key_pem);
            expect(pems).toEqual([publicPemOf(String(key))]);
            expect(view.rotations).toEqual([]);
            await kill(started);
            break;
          }
          await started?.exited;
          const last = starting.deeds().find(({ isLast }) => isLast);
          died.push(last?.label ?? 'by itself');
        }
      } finally {
        await removeHome(fresh);
      }
      process.stdout.write(`first start: ${died.join('; ')}\n`);
      expect(died).not.toContain('by itself');
      expect(died.length).toBeGreaterThan(3);
    },
    TIMEOUT_MS,
  );
  it('should have published a version whole or not at all', () => dieAtEach(publish), TIMEOUT_MS);
  it(
    'should have assigned a version or the one before, and its node ends with it',
    async () => {
      await dieAtEach(assign);
      const version = await assign.times();
      await eventually('the node has it', async () =>
        (await hasReported(node, version)) ? true : null,
      );
      lookAtNode();
      expect(newest).toBe(version);
    },
    TIMEOUT_MS,
  );
  it(
    'should have taken a statement about keys or not, and its node trusts the same keys',
    async () => {
      await dieAtEach(rotate);
      const { first, rotations } = await chain();
      await eventually('the node follows', () => {
        const { pems, sequence } = keysOn(node.home.sensorDir);
        expect(pems).toEqual(keysAfter(first, rotations.slice(0, sequence)));
        return sequence === rotations.length ? true : null;
      });
    },
    TIMEOUT_MS,
  );
  it(
    'should never lose an order to contain that it acknowledged',
    async () => {
      await dieAtEach(contain);
      const [last] = await orders();
      const file = join(node.home.sensorDir, 'containment.json');
      await eventually('the node has the last order', () => {
        const kept = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
        return kept.order_id === last?.order_id ? true : null;
      });
    },
    TIMEOUT_MS,
  );
});
