// An HTTP proxy for tests on 127.0.0.1: it knows CONNECT alone, notes what it was asked for, and sees nothing but bytes of TLS.
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

export type ConnectProxy = Awaited<ReturnType<typeof openConnectProxy>>;

/** Starts a proxy. */
export async function openConnectProxy() {
  const asked: string[] = [];
  const open = new Set<Socket>();
  let status = 200;
  const server = createServer((_, response) => response.writeHead(405).end());
  server.on('connect', ({ url = '' }: { url?: string }, client: Socket) => {
    asked.push(url);
    open.add(client);
    client.on('error', () => client.destroy());
    if (status !== 200) return void client.end(`HTTP/1.1 ${status} No\r\n\r\n`);
    const [host = '', port = ''] = url.split(/:(?=\d+$)/);
    const target = connect(Number(port), host, () => {
      client.write('HTTP/1.1 200 Connected\r\n\r\n');
      target.pipe(client).pipe(target);
    });
    open.add(target);
    target.on('error', () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    /** Where it was asked to connect to. */
    asked,
    answerWith(next: number): void {
      status = next;
    },
    async close(): Promise<void> {
      for (const socket of open) socket.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
