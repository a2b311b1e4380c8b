// A syslog receiver of the tests: TLS on 127.0.0.1, every connection kept as the bytes that came. It can reset a connection
// in the middle, as the system of a receiver does that died before it had read everything.
import type { AddressInfo, Socket } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import { borrowAuthority } from './peer-authority.ts';

/** Starts a receiver. */
export async function openSyslogReceiver() {
  const { authority, giveBack } = await borrowAuthority();
  const tls = await authority.issueServerCertificate(['localhost', '127.0.0.1'], Date.now());
  const whole: Buffer[] = [];
  const waiting: (() => void)[] = [];
  const open = new Set<TLSSocket>();
  const below = new Map<number | undefined, Socket>();
  let mode: 'take' | 'reset' = 'take';
  let resets = 0;
  const server = createServer({ key: tls.keyPem, cert: tls.pem }, (socket) => {
    open.add(socket);
    const chunks: Buffer[] = [];
    let isReset = false;
    socket.on('error', () => socket.destroy());
    socket.on('close', () => open.delete(socket));
    socket.on('data', (chunk: Buffer) => {
      if (mode === 'reset') {
        resets += 1;
        isReset = true;
        // TLS cannot reset, and the end of a receiver that had read everything is what taking it looks like.
        below.get(socket.remotePort)?.resetAndDestroy();
        for (const tell of waiting.splice(0)) tell();
        return;
      }
      chunks.push(chunk);
    });
    socket.on('end', () => {
      if (isReset) return;
      whole.push(Buffer.concat(chunks));
      for (const tell of waiting.splice(0)) tell();
    });
  });
  server.on('connection', (socket: Socket) => {
    const { remotePort } = socket;
    below.set(remotePort, socket);
    socket.on('close', () => below.delete(remotePort));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `tls://127.0.0.1:${port}`,
    port,
    caPem: authority.rootsPem,
    resets: () => resets,
    /** What whole connections brought. */
    whole,
    behave(next: 'take' | 'reset'): void {
      mode = next;
    },
    async until(isSo: () => boolean): Promise<void> {
      while (!isSo()) await new Promise<void>((resolve) => waiting.push(resolve));
    },
    async close(): Promise<void> {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
      giveBack();
    },
  };
}
