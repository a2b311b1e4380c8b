// The TLS agent of the sensor plane: the Console's CA only, our certificate, kept-alive sockets, and a CONNECT proxy when
// one is configured. The proxy sees bytes, never the inside of the connection.
import { Agent, type AgentOptions } from 'node:https';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { REQUEST_TIMEOUT_MS } from '../../machines/limits.ts';

export type TlsIdentity = {
  readonly keyPem: string | null;
  readonly certPem: string | null;
  /** Null: the public chain. */
  readonly caPem: string | null;
};

/** Makes an agent; `isVerified: false` is for the first look at a pinned CA only. */
export function createTlsAgent(
  identity: TlsIdentity,
  options: { readonly proxyUrl: URL | null; readonly isVerified?: boolean },
): Agent {
  const settings: AgentOptions = {
    keepAlive: true,
    maxSockets: 4,
    minVersion: 'TLSv1.2',
    rejectUnauthorized: options.isVerified ?? true,
    ...(identity.caPem === null ? {} : { ca: identity.caPem }),
    ...(identity.keyPem === null || identity.certPem === null
      ? {}
      : { key: identity.keyPem, cert: identity.certPem }),
  };
  const agent = new Agent(settings);
  const { proxyUrl } = options;
  if (proxyUrl === null) return agent;
  return Object.assign(agent, {
    createConnection(
      target: { host?: string; port?: number; servername?: string },
      done: (error: Error | null, socket?: Socket) => void,
    ): void {
      const authority = `${target.host}:${target.port}`;
      openTunnel(proxyUrl, authority).then(
        (socket) => done(null, connectTls({ ...settings, ...target, socket } as never)),
        (error: Error) => done(error),
      );
    },
  });
}

/** Ends an agent that has a successor: idle sockets at once, a busy one when its request is answered. */
export function retireAgent(agent: Agent): void {
  agent.maxFreeSockets = 0;
  for (const idle of Object.values(agent.freeSockets)) {
    for (const socket of idle ?? []) socket.destroy();
  }
}

function openTunnel(proxy: URL, authority: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const port = proxy.port === '' ? 80 : Number(proxy.port);
    const socket = connectTcp({ host: proxy.hostname, port });
    const credentials =
      proxy.username === ''
        ? ''
        : `Proxy-Authorization: Basic ${Buffer.from(
            `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`,
          ).toString('base64')}\r\n`;
    let head = '';
    const fail = (error: Error): void => {
      socket.destroy();
      reject(error);
    };
    const read = (bytes: Buffer): void => {
      head += bytes.toString('latin1');
      const end = head.indexOf('\r\n\r\n');
      if (end === -1 && head.length < 8_192) return;
      socket.off('data', read).off('error', fail);
      socket.setTimeout(0);
      if (!/^HTTP\/1\.[01] 200/.test(head) || head.length !== end + 4) {
        fail(new Error(`the proxy refused: ${head.split('\r\n')[0]}`));
      } else resolve(socket);
    };
    socket.setTimeout(REQUEST_TIMEOUT_MS, () => fail(new Error('the proxy timed out')));
    socket.on('error', fail).on('data', read);
    socket.on('connect', () =>
      socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${credentials}\r\n`),
    );
  });
}
