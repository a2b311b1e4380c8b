// A receiver of TLS connections that is of no use, for tests of what waits for it: it says nothing, or a byte now and then, or
// more than anybody wants to hear. Of no protocol; what it drips could be the begin of an answer of HTTP or of SMTP.
import type { AddressInfo } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import { borrowAuthority } from './peer-authority.ts';

const DRIP_MS = 50;
const DRIPPED = { http: 'HTTP/1.1 200 OK\r\nx-drip: ', smtp: '220-' } as const;
export const STUBBORN = ['silent', 'dripping', 'flooding'] as const;
export type Stubborn = (typeof STUBBORN)[number];

/** Starts one on 127.0.0.1. */
export async function openStubbornReceiver(manner: Stubborn, protocol: keyof typeof DRIPPED) {
  const { authority, giveBack } = await borrowAuthority();
  const tls = await authority.issueServerCertificate(['127.0.0.1'], Date.now());
  const closed = Promise.withResolvers<void>();
  const sockets = new Set<TLSSocket>();
  const server = createServer({ key: tls.keyPem, cert: tls.pem }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => closed.resolve());
    socket.resume();
    if (manner === 'dripping') drip(socket, DRIPPED[protocol]);
    if (manner === 'flooding') flood(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    ...{ port, caPem: authority.rootsPem },
    /** Resolves when somebody who came has left. */
    closed: closed.promise,
    async close(): Promise<void> {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
      giveBack();
    },
  };
}

function drip(socket: TLSSocket, begin: string): void {
  let at = 0;
  const timer = setInterval(() => {
    socket.write(begin[at] ?? 'x');
    at += 1;
  }, DRIP_MS);
  socket.on('close', () => clearInterval(timer));
}

function flood(socket: TLSSocket): void {
  const more = (): void => {
    while (!socket.destroyed && socket.write(Buffer.alloc(65_536, 'x')));
  };
  socket.on('drain', more);
  more();
}
