// A receiver of webhooks for tests: TLS on 127.0.0.1 with a certificate of a CA of its own. It keeps every request as the
// bytes that came, and answers what a test tells it to: a status, silence, a redirect, an answer without end, or none and the
// connection cut.
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { borrowAuthority } from './peer-authority.ts';

export type Received = {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
};
export type WebhookReceiver = Awaited<ReturnType<typeof openWebhookReceiver>>;
type Answer =
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }
  | 'nothing'
  | 'cut'
  | 'without end';

/** Starts a receiver. */
export async function openWebhookReceiver() {
  const { authority, giveBack } = await borrowAuthority();
  const tls = await authority.issueServerCertificate(['localhost', '127.0.0.1'], Date.now());
  const received: Received[] = [];
  const waiting: (() => void)[] = [];
  const open = new Set<ServerResponse>();
  let answer: (request: Received) => Answer = () => ({ status: 204 });
  const server = createServer({ key: tls.keyPem, cert: tls.pem }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const one = {
        ...{ method: request.method ?? '', path: request.url ?? '', headers: request.headers },
        body: Buffer.concat(chunks),
      };
      received.push(one);
      open.add(response);
      say(response, answer(one));
      for (const tell of waiting.splice(0)) tell();
    });
  });
  let connections = 0;
  server.on('secureConnection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    caPem: authority.rootsPem,
    received,
    url: (path = '/hook') => `https://127.0.0.1:${port}${path}`,
    answerWith(next: Answer | ((request: Received) => Answer)): void {
      answer = typeof next === 'function' ? next : () => next;
    },
    /** Resolves when so many requests have come. */
    async has(count: number): Promise<readonly Received[]> {
      while (received.length < count) await new Promise<void>((resolve) => waiting.push(resolve));
      return received;
    },
    /** How many were made so far. */
    connections: () => connections,
    /** Nobody listens at its port any more, and nobody is listened to. */
    async leave(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
    /** It listens again where it did. */
    async comeBack(): Promise<void> {
      await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    },
    async close(): Promise<void> {
      for (const response of open) response.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      giveBack();
    },
  };
}

function say(response: ServerResponse, answer: Answer): void {
  if (answer === 'nothing') return;
  if (answer === 'cut') {
    response.socket?.destroy();
    return;
  }
  if (answer === 'without end') {
    response.writeHead(200);
    const more = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536, 'x')));
      if (!response.destroyed) response.once('drain', more);
    };
    more();
    return;
  }
  response.writeHead(answer.status, answer.headers ?? {}).end(answer.body ?? '');
}
