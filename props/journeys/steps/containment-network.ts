// A Console, a node and the world that the node talks to all the time, each in a network namespace of its own inside one that
// nobody else sees, so that no rule ever reaches the machine of the test.
import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { contextOf } from '../api.ts';
import { eventually, type Home, type Program, startCommand } from '../programs.ts';

const CONSOLE = '10.9.1.1';
const WORLD = '10.9.2.2';
const TABLE = 'service_containment';
const NFT = 'ip netns exec node /usr/sbin/nft';

export type Kept = {
  readonly order_id: string;
  readonly wanted: 'contained' | 'released';
  readonly is_applied: boolean;
};
/** What came into the world, by when it was sent. */
export type Talk = {
  /** How much of what was sent between these instants. */
  came(fromMs: number, untilMs?: number): number;
  /** Resolves once something comes that is sent from now on. */
  comes(): Promise<void>;
};

function run(line: string): string {
  const [program = '', ...args] = line.split(' ');
  return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

/** Makes the namespaces. Throws on the machine itself. */
export function makeNetwork(): void {
  const own = readlinkSync('/proc/self/ns/net');
  if (own === process.env['OUTER_NETWORK']) throw new Error('this is the machine itself');
  run('mount --make-rprivate /');
  run('mount -t tmpfs none /run');
  run('ip link set lo up');
  for (const name of ['node', 'world']) {
    run(`ip netns add ${name}`);
    run(`ip -n ${name} link set lo up`);
  }
  run('ip link add c0 type veth peer name n0 netns node');
  run('ip -n node link add n1 type veth peer name w0 netns world');
  run(`ip addr add ${CONSOLE}/24 dev c0`);
  run('ip link set c0 up');
  for (const [space, name, address] of [
    ['node', 'n0', '10.9.1.2'],
    ['node', 'n1', '10.9.2.1'],
    ['world', 'w0', WORLD],
  ]) {
    run(`ip -n ${space} addr add ${address}/24 dev ${name}`);
    run(`ip -n ${space} link set ${name} up`);
  }
}

/** Whether the kernel has the rules of the containment now, all three chains. */
export function areInForce(): boolean {
  try {
    return (run(`${NFT} list table inet ${TABLE}`).match(/policy drop/g) ?? []).length === 3;
  } catch {
    return false;
  }
}

/** A power loss takes the rules with it. */
export function loseRules(): void {
  run(`${NFT} delete table inet ${TABLE}`);
}

/** Starts the node's Sensor; a token for its first life. */
export function startSensorIn(
  at: Home,
  env: Readonly<Record<string, string>>,
  token?: string,
): Program {
  const { ca_pem } = contextOf(at);
  const fingerprint = new X509Certificate(ca_pem).fingerprint256.replaceAll(':', '').toLowerCase();
  const words = ['--url', `https://${CONSOLE}:${at.port}`, '--ca-fingerprint', fingerprint];
  const file = join(at.folder, 'token');
  if (token !== undefined) writeFileSync(file, token, { mode: 0o600 });
  const node = ['netns', 'exec', 'node', process.execPath, 'sensor/cli/service-sensor.ts'];
  const more = token === undefined ? [] : ['--token-file', file];
  return startCommand('ip', [...node, 'run', ...words, ...more], { env: { ...at.env, ...env } });
}

/** The order on the node's disk; null = none. Throws when what lies there is half of one. */
export function keptOn(at: Home): Kept | null {
  const file = join(at.sensorDir, 'containment.json');
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Kept) : null;
}

/** Lets the node talk to the world from now on. */
export async function startTalk(at: Home): Promise<Talk> {
  const program = join(import.meta.dirname, 'datagrams.fixture.js');
  const start = async (space: string, ...words: string[]): Promise<Program> => {
    const all = ['netns', 'exec', space, process.execPath, program, ...words];
    const started = startCommand('ip', all, { env: at.env });
    await started.prints(/ready/);
    return started;
  };
  const sent: number[] = [];
  const world = await start('world', 'receive');
  world.child.stdout?.on('data', (text: Buffer) =>
    sent.push(...text.toString().split('\n').map(Number)),
  );
  await start('node', 'send', WORLD);
  const came = (fromMs: number, untilMs = Number.MAX_SAFE_INTEGER): number =>
    sent.filter((one) => one >= fromMs && one < untilMs).length;
  return {
    came,
    async comes() {
      const fromMs = Date.now();
      await eventually('the node talks to the world', () => (came(fromMs) > 0 ? true : null));
    },
  };
}
