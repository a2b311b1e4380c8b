// The packet filter of this node, through the system's `nft`: no shell, a fixed path and environment, rules on standard
// input, a deadline, bounded output. One transaction each, so that there is never a half of the rules. decision: D86
import { spawn } from 'node:child_process';
import { lookup } from 'node:dns/promises';
import { access, constants, readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import {
  isIpv4,
  isIpv6,
  isLoopback,
  type Passage,
  TABLE,
} from '../../../machines/sensor/containment.rules.ts';
import {
  NFT_OUTPUT_MAX_BYTES,
  NFT_TIMEOUT_MS,
} from '../../../machines/sensor/containment-limits.ts';

export type PacketFilter = {
  /** What must pass so that this host stays reachable. Rejects with a sentence when that cannot be known. */
  passage(way: { readonly host: string; readonly port: number }): Promise<Passage>;
  /** All of a ruleset or nothing of it. Rejects with a sentence that says why. */
  apply(ruleset: string): Promise<void>;
  /** Our table as `nft` tells it; null when there is none. */
  read(): Promise<unknown>;
  /** Idempotent. */
  remove(): Promise<void>;
};

// Not by PATH: who can change that would carry out the rules.
const PROGRAMS = ['/usr/sbin/nft', '/sbin/nft', '/usr/bin/nft', '/bin/nft'];
// Upstream resolvers where the usual file names a local stub.
const RESOLVER_FILES = [
  '/run/systemd/resolve/resolv.conf',
  '/run/NetworkManager/no-stub-resolv.conf',
  '/run/dnsmasq/resolv.conf',
  '/etc/resolv.conf',
];

/** The real one. */
export const nftables: PacketFilter = {
  passage,
  async apply(ruleset) {
    const { code, stderr } = await nft(['-f', '-'], ruleset);
    if (code !== 0) throw new Error(sentenceOf(stderr));
  },
  async read() {
    const { code, stdout, stderr } = await nft(['-j', 'list', 'table', 'inet', TABLE], '');
    if (code === 0) return JSON.parse(stdout);
    if (stderr.includes('No such file')) return null;
    throw new Error(sentenceOf(stderr));
  },
  async remove() {
    const text = `add table inet ${TABLE}\ndelete table inet ${TABLE}\n`;
    const { code, stderr } = await nft(['-f', '-'], text);
    if (code !== 0) throw new Error(sentenceOf(stderr));
  },
};

async function passage(way: { readonly host: string; readonly port: number }): Promise<Passage> {
  const host = way.host.replace(/^\[|\]$/g, '');
  const isAddress = isIP(host) !== 0;
  const found = isAddress ? [host] : await addressesOf(host);
  const own = ownAddresses();
  if (found.some((one) => own.has(one) || isLoopback(one))) {
    throw new Error('the Console, or the proxy to it, runs on this node');
  }
  const peers = found.filter((one) => isIpv4(one) || isIpv6(one));
  return {
    peers: peers.map((address) => ({ address, port: way.port })),
    resolvers: isAddress ? [] : await resolvers(),
  };
}

async function addressesOf(host: string): Promise<readonly string[]> {
  try {
    return (await lookup(host, { all: true })).map(({ address }) => address.toLowerCase());
  } catch {
    throw new Error('the name of the Console cannot be looked up');
  }
}

function ownAddresses(): ReadonlySet<string> {
  const all = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return new Set(all.map(({ address }) => address.toLowerCase()));
}

/** The first file that names a resolver beyond this node. */
async function resolvers(): Promise<readonly string[]> {
  for (const file of RESOLVER_FILES) {
    const text = await readFile(file, 'utf8').catch(() => '');
    const named = [...text.matchAll(/^\s*nameserver\s+(\S+)/gm)]
      .map(([, address = '']) => address.toLowerCase())
      .filter((one) => (isIpv4(one) || isIpv6(one)) && !isLoopback(one));
    if (named.length > 0) return named.slice(0, 16);
  }
  return [];
}

async function programPath(): Promise<string> {
  for (const path of PROGRAMS) {
    try {
      await access(path, constants.X_OK);
      return path;
    } catch {
      // Perhaps at the next place.
    }
  }
  throw new Error('nft is not installed on this node');
}

type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

async function nft(args: readonly string[], input: string): Promise<Ended> {
  const path = await programPath();
  return await new Promise<Ended>((resolve, reject) => {
    const child = spawn(path, [...args], {
      env: { LC_ALL: 'C', PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
      stdio: ['pipe', 'pipe', 'pipe'],
      timeout: NFT_TIMEOUT_MS,
      killSignal: 'SIGKILL',
    });
    const said = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => {
        said[name] += text;
        if (said[name].length > NFT_OUTPUT_MAX_BYTES) child.kill('SIGKILL');
      });
    }
    child.on('error', (error) => reject(new Error(`nft cannot be started: ${error.message}`)));
    child.on('close', (code, signal) => {
      if (signal === null) resolve({ code, ...said });
      else reject(new Error('nft gave no answer in time'));
    });
    // It may end before it has read everything.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
  });
}

function sentenceOf(stderr: string): string {
  if (stderr.includes('Operation not permitted')) {
    return 'this Sensor has no right to change the packet filter';
  }
  return `nft: ${stderr.split('\n')[0] ?? 'failed'}`;
}
