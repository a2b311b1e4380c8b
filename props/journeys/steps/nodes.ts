// Nodes that die at chosen steps, and the packs that they are told to have: what the stories of steps share.
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { api } from '../api.ts';
import { createToken, startSensor } from '../fleet.ts';
import { mark } from '../marks.ts';
import { eventually, type Home, type Program } from '../programs.ts';
import { type Dying, dyingIn } from './plan.ts';

export const FLEET = { kind: 'fleet', id: 'fleet' };
/** Both are soon, so that what is reported is reported within a step or two. */
export const INTERVALS = { HEARTBEAT_INTERVAL_MS: 2_000, HEARTBEAT_TIMEOUT_MS: 2_000 };
const NAMES = ['first', 'second'] as const;

export type DyingNode = {
  readonly home: Home;
  readonly dying: Dying;
  readonly sensorId: string;
  program(): Program;
  /** The next life. */
  start(): void;
};

/** One call of the operator API that is to be taken. */
export async function ask<T>(at: Home, method: string, path: string, body?: unknown): Promise<T> {
  const answer = await api(at, method, `/api/v2${path}`, body);
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`);
  return answer.body as T;
}

/** Enrolls a node with a state directory of its own, ready to be told to die. */
export async function startNode(at: Home, name: string): Promise<DyingNode> {
  const sensorDir = join(at.folder, name);
  mkdirSync(sensorDir, { mode: 0o700 });
  const settings = stringify({ engine: 'ebpf', node_name: name, intervals: INTERVALS });
  writeFileSync(join(sensorDir, 'sensor.yaml'), settings, { mode: 0o600 });
  const dying = dyingIn(join(at.folder, `${name}-dying`), 'service-sensor.ts');
  const env = { ...at.env, SERVICE_SENSOR_STATE_DIR: sensorDir, ...dying.env };
  const home = { ...at, sensorDir, env };
  let program = startSensor(home, { token: await createToken(at) });
  const sensorId = await eventually(`${name} is enrolled`, () => {
    const text = readFileSync(join(sensorDir, 'sensor-state.json'), 'utf8');
    return String((JSON.parse(text) as { sensor_id: string }).sensor_id);
  }).catch((error: unknown) => Promise.reject(new Error(`${error}\n${program.output()}`)));
  return {
    ...{ home, dying, sensorId },
    program: () => program,
    start() {
      program = startSensor(home);
    },
  };
}

/** The files that the policies of a version watch. */
export const watchedBy = (at: Home, version: number): readonly string[] =>
  NAMES.map((name) => join(at.folder, `${name}-of-${version}-end`));

/** The policies of a version: each tells of whoever writes into its file. */
export const policiesOf = (at: Home, version: number) =>
  watchedBy(at, version).map((path, place) => ({
    name: NAMES[place] ?? '',
    yaml: `apiVersion: cilium.io/v1alpha1
kind: TracingPolicy
metadata: {name: ${NAMES[place]}}
spec:
  kprobes:
    - call: sys_write
      args: [{index: 0, type: fd}]
      selectors:
        - matchArgs: [{index: 0, operator: Equal, values: [${path}]}]
          matchActions: [{action: Post}]
`,
  }));

const draftOf = (at: Home, version: number) => ({
  ...{ mode: 'monitor', modes_allowed: ['monitor'], namespace_scope: null, rollback_to: [] },
  policies: policiesOf(at, version),
});

/** A pack whose draft is its first version. */
export async function makePack(at: Home): Promise<string> {
  const body = { name: 'steps', draft: draftOf(at, 1) };
  return (await ask<{ pack_id: string }>(at, 'POST', '/packs', body)).pack_id;
}

/** Makes this the draft; the next thing that is published is this version. */
export async function draft(at: Home, packId: string, version: number): Promise<void> {
  const { revision } = await ask<{ revision: number }>(at, 'GET', `/packs/${packId}/draft`);
  await ask(at, 'PUT', `/packs/${packId}/draft`, { revision, draft: draftOf(at, version) });
}

/** Publishes a version and gives it to everybody. */
export async function roll(at: Home, packId: string, version: number): Promise<void> {
  await draft(at, packId, version);
  await ask(at, 'POST', `/packs/${packId}/publish`, {});
  await ask(at, 'POST', '/assignments', assignmentOf(packId, version));
}

export const assignmentOf = (packId: string, version: number) => ({
  ...{ target: FLEET, pack_id: packId, version, mode: 'monitor' },
});

type PolicyOf = {
  readonly reported: { readonly state: string; readonly version?: number } | null;
};

type Status = {
  readonly pid: number;
  readonly pack?: { readonly version?: number; readonly signing_keys_sha256: string };
};

/** What the life of now says of itself; null before it says something. */
export function statusOf(node: DyingNode): Status | null {
  const file = join(node.home.sensorDir, 'run', 'status.json');
  const status = JSON.parse(readFileSync(file, 'utf8')) as Status;
  return status.pid === node.program().pid ? status : null;
}

/** Whether the Console has heard from a node that it has this version. It is asked once the node says so. */
export async function hasReported(node: DyingNode, version: number): Promise<boolean> {
  if (statusOf(node)?.pack?.version !== version) return false;
  const { reported } = await ask<PolicyOf>(node.home, 'GET', `/sensors/${node.sensorId}/policy`);
  return reported?.version === version && reported.state === 'monitoring';
}

/** Asks the kernel: which of these versions' policies each node's engine tells of. */
export function createProbe(at: Home, nodes: readonly DyingNode[]) {
  const word = `STEP${process.pid}`;
  let asked = 0;
  return async (versions: readonly number[]): Promise<readonly (readonly string[])[]> => {
    const files = versions.flatMap((version) => watchedBy(at, version));
    await mark(at, word, asked);
    const begin = `${word}-${asked++}"`;
    await write(files);
    await mark(at, word, asked);
    const end = `${word}-${asked++}"`;
    return Promise.all(
      nodes.map(({ home }) =>
        eventually('the engine tells of the end of a probe', () => {
          const lines = exportOf(home.sensorDir);
          const [from, to] = [begin, end].map((one) =>
            lines.findLastIndex((line) => line.includes(one)),
          );
          if (to === undefined || from === undefined || to < 0 || from < 0) return null;
          const told = lines.slice(from, to).filter((line) => line.includes('"policy_name"'));
          return files.filter((file) => told.some((line) => line.includes(file)));
        }),
      ),
    );
  };
}

/** The lines of an export, the oldest file first. */
function exportOf(sensorDir: string): readonly string[] {
  const folder = join(sensorDir, 'engine', 'export');
  const files = readdirSync(folder)
    .map((name) => join(folder, name))
    .filter((file) => statSync(file).isFile())
    .sort((a, b) => statSync(a).mtimeMs - statSync(b).mtimeMs);
  return files.flatMap((file) => readFileSync(file, 'utf8').split('\n'));
}

/** Their names come on standard input: an event has the arguments of its process. */
function write(files: readonly string[]): Promise<void> {
  const program = 'while (<>) { chomp; open F, ">>", $_; syswrite F, "1"; close F }';
  return new Promise((resolve, reject) => {
    const child = spawn('perl', ['-e', program], { stdio: ['pipe', 'ignore', 'ignore'] });
    child.on('error', reject).on('exit', () => resolve());
    child.stdin.end(files.map((file) => `${file}\n`).join(''));
  });
}
