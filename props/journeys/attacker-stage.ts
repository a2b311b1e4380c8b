// Where the scripted intruder acts: a server that it fetches from, a resolver that answers it, and a container for each
// attack, made by hand.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmdirSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { ROOT } from './programs.ts';

export const SHELL = '/bin/sh';
const RESOLVER = '127.9.9.9';
const EXIT_CODE = 9;
type CleanUps = (() => void)[];

export type AttackerStage = {
  /** Of the server. */
  readonly port: number;
  /** One attack, in a container of this id. */
  attack(): Promise<{ readonly id: string; readonly endedAt: number }>;
  close(): void;
};

/** Opens it. */
export async function openAttackerStage(): Promise<AttackerStage> {
  const cleanUps: CleanUps = [];
  const port = await startServer(cleanUps);
  await startResolver(cleanUps);
  return {
    port,
    async attack() {
      const id = randomBytes(32).toString('hex');
      const script = path.join(ROOT, 'props', 'journeys', 'attacker.sh');
      const cgroup = makeCgroup(id, cleanUps);
      const attacker = spawn(SHELL, [script, cgroup, String(port), RESOLVER], {
        env: { PATH: '/usr/bin:/bin' },
        stdio: ['ignore', 'ignore', 'inherit'],
      });
      const [code] = await once(attacker, 'exit');
      if (code !== EXIT_CODE) throw new Error(`the attacker ended with ${code}`);
      return { id, endedAt: Date.now() };
    },
    close() {
      for (const cleanUp of cleanUps.splice(0)) cleanUp();
    },
  };
}

/** A cgroup of the unified hierarchy, named as a container runtime names a container's. */
function makeCgroup(id: string, cleanUps: CleanUps): string {
  const mounts = readFileSync('/proc/self/mounts', 'utf8').split('\n');
  const root = mounts.find((line) => line.split(' ')[2] === 'cgroup2')?.split(' ')[1] ?? '';
  const made = path.join(root, `docker-${id}.scope`);
  mkdirSync(made, { recursive: true });
  cleanUps.push(() => rmdirSync(made));
  return made;
}

async function startServer(cleanUps: CleanUps): Promise<number> {
  const server = createServer((_, response) => response.end('hello'));
  cleanUps.push(() => server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Answers every question with 127.0.0.7. */
async function startResolver(cleanUps: CleanUps): Promise<void> {
  const socket = createSocket('udp4');
  cleanUps.push(() => socket.close());
  socket.on('message', (question, from) => {
    const answer = Buffer.from('c00c000100010000003c00047f000007', 'hex');
    const whole = Buffer.concat([question, answer]);
    whole.writeUInt16BE(0x8180, 2);
    whole.writeUInt16BE(1, 6);
    socket.send(whole, from.port, from.address);
  });
  socket.bind(53, RESOLVER);
  await once(socket, 'listening');
}
