// A version that an engine refuses goes to a fleet of two real Sensors and two hundred that only speak: it reaches a canary,
// the rollout ends by itself, those it reached are back on the version before, the live channel says so, and nobody else
// ever heard of it. decision: D90, D91
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { stringify } from 'yaml';
import { readLibrary } from '../../gateway/policy-library/read-library.ts';
import type { PackAssignment } from '../../machines/wire/policy.ts';
import { heartbeatBody, send } from '../attacks/peer.ts';
import { type Pair, prepareFleet } from '../bench/fleet.ts';
import { api, contextOf, items } from './api.ts';
import { missingForEbpf } from './ebpf.ts';
import {
  createToken,
  isHealthy,
  isSkipped,
  type ListedSensor,
  startConsole,
  startSensor,
  stop,
} from './fleet.ts';
import { eventually, type Home, makeHome, type Program, removeHome } from './programs.ts';

const SPEAKERS = 200;
const CANARY_PERCENT = 5;
const AT_ONCE = 10;
const REAL = ['real-0', 'real-1'];
const FLEET = { kind: 'fleet', id: 'fleet' };
const TIMEOUT_MS = 600_000;
const REFUSED = `apiVersion: cilium.io/v1alpha1
kind: TracingPolicy
metadata: {name: no-such-hook}
spec:
  tracepoints: [{subsystem: nowhere, event: never_happens}]
`;
type Pack = Extract<PackAssignment, { pack_id: string }>;
type Rollout = {
  readonly state: string;
  readonly stage: number;
  readonly failed: { readonly gate: string } | null;
};
type Move = {
  readonly at: string;
  readonly to: string;
  readonly counted?: { readonly reached: number } | null;
};
type Reported = { readonly state: string; readonly version?: number; readonly reason?: string };
type PolicyOf = { readonly pack: { readonly version: number } | null; readonly reported: Reported };

const programs: Program[] = [];
let home: Home | null = null;
afterAll(async () => {
  for (const program of programs.reverse()) await stop(program);
  if (home !== null) await removeHome(home);
}, TIMEOUT_MS);

/** A node without an engine: it takes every version that it is told to have, and keeps what it heard. */
type Speaker = Pair & { readonly heard: number[]; sequence: number; report: object | undefined };

async function ask<T>(at: Home, method: string, path: string, body?: unknown): Promise<T> {
  const answer = await api(at, method, `/api/v2${path}`, body);
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`);
  return answer.body as T;
}

async function beat(at: Home, ca: string, speaker: Speaker): Promise<void> {
  const { report, cert, key } = speaker;
  speaker.sequence += 1;
  const body = {
    ...heartbeatBody(speaker.sequence, []),
    ...(report === undefined ? {} : { policy: report }),
  };
  const answer = await send({
    ...{ port: at.port, ca, identity: { cert, key }, path: '/sensors/heartbeat', body },
    more: { servername: 'localhost' },
  });
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  const pack = answer.body['pack_assignment'] as Pack | undefined;
  if (pack === undefined) return;
  if (speaker.heard.at(-1) !== pack.version) speaker.heard.push(pack.version);
  speaker.report = {
    ...{ assignment_id: pack.assignment_id, pack_id: pack.pack_id, version: pack.version },
    ...{ manifest_sha256: pack.manifest_sha256, highest_version: Math.max(...speaker.heard) },
    ...{ state: 'monitoring', signing_keys_sha256: '0'.repeat(64), policies: [] },
  };
}
/** Every speaker once. */
async function beatAll(at: Home, ca: string, speakers: readonly Speaker[]): Promise<void> {
  for (let from = 0; from < speakers.length; from += AT_ONCE) {
    await Promise.all(speakers.slice(from, from + AT_ONCE).map((one) => beat(at, ca, one)));
  }
}

async function startReal(at: Home, name: string): Promise<void> {
  const sensorDir = join(at.folder, name);
  mkdirSync(sensorDir, { mode: 0o700 });
  const settings = stringify({ engine: 'ebpf', node_name: name });
  writeFileSync(join(sensorDir, 'sensor.yaml'), settings, { mode: 0o600 });
  const env = { ...at.env, SERVICE_SENSOR_STATE_DIR: sensorDir };
  programs.push(startSensor({ ...at, sensorDir, env }, { token: await createToken(at) }));
}
async function realSensors(at: Home): Promise<readonly ListedSensor[]> {
  return eventually('both Sensors watch', async () => {
    const found = await items<ListedSensor>(at, '/api/v2/sensors?node_name=real-');
    const own = found.filter(({ node_name }) => REAL.includes(node_name));
    own.sort((a, b) => a.node_name.localeCompare(b.node_name));
    return own.length === REAL.length && own.every(isHealthy) ? own : null;
  });
}

/** What the live channel says of rollouts, in its own order. Rejects when the channel is refused or ends before its first word. */
async function listen(at: Home): Promise<readonly string[]> {
  const { token, ca_pem: ca } = contextOf(at);
  const told: string[] = [];
  const headers = { authorization: `Bearer ${token}` };
  const socket = new WebSocket(`wss://localhost:${at.port}/api/v2/live`, { ca, headers });
  const stands = new Promise<void>((resolve, reject) => {
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('the live channel ended')));
    socket.on('message', (data) => {
      told.push(String(data));
      resolve();
    });
  });
  socket.on('open', () => socket.send(JSON.stringify({ subscribe: [{ topic: 'rollouts' }] })));
  await stands;
  return told;
}

const draftOf = (policies: readonly object[], rollback_to: readonly number[]) => ({
  ...{ mode: 'monitor', modes_allowed: ['monitor'], namespace_scope: null, rollback_to, policies },
});
async function publish(at: Home, packId: string, draft: object): Promise<void> {
  const path = `/packs/${packId}/draft`;
  const { revision } = await ask<{ revision: number }>(at, 'GET', path);
  await ask(at, 'PUT', path, { revision, draft });
  await ask(at, 'POST', `/packs/${packId}/publish`, {});
}

const skip = isSkipped('rollout', missingForEbpf());
it.skipIf(skip)(
  'should end a rollout by itself when an engine refuses, bring the canaries back, and leave the rest alone',
  { timeout: TIMEOUT_MS },
  async () => {
    const at = await makeHome();
    home = at;
    const { sensors } = await prepareFleet(at.consoleDir, SPEAKERS);
    const speakers = sensors.map(
      (pair): Speaker => ({ ...pair, heard: [], sequence: 0, report: undefined }),
    );
    programs.push(await startConsole(at));
    const { ca_pem: ca } = contextOf(at);
    for (const name of REAL) await startReal(at, name);
    const [canary, other] = await realSensors(at);
    if (canary === undefined || other === undefined) throw new Error('a Sensor is missing');
    const policyOf = ({ sensor_id }: ListedSensor) =>
      ask<PolicyOf>(at, 'GET', `/sensors/${sensor_id}/policy`);
    const isOn = (version: number, { reported }: PolicyOf) =>
      reported?.version === version && reported.state === 'monitoring';

    const [good] = (await readLibrary()).filter(({ name }) => name === 'attach-to-process');
    const policies = [{ name: String(good?.name), yaml: String(good?.yaml) }];
    const { pack_id } = await ask<{ pack_id: string }>(at, 'POST', '/packs', {
      ...{ name: 'fleet', draft: draftOf(policies, []) },
    });
    await publish(at, pack_id, draftOf(policies, []));
    const first = { target: FLEET, pack_id, version: 1, mode: 'monitor' };
    await ask(at, 'POST', '/assignments', first);
    await beatAll(at, ca, speakers);
    await eventually('both have the first version', async () =>
      isOn(1, await policyOf(canary)) && isOn(1, await policyOf(other)) ? true : null,
    );
    await beatAll(at, ca, speakers);
    expect(speakers.filter(({ heard }) => heard.join() === '1')).toHaveLength(SPEAKERS);

    const wrong = [...policies, { name: 'no-such-hook', yaml: REFUSED }];
    await publish(at, pack_id, draftOf(wrong, [1]));
    const told = await eventually('the live channel stands', () => listen(at));
    const { rollout_id } = await ask<{ rollout_id: string }>(at, 'POST', '/rollouts', {
      ...{ ...first, version: 2, gates: { stale: null } },
      stages: [{ sensor_ids: [canary.sensor_id], percent: CANARY_PERCENT }, { percent: 100 }],
    });
    const ended = await eventually('the rollout is taken back', async () => {
      await beatAll(at, ca, speakers);
      const one = await ask<Rollout>(at, 'GET', `/rollouts/${rollout_id}`);
      return one.state === 'returned' ? one : null;
    });
    expect(ended.stage).toBe(0);
    expect(['rejected', 'failed']).toContain(ended.failed?.gate);
    await eventually('the canary watches with the first version', async () =>
      isOn(1, await policyOf(canary)) ? true : null,
    );
    expect(await policyOf(other)).toMatchObject({ pack: { version: 1 }, reported: { version: 1 } });
    await beatAll(at, ca, speakers);
    // A canary whose turn came after the end never heard of it: how many there were, the rollout tells.
    for (const { heard } of speakers) expect(['1', '1,2,1']).toContain(heard.join());
    const moves = await items<Move>(at, `/api/v2/rollouts/${rollout_id}/transitions`);
    const reached = moves[0]?.counted?.reached ?? 0;
    expect(reached).toBeGreaterThan(0);
    const most = Math.ceil(((SPEAKERS + REAL.length) * CANARY_PERCENT) / 100) + 1;
    expect(reached).toBeLessThanOrEqual(most);
    const heardOfIt = speakers.filter(({ heard }) => heard.length > 1);
    expect(heardOfIt.length).toBeLessThan(reached);
    const live = await eventually('the live channel says so', () =>
      told.some((text) => text.includes(rollout_id) && text.includes('"returned"')) ? told : null,
    );
    expect(live.join('\n')).toContain('returning');
    await tellHowFast(at, moves, canary);
  },
);

/** From the canary's refusal, as its actor recorded it: for who reads the output, judged by nobody. */
async function tellHowFast(
  at: Home,
  moves: readonly Move[],
  { sensor_id }: ListedSensor,
): Promise<void> {
  const own = await items<Move>(at, `/api/v2/sensors/${sensor_id}/transitions?limit=50`);
  const saidAt = own.find(({ to }) => to === 'failed' || to === 'rejected')?.at ?? '';
  const after = (state: string) =>
    Date.parse(moves.find(({ to }) => to === state)?.at ?? '') - Date.parse(saidAt);
  const [ended, back] = [after('returning'), after('returned')];
  process.stdout.write(`the canary refused; ended after ${ended} ms, all back after ${back} ms\n`);
}
