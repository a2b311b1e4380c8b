// A host in a network namespace of a test: it listens, connects and holds connections as it is told, a JSON line each.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { createInterface } from 'node:readline';

const [, , ...ports] = process.argv;
const PATIENCE_MS = 1_500;
const held = new Map();
const datagrams = [];

for (const port of ports.map(Number)) {
  const server = createServer((socket) => socket.on('error', () => undefined).pipe(socket));
  await once(server.listen(port, '::'), 'listening');
}
const resolver = createSocket('udp6').on('message', (text) => datagrams.push(text.toString()));
await once(resolver.bind(53, '::'), 'listening');

/** Whether what is sent on a connection comes back. */
function echoes(socket) {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), PATIENCE_MS);
    socket.once('data', () => {
      clearTimeout(timer);
      resolve(true);
    });
    socket.write('x');
  });
}

const ACTS = {
  async hold({ name, host, port }) {
    const socket = connect({ host, port });
    socket.on('error', () => undefined);
    held.set(name, socket);
    return echoes(socket);
  },
  async alive({ name }) {
    return echoes(held.get(name));
  },
  async reaches({ host, port }) {
    const socket = connect({ host, port });
    socket.on('error', () => undefined);
    const isGood = await echoes(socket);
    socket.destroy();
    return isGood;
  },
  async tells({ host, text }) {
    const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
    // A packet that a rule drops on its way out is an error of the call.
    const isSent = await new Promise((resolve) =>
      socket.send(text, 53, host, (error) => resolve(error === null)),
    );
    socket.close();
    return isSent;
  },
  async heard({ text }) {
    await new Promise((resolve) => setTimeout(resolve, 200));
    return datagrams.includes(text);
  },
};

process.stdout.write('ready\n');
for await (const line of createInterface({ input: process.stdin })) {
  const { act, ...given } = JSON.parse(line);
  process.stdout.write(`${JSON.stringify(await ACTS[act](given))}\n`);
}
process.exit(0);
