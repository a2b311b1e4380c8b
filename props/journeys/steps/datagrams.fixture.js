// `send HOST`: a datagram every few milliseconds that says when it was sent. `receive`: prints what came.
import { createSocket } from 'node:dgram';

const PORT = 9_999;
const EVERY_MS = 4;
const [, , act, host] = process.argv;
const socket = createSocket('udp4');
if (act === 'receive') {
  socket.on('message', (text) => process.stdout.write(`${text}\n`));
  socket.bind(PORT, () => process.stdout.write('ready\n'));
} else {
  // What a rule drops on its way out is an error of the call.
  socket.on('error', () => undefined);
  setInterval(() => socket.send(String(Date.now()), PORT, host, () => undefined), EVERY_MS);
  process.stdout.write('ready\n');
}
