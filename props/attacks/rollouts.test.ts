// A version on its way: no sensor has it before the stage that reaches it, a refusal ends it by itself and brings those
// back who may return, no two touch one sensor, and another Console goes on where one was ended. decision: D90, D91
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PackAssignment } from '../../machines/wire/policy.ts';
import { type ConsoleUnderTest, removeSharedKeys, startConsole } from './console.fixture.ts';
import { enrollBody, heartbeatBody, type Identity, makeKeys, nth } from './peer.ts';
import { openStores } from './stores.fixture.ts';

const NODES = 6;
const PATIENT = { timeout: 300_000 };
const FLEET = { kind: 'fleet', id: 'fleet' };
const YAML = `apiVersion: cilium.io/v1alpha1
kind: TracingPolicy
metadata: {name: one}
spec:
  kprobes: [{call: sys_openat, syscall: true, args: [{index: 1, type: string}]}]
`;
type Pack = Extract<PackAssignment, { pack_id: string }>;
type Node = { readonly who: Identity; report: object | undefined };
type Rollout = Record<string, unknown> & { readonly state: string };

const stores = await openStores();
const nodes: Node[] = [];
const intervals = { FACTS_COMMIT_INTERVAL_MS: 20 };
let console: ConsoleUnderTest;
let secret: string;
let made = 0;
let beats = 0;

async function api(method: string, path: string, body?: unknown) {
  const headers = { authorization: `Bearer ${secret}` };
  const answer = await console.ask(null, `/api/v2${path}`, body, { method, headers });
  return { status: answer.status, code: answer.body['code'], body: answer.body };
}
/** One heartbeat of a node: what it is told to have. */
async function beat(node: Node) {
  beats += 1;
  const { report } = node;
  const body = { ...heartbeatBody(beats, []), ...(report === undefined ? {} : { policy: report }) };
  const answer = await console.ask(node.who, '/sensors/heartbeat', body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body['pack_assignment'] as Pack | undefined;
}
/** A node hears what it is to have, takes it as `state`, and says so. */
async function take(node: Node, state = 'monitoring'): Promise<number | null> {
  const pack = await beat(node);
  if (pack === undefined) return null;
  node.report = {
    ...{ assignment_id: pack.assignment_id, pack_id: pack.pack_id, version: pack.version, state },
    ...{ manifest_sha256: pack.manifest_sha256, highest_version: pack.version },
    ...{ signing_keys_sha256: '0'.repeat(64), policies: [] },
    ...(state === 'rejected' ? { code: 'engine_cannot', reason: 'no such hook' } : {}),
  };
  await beat(node);
  return pack.version;
}
function nodeAt(at: number): Node {
  const node = nodes[at];
  if (node === undefined) throw new Error(`there is no node ${at}`);
  return node;
}
const takeAll = (state?: string) => Promise.all(nodes.map((node) => take(node, state)));
/** Publishes the first version, or with `of` the next one of a pack. */
async function publish(of: string | null, rollback_to: readonly number[] = []): Promise<string> {
  made += 1;
  const draft = {
    ...{ mode: 'monitor', modes_allowed: ['monitor', 'enforce'], namespace_scope: null },
    ...{ rollback_to, policies: [{ name: 'one', yaml: YAML }] },
  };
  const pack = of === null ? await api('POST', '/packs', { name: `pack ${made}`, draft }) : null;
  const id = of ?? String(pack?.body['pack_id']);
  const { body } = await api('GET', `/packs/${id}/draft`);
  await api('PUT', `/packs/${id}/draft`, { revision: body['revision'], draft });
  const published = await api('POST', `/packs/${id}/publish`, {});
  expect(published.status, JSON.stringify(published)).toBe(200);
  return id;
}
const start = (pack_id: string, version: number, more = {}) =>
  api('POST', '/rollouts', {
    ...{ target: FLEET, pack_id, version, mode: 'monitor', gates: { stale: null } },
    ...{ stages: [{ percent: 20 }, { percent: 100 }], ...more },
  });
const idOf = (answer: { readonly body: Record<string, unknown> }) =>
  String(answer.body['rollout_id']);
const get = async (id: string) => (await api('GET', `/rollouts/${id}`)).body as Rollout;
/** Waits until a rollout is as wanted: the designated Console looks by itself, and tells what moved. */
async function looked(id: string, isSo: (one: Rollout) => boolean): Promise<Rollout> {
  const { feed } = console.fleet;
  for (;;) {
    let stop: () => void = () => undefined;
    const moved = new Promise<void>((resolve) => {
      stop = feed.subscribe(({ kind }) => kind === 'rollout' && resolve());
    });
    console.loops.runNow('rollouts');
    const one = await get(id);
    if (!isSo(one)) await moved;
    stop();
    if (isSo(one)) return one;
  }
}
const isIn = (state: string) => (one: Rollout) => one.state === state;
const versionsOf = () =>
  Promise.all(
    nodes.map(async ({ who }) => {
      const { body } = await api('GET', `/sensors/${who.sensorId}/policy`);
      const pack = body['pack'] as { readonly version: number } | null;
      return pack?.version ?? null;
    }),
  );
const reachedIn = (versions: readonly (number | null)[], version: number) =>
  versions.filter((one) => one === version).length;

async function begin(): Promise<void> {
  console = await startConsole({ stores, intervals });
  secret = (await console.newKey(['admin'])).secret;
}

beforeAll(async () => {
  const [keys] = await Promise.all([makeKeys(NODES), begin()]);
  for (let at = 0; at < NODES; at += 1) {
    const pair = nth(keys, at);
    const token = await console.newToken();
    const path = '/sensors/enroll';
    const { body } = await console.ask(null, path, enrollBody(token, `roll-${at}`, pair));
    const who = {
      sensorId: String(body['sensor_id']),
      cert: String(body['control_plane_certificate_pem']),
      key: pair.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    };
    nodes.push({ who, report: undefined });
  }
}, 300_000);
afterAll(async () => {
  await console.stop();
  await removeSharedKeys();
});

describe('a rollout', PATIENT, () => {
  it('reaches a canary first, then all, and leaves the version with the target', async () => {
    const pack = await publish(null);
    const started = await start(pack, 1);
    expect(started.status, JSON.stringify(started)).toBe(201);
    const id = idOf(started);
    expect(await takeAll()).toSatisfy(
      (all: unknown[]) => all.filter((one) => one === 1).length === 2,
    );
    expect(reachedIn(await versionsOf(), 1)).toBe(2);
    await looked(id, (one) => one['stage'] === 1);
    expect(reachedIn(await versionsOf(), 1)).toBe(NODES);
    expect(await takeAll()).toSatisfy(
      (all: unknown[]) => all.filter((one) => one === 1).length === 4,
    );
    const done = await looked(id, isIn('done'));
    expect(done['counted']).toMatchObject({ reached: NODES, in_force: NODES, rejected: 0 });
    const [assigned] = (await api('GET', '/assignments')).body['items'] as readonly object[];
    expect(assigned).toMatchObject({ target: FLEET, pack_id: pack, version: 1 });
    // What they have is what the target has: nobody is told anything.
    expect(await takeAll()).toEqual(nodes.map(() => null));
    const { body } = await api('GET', `/rollouts/${id}/transitions`);
    const moves = body['items'] as readonly { readonly to: string; readonly sequence: number }[];
    expect(moves.map(({ sequence }) => sequence)).toEqual(moves.map((_, at) => moves.length - at));
    expect(moves[0]).toMatchObject({ to: 'done', actor: 'console' });
    expect((await api('POST', `/rollouts/${id}/pause`)).code).toBe('rollout_state');
  });

  it('ends by itself when a canary refuses, and brings it back; nobody else heard of it', async () => {
    const pack = await publish(null);
    await api('POST', '/assignments', {
      target: FLEET,
      pack_id: pack,
      version: 1,
      mode: 'monitor',
    });
    await takeAll();
    await publish(pack, [1]);
    const id = idOf(await start(pack, 2));
    expect(
      (
        await api('POST', '/assignments', {
          ...{ target: FLEET, pack_id: pack, version: 2, mode: 'monitor' },
        })
      ).code,
    ).toBe('rollout_in_the_way');
    const heard = await takeAll('rejected');
    expect(reachedIn(heard, 2)).toBe(2);
    const failed = await looked(id, isIn('returning'));
    expect(failed).toMatchObject({ failed: { gate: 'rejected', limit: 0 }, stage: 0 });
    expect(reachedIn(await versionsOf(), 1)).toBe(NODES);
    expect(reachedIn(await takeAll(), 1)).toBe(2);
    expect(await looked(id, isIn('returned'))).toMatchObject({ left_behind: 0 });
    const told = (await console.audited()).filter(({ target }) => target === id);
    expect(told.map(({ action }) => action)).toEqual([
      'rollout.end',
      'rollout.return',
      'rollout.start',
    ]);
    expect(told[1]).toMatchObject({ after: { failed: { gate: 'rejected' } } });
  });

  it('halts and says so where no return was signed, and the way is forward', async () => {
    const pack = await publish(null);
    await api('POST', '/assignments', {
      target: FLEET,
      pack_id: pack,
      version: 1,
      mode: 'monitor',
    });
    await takeAll();
    await publish(pack, []);
    const started = await start(pack, 2);
    expect(started.body['may_return']).toBe(false);
    const id = idOf(started);
    await takeAll('failed');
    expect(await looked(id, isIn('halted'))).toMatchObject({ failed: { gate: 'failed' } });
    expect(reachedIn(await versionsOf(), 2)).toBe(2);
    // A word alone does not open a gate.
    expect((await api('POST', `/rollouts/${id}/resume`)).status).toBe(200);
    await looked(id, isIn('halted'));
    expect((await api('POST', `/rollouts/${id}/abort`)).body['state']).toBe('stopped');
    // Those who have it would refuse the older one: they keep it until something newer comes.
    expect(reachedIn(await versionsOf(), 2)).toBe(2);
    expect(
      (
        await api('POST', '/assignments', {
          ...{ target: FLEET, pack_id: pack, version: 1, mode: 'enforce' },
        })
      ).code,
    ).toBe('rollback_refused');
    await publish(pack, []);
    const next = idOf(await start(pack, 3, { stages: [{ percent: 100 }] }));
    expect(reachedIn(await takeAll(), 3)).toBe(NODES);
    await looked(next, isIn('done'));
    expect(reachedIn(await versionsOf(), 3)).toBe(NODES);
  });

  it('is refused where another one touches a sensor of it, or where it reaches nobody', async () => {
    const pack = await publish(null);
    const other = await publish(null);
    const id = idOf(await start(pack, 1, { stages: [{ percent: 100, wait_seconds: 3_600 }] }));
    const sensor = { kind: 'sensor', id: nodeAt(0).who.sensorId };
    for (const target of [FLEET, sensor]) {
      expect((await start(other, 1, { target })).code).toBe('rollout_in_the_way');
    }
    expect((await start(other, 1, { target: { kind: 'tag', id: 'nobody' } })).code).toBe(
      'rollout_reaches_nobody',
    );
    expect((await start(other, 9)).code).toBe('reference_unknown');
    expect((await api('DELETE', '/assignments/fleet/fleet')).code).toBe('rollout_in_the_way');
    expect((await api('POST', `/rollouts/${id}/abort`)).body['state']).toBe('returning');
    await looked(id, isIn('returned'));
    expect((await start(other, 1, { stages: [{ percent: 50 }] })).code).toBe('schema_violation');
  });

  it('goes on in another Console from where it was, paused or not', async () => {
    const pack = await publish(null);
    const stages = [{ percent: 20, needs_word: true }, { percent: 100 }];
    const id = idOf(await start(pack, 1, { stages }));
    const before = await versionsOf();
    await console.stop();
    await begin();
    expect(await versionsOf()).toEqual(before);
    await takeAll();
    await looked(id, isIn('running.asking'));
    expect((await api('POST', `/rollouts/${id}/pause`)).body['state']).toBe('paused');
    await console.stop();
    await begin();
    expect((await api('POST', `/rollouts/${id}/resume`)).body['state']).toBe('running.watching');
    await looked(id, isIn('running.asking'));
    expect((await api('POST', `/rollouts/${id}/resume`)).status).toBe(200);
    await looked(id, (one) => one['stage'] === 1);
    await console.stop();
    await begin();
    await takeAll();
    await looked(id, isIn('done'));
  });

  it('keeps a sensor that is away out of its counts, and gives it the version when it returns', async () => {
    const pack = await publish(null);
    const away = nodeAt(0);
    const id = idOf(await start(pack, 1, { stages: [{ percent: 100 }] }));
    console.travel(600_000);
    await Promise.all(nodes.slice(1).map((node) => take(node)));
    const done = await looked(id, isIn('done'));
    expect(done['counted']).toMatchObject({ offline: 1, in_force: NODES - 1, stale: 0 });
    expect(await take(away)).toBe(1);
  });
});
