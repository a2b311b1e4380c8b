// A node with its Console, the world and a container behind a bridge, each in a network namespace of its own. It runs inside
// a namespace of network and mounts that nobody else sees, so no rule ever reaches the machine of the test.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { waitFor } from 'xstate';
import { silentLogger } from '../../../actors/runtime/silent-logger.ts';
import { createWheelClock } from '../../../actors/runtime/wheel-clock.ts';
import { DEFAULT_INTERVALS } from '../../../machines/intervals.ts';
import {
  type ContainmentActorRef,
  containmentReportOf,
  stateOf,
} from '../../../machines/sensor/containment.machine.ts';
import { diskFiles } from '../../state-directory/file-port.ts';
import { startContainment } from './containment.actor.ts';
import { nftables } from './packet-filter.ts';

const CHECK_MS = 300;
const PATIENCE_MS = 20_000;
const PORT = 15_483;
const AGENT = join(import.meta.dirname, 'network-agent.fixture.js');
const run = (line: string) => {
  const [program = '', ...args] = line.split(' ');
  return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
};

type Agent = { ask(act: string, given: object): Promise<boolean>; end(): void };
async function agentIn(namespace: string | null, ...ports: readonly number[]): Promise<Agent> {
  const words = [process.execPath, AGENT, ...ports.map(String)];
  const all = namespace === null ? words : ['ip', 'netns', 'exec', namespace, ...words];
  const child = spawn(all[0] ?? '', all.slice(1), { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  await lines.next();
  return {
    async ask(act, given) {
      child.stdin.write(`${JSON.stringify({ act, ...given })}\n`);
      return JSON.parse((await lines.next()).value ?? 'false') as boolean;
    },
    end: () => void child.stdin.end(),
  };
}

function link(namespace: string, at: number, bridge: string | null): void {
  run(`ip netns add ${namespace}`);
  run(`ip link add n${at} type veth peer name e0 netns ${namespace}`);
  const side = bridge ?? `n${at}`;
  if (bridge !== null) {
    run(`ip link add ${bridge} type bridge`);
    run(`ip link set n${at} master ${bridge}`);
    run(`ip link set ${bridge} up`);
  }
  run(`ip link set n${at} up`);
  run(`ip addr add 10.9.${at}.1/24 dev ${side}`);
  run(`ip addr add fd09:${at}::1/64 dev ${side} nodad`);
  const inside = `ip netns exec ${namespace}`;
  run(`${inside} ip link set lo up`);
  run(`${inside} ip link set e0 up`);
  run(`${inside} ip addr add 10.9.${at}.2/24 dev e0`);
  run(`${inside} ip addr add fd09:${at}::2/64 dev e0 nodad`);
  run(`${inside} ip route add default via 10.9.${at}.1`);
  run(`${inside} ip -6 route add default via fd09:${at}::1`);
}

type Passes = readonly (readonly [name: string, got: boolean])[];
const results: (readonly [name: string, got: unknown])[] = [];
const note = (name: string, got: unknown) => void results.push([name, got]);

async function passingOnce(when: string, all: Readonly<Record<string, Agent>>): Promise<Passes> {
  const { node, world, box, console_ } = all as Record<
    'node' | 'world' | 'box' | 'console_',
    Agent
  >;
  const tries: readonly (readonly [string, Agent, string, number])[] = [
    ['node > console', node, '10.9.1.2', PORT],
    ['node > console, IPv6', node, 'fd09:1::2', PORT],
    ['node > console, other port', node, '10.9.1.2', 80],
    ['node > world', node, '10.9.2.2', 443],
    ['node > world, IPv6', node, 'fd09:2::2', 443],
    ['node > box', node, '10.9.3.2', 9_000],
    ['node > itself', node, '127.0.0.1', 8_080],
    ['world > node', world, '10.9.2.1', 8_080],
    ['world > node, IPv6', world, 'fd09:2::1', 8_080],
    ['console > node', console_, '10.9.1.1', 8_080],
    ['box > node', box, '10.9.3.1', 8_080],
    ['box > world', box, '10.9.2.2', 443],
    ['box > world, IPv6', box, 'fd09:2::2', 443],
    ['box > console', box, '10.9.1.2', PORT],
    ['world > box', world, '10.9.3.2', 9_000],
  ];
  const answers = await Promise.all(
    [...new Set(tries.map(([, from]) => from))].map(async (from) => {
      const own: (readonly [string, boolean])[] = [];
      for (const [name, who, host, port] of tries) {
        if (who === from) own.push([name, await from.ask('reaches', { host, port })]);
      }
      for (const name of ['to world', 'to console']) {
        if (from === node) own.push([`held ${name}`, await from.ask('alive', { name })]);
      }
      if (from === box) own.push(['held of box', await from.ask('alive', { name: 'of box' })]);
      return own;
    }),
  );
  await node.ask('tells', { host: '10.9.2.2', text: when });
  const heard = await world.ask('heard', { text: when });
  return [...answers.flat(), ['datagram to a resolver', heard]];
}

async function passing(when: string, all: Readonly<Record<string, Agent>>): Promise<void> {
  for (const [name, got] of await passingOnce(when, all)) note(`${when}: ${name}`, got);
}

/** What passes where nothing is forbidden: links and neighbours take a moment, so it is asked until all of it does. */
async function passingFreely(
  when: string,
  all: Readonly<Record<string, Agent>>,
  isMeant: (name: string) => boolean,
): Promise<void> {
  const lastMs = Date.now() + PATIENCE_MS;
  for (let tried = 1; ; tried += 1) {
    const found = await passingOnce(`${when} ${tried}`, all);
    if (found.some(([name, got]) => isMeant(name) && !got) && Date.now() < lastMs) continue;
    for (const [name, got] of found) note(`${when}: ${name}`, got);
    return;
  }
}

async function become(actor: ContainmentActorRef, state: string): Promise<void> {
  await waitFor(actor, (snapshot) => stateOf(snapshot) === state, { timeout: PATIENCE_MS });
}

async function main(): Promise<void> {
  const own = readlinkSync('/proc/self/ns/net');
  if (own === process.env['OUTER_NETWORK']) throw new Error('this is the machine itself');
  run('mount --make-rprivate /');
  run('mount -t tmpfs none /run');
  run('ip link set lo up');
  run('sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1');
  link('console', 1, null);
  link('world', 2, null);
  link('box', 3, 'br0');
  const [console_, world, box, node] = await Promise.all([
    agentIn('console', PORT, 80),
    agentIn('world', 443),
    agentIn('box', 9_000),
    agentIn(null, 8_080),
  ]);
  const all = { console_, world, box, node };
  const stateDir = mkdtempSync('/run/state-');
  const parts = (url: string) => ({
    config: {
      ...{ stateDir, proxyUrl: null },
      intervals: { ...DEFAULT_INTERVALS, HEARTBEAT_INTERVAL_MS: CHECK_MS },
    },
    ...{ clock: createWheelClock(), logger: silentLogger, now: Date.now },
    onCrash: (_: string, error: unknown) => {
      throw error;
    },
    client: { baseUrl: new URL(url) },
    ports: { files: diskFiles, packetFilter: nftables },
  });
  const start = (url: string) => startContainment(parts(url) as never);
  const order = (
    orderId: string,
    wanted: 'contained' | 'released',
    untilMs: number | null = null,
  ) =>
    ({
      type: 'order.received',
      order: { orderId, wanted, reason: '', untilMs },
      atMs: Date.now(),
    }) as const;

  await node.ask('hold', { name: 'to world', host: '10.9.2.2', port: 443 });
  await node.ask('hold', { name: 'to console', host: '10.9.1.2', port: PORT });
  await box.ask('hold', { name: 'of box', host: '10.9.2.2', port: 443 });
  await passingFreely('free', all, () => true);

  let actor = await start(`https://10.9.1.2:${PORT}`);
  actor.send(order('1', 'contained'));
  await become(actor, 'contained');
  const isPassed = (name: string) =>
    /^contained: (node > console$|node > itself|held to console)/.test(name);
  await passing('contained', all);
  for (const [name, got] of results) {
    if (name.startsWith('contained:') && got !== isPassed(name)) note('wrong', name);
  }

  run('nft delete table inet service_containment');
  await waitFor(actor, ({ context }) => context.repaired === 1, { timeout: PATIENCE_MS });
  run('nft flush chain inet service_containment input');
  run('nft add rule inet service_containment output accept');
  await waitFor(actor, ({ context }) => context.repaired === 2, { timeout: PATIENCE_MS });
  note('repaired', await node.ask('reaches', { host: '10.9.2.2', port: 443 }));

  // A process that was killed, and a node whose rules went with its power.
  actor.stop();
  run('nft delete table inet service_containment');
  actor = await start('https://nowhere.invalid:15483');
  await become(actor, 'contained');
  note('restored', await node.ask('reaches', { host: '10.9.2.2', port: 443 }));
  actor.send(order('0', 'released'));
  note('overtaken', stateOf(actor.getSnapshot()));
  actor.send(order('2', 'released'));
  await become(actor, 'released');
  note('table after release', await nftables.read());
  await passingFreely('released', all, (name) => name.includes(' > '));

  actor.send(order('3', 'contained', Date.now() + 1_000));
  await become(actor, 'failed');
  note('unknown name', containmentReportOf(actor.getSnapshot()).failure);
  actor.stop();
  const here = await start('https://10.9.2.1:15483');
  here.send(order('4', 'contained'));
  await waitFor(here, ({ context }) => context.order?.orderId === '4' && context.failure !== null);
  note('own address', containmentReportOf(here.getSnapshot()).failure);
  here.send(order('5', 'released'));
  await become(here, 'released');
  here.stop();

  const short = await start(`https://[fd09:1::2]:${PORT}`);
  short.send(order('6', 'contained', Date.now() + 1_500));
  await become(short, 'contained');
  note('by IPv6', await node.ask('reaches', { host: 'fd09:1::2', port: PORT }));
  await become(short, 'released');
  note('table after its end', await nftables.read());
  short.stop();
  for (const one of Object.values(all)) one.end();
  rmSync(stateDir, { recursive: true });
  process.stdout.write(`${JSON.stringify(results)}\n`);
  process.exit(0);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main();
