// A connection to a service of an operator's choice: TLS at judged addresses, or through a proxy of the operator's, whose
// own address is judged the same. Through a proxy a name is resolved where the proxy is, so of the destination a literal
// address alone can be judged here. decision: D40, D150
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type Socket, connect as tcpConnect } from 'node:net';
import { connect as tlsConnect } from 'node:tls';
import type { AddressPolicy } from './address-rules.ts';
import { judgedLookup, mistakeOfHost } from './judged-lookup.ts';
import { DestinationUnreachable, reasonOf } from './unreachable.ts';

/** What stands between the Console and a destination. */
export type OutboundProxy = { readonly url: string; readonly policy: AddressPolicy };
export type Target = { readonly host: string; readonly port: number };
export type ConnectOptions = AddressPolicy & {
  /** The only CA that is trusted; null: the public ones. */
  readonly caPem: string | null;
  readonly proxy?: OutboundProxy | null | undefined;
  readonly signal: AbortSignal;
};

/** Opens TLS to a destination, its certificate verified. Rejects with DestinationUnreachable. */
export async function connectGuarded(target: Target, options: ConnectOptions): Promise<Socket> {
  refuseLiteral(target.host, options);
  const { caPem, proxy, signal } = options;
  const through = proxy ? await openTunnel(target, proxy, signal) : null;
  const socket = tlsConnect({
    ...(through === null
      ? { host: target.host, port: target.port, lookup: judgedLookup(options) }
      : { socket: through }),
    ...(isIP(target.host) > 0 ? {} : { servername: target.host }),
    ...(caPem === null ? {} : { ca: caPem }),
  });
  return opened(socket, 'secureConnect', { target, signal, through });
}

/**
 * Opens a connection in the clear, for protocols that ask for TLS by a word of their own: whoever takes it says nothing else
 * before. Rejects with DestinationUnreachable.
 */
export async function dialGuarded(
  target: Target,
  options: Omit<ConnectOptions, 'caPem'>,
): Promise<Socket> {
  refuseLiteral(target.host, options);
  const { proxy, signal } = options;
  if (proxy) return openTunnel(target, proxy, signal);
  const { host, port } = target;
  const socket = tcpConnect({ host, port, lookup: judgedLookup(options) });
  return opened(socket, 'connect', { target, signal, through: null });
}

/** The socket once it is open. */
function opened(
  socket: Socket,
  event: 'connect' | 'secureConnect',
  of: { readonly target: Target; readonly signal: AbortSignal; readonly through: Socket | null },
): Promise<Socket> {
  const { target, signal, through } = of;
  return new Promise((resolve, reject) => {
    const end = (error: Error): void => {
      signal.removeEventListener('abort', giveUp);
      socket.destroy();
      through?.destroy();
      reject(unreachable(target.host, error));
    };
    const giveUp = (): void => end(abortErrorOf(signal));
    if (signal.aborted) return giveUp();
    signal.addEventListener('abort', giveUp, { once: true });
    socket.once('error', end);
    socket.once(event, () => {
      signal.removeEventListener('abort', giveUp);
      socket.off('error', end);
      resolve(socket);
    });
  });
}

/** Throws when a host is an address that may not be reached. */
export function refuseLiteral(host: string, policy: AddressPolicy): void {
  const mistake = mistakeOfHost(host, policy);
  if (mistake !== null) throw new DestinationUnreachable(mistake, 'address_refused');
}

/** An address in a URL as a host of its own. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

// CONNECT alone: the destination's certificate is verified through it as without it.
function openTunnel(target: Target, proxy: OutboundProxy, signal: AbortSignal): Promise<Socket> {
  const url = new URL(proxy.url);
  const host = hostOf(url);
  refuseLiteral(host, proxy.policy);
  const isSecure = url.protocol === 'https:';
  const authority = `${isIP(target.host) === 6 ? `[${target.host}]` : target.host}:${target.port}`;
  return new Promise((resolve, reject) => {
    const outgoing = (isSecure ? httpsRequest : httpRequest)({
      ...{ host, port: url.port === '' ? (isSecure ? 443 : 80) : Number(url.port) },
      ...{ method: 'CONNECT', path: authority, headers: { host: authority } },
      ...{ agent: false, lookup: judgedLookup(proxy.policy), signal },
    });
    const fail = (error: Error): void => reject(unreachable(`proxy ${host}`, error));
    outgoing.on('error', fail);
    outgoing.on('connect', ({ statusCode }: IncomingMessage, socket: Socket) => {
      if (statusCode === 200) return resolve(socket);
      socket.destroy();
      fail(new Error(`it answers ${statusCode}`));
    });
    outgoing.on('response', ({ statusCode }: IncomingMessage) => {
      outgoing.destroy();
      fail(new Error(`it answers ${statusCode}`));
    });
    outgoing.end();
  });
}

function abortErrorOf({ reason }: AbortSignal): Error {
  return reason instanceof Error ? reason : new Error('told to end');
}

/** An error of the network as what it means for who asked. */
export function unreachable(host: string, error: Error): DestinationUnreachable {
  if (error instanceof DestinationUnreachable) return error;
  const why = 'code' in error ? `${String(error.code)}: ${error.message}` : error.message;
  return new DestinationUnreachable(`${host}: ${why}`, reasonOf(error), { cause: error });
}
