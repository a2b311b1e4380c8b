// A process of attackers: opens as many TCP connections as it is told and never finishes a handshake on any. It has file
// descriptors of its own, so that the listener's are the listener's. Tells how many were open at once and how many the
// Console closed; ends when told, or when all are gone.
//   node half-open-peers.ts <port> <count>
import { connect, type Socket } from 'node:net';

const AT_ONCE = 200;
const HELLO = Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01]);
const [port = 0, count = 0] = process.argv.slice(2).map(Number);
const sockets = new Set<Socket>();
let opened = 0;
let closed = 0;
let refusedBecause: string | null = null;

/** One connection: half of them say nothing, half begin a handshake. */
function open(at: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    socket.once('connect', () => {
      opened += 1;
      sockets.add(socket);
      if (at % 2 === 1) socket.write(HELLO);
      resolve(true);
    });
    socket.on('error', (error) => {
      refusedBecause ??= error.message;
    });
    socket.once('close', () => {
      if (sockets.delete(socket)) closed += 1;
      resolve(false);
    });
    socket.resume();
  });
}

const tell = (kind: 'opened' | 'closed'): void => {
  process.send?.({ kind, opened, closed, refusedBecause });
};

for (let at = 0; at < count && refusedBecause === null; at += AT_ONCE) {
  const batch = Array.from({ length: Math.min(AT_ONCE, count - at) }, (_, n) => open(at + n));
  await Promise.all(batch);
}
tell('opened');
const watch = setInterval(() => {
  if (sockets.size > 0) return;
  clearInterval(watch);
  tell('closed');
  process.disconnect();
}, 100);
process.once('disconnect', () => {
  clearInterval(watch);
  for (const socket of sockets) socket.destroy();
});
