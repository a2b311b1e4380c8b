// A bundle that holds the peer in Tetragon's place, laid out as its project lays out the tarball for Linux, and the wire
// on which a test gives the running peer its orders.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { pinOf } from '../../sensor/engine/tetragon/bundle.ts';
import type { HostPlaces, TetragonSettings } from '../../sensor/engine/tetragon/tetragon.ts';

const CONNECT_TRIES = 600;
const CONNECT_PAUSE_MS = 100;
const PEER = fileURLToPath(new URL('./tetragon-peer.ts', import.meta.url));

export type PeerBundle = {
  /** Of the peer: its pid file, its BPF file system, its control socket. */
  readonly peerDir: string;
  /** The unpacked bundle, and the same as a tarball. */
  readonly directory: string;
  readonly tarball: string;
  readonly host: HostPlaces;
  settings(): Promise<TetragonSettings>;
  /** Tells the running peer what to do; answers what it says. */
  order(what: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, unknown>>>;
  remove(): void;
};

/** Makes both forms of the bundle in a folder of their own; the peer says that version, and that it lost so much. */
export function makePeerBundle(version = 'v1.7.0', lost = 0): PeerBundle {
  const peerDir = mkdtempSync(path.join(tmpdir(), 'tetragon-peer-'));
  const name = 'tetragon-v1.7.0-amd64';
  const directory = path.join(peerDir, name);
  const lib = path.join(directory, 'usr', 'local', 'lib', 'tetragon');
  const bin = path.join(directory, 'usr', 'local', 'bin');
  mkdirSync(path.join(lib, 'bpf'), { recursive: true });
  mkdirSync(bin, { recursive: true });
  const start = [
    process.execPath,
    PEER,
    `--peer-dir=${peerDir}`,
    `--peer-version=${version}`,
    `--peer-lost=${lost}`,
  ];
  const script = `#!/bin/sh\nexec ${start.map((word) => `'${word}'`).join(' ')} "$@"\n`;
  writeFileSync(path.join(bin, 'tetragon'), script, { mode: 0o755 });
  writeFileSync(path.join(bin, 'tetra'), '#!/bin/sh\n', { mode: 0o755 });
  writeFileSync(path.join(lib, 'bpftool'), '#!/bin/sh\ncat "$5"\n', { mode: 0o755 });
  writeFileSync(path.join(lib, 'bpf', 'bpf_execve_event.o'), 'an object');
  writeFileSync(path.join(directory, 'install.sh'), '#!/bin/sh\n', { mode: 0o755 });
  const tarball = `${directory}.tar.gz`;
  execFileSync('tar', ['-C', peerDir, '-czf', tarball, name]);
  for (const place of ['vmlinux', 'kprobe']) writeFileSync(path.join(peerDir, place), '');
  return {
    peerDir,
    directory,
    tarball,
    host: {
      pidFile: path.join(peerDir, 'tetragon.pid'),
      typeInformation: path.join(peerDir, 'vmlinux'),
      kprobes: path.join(peerDir, 'kprobe'),
      bpfFileSystem: path.join(peerDir, 'bpf'),
    },
    settings: async () => ({
      bundle: tarball,
      sha256: await pinOf(tarball),
      metricsAddress: null,
    }),
    order: (what) => orderPeer(path.join(peerDir, 'control.sock'), what),
    remove: () => rmSync(peerDir, { recursive: true, force: true }),
  };
}

async function orderPeer(
  control: string,
  what: Readonly<Record<string, unknown>>,
): Promise<Readonly<Record<string, unknown>>> {
  const socket = await connected(control);
  return await new Promise((resolve, reject) => {
    socket.on('error', reject);
    createInterface({ input: socket })
      .on('error', reject)
      .on('line', (line) => {
        socket.destroy();
        resolve(JSON.parse(line) as Readonly<Record<string, unknown>>);
      });
    socket.write(`${JSON.stringify(what)}\n`);
  });
}

/** A connection to the peer; one that was just started needs a moment until it listens. */
async function connected(control: string): Promise<Socket> {
  for (let tries = 0; ; tries += 1) {
    const socket = connect(control);
    try {
      await once(socket, 'connect');
      return socket;
    } catch (error) {
      if (tries === CONNECT_TRIES) throw error;
      await sleep(CONNECT_PAUSE_MS);
    }
  }
}
