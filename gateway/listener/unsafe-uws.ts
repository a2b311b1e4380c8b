// The casts around uWebSockets.js: a native module has no types of its own at load time, and the published types miss
// `getX509Certificate`, which exists on responses of an SSL app only. Nothing else in the listener casts.
import type { HttpResponse, us_listen_socket, us_socket } from 'uWebSockets.js';

export type Uws = typeof import('uWebSockets.js');

/** Loads a native module file and gives it its type; throws what the dynamic linker says. */
export function openNativeUws(file: string): Uws {
  const holder: { exports: unknown } = { exports: {} };
  process.dlopen(holder, file);
  return holder.exports as Uws;
}

/** Keeps the library's name out of every answer from now on. A build that cannot says it, as before. */
export function silence(uws: Uws): void {
  const configurable = uws as { _cfg?: (word: string) => void };
  configurable._cfg?.('silent');
}

/** The PEM text of the peer's verified client certificate; '' when it showed none. Read it before the first await. */
export function readPeerCertificate(res: HttpResponse): string {
  const reader = res as { getX509Certificate?: () => string };
  return reader.getX509Certificate?.call(res) ?? '';
}

/** The port a listen socket is bound to. */
export function localPortOf(uws: Uws, socket: us_listen_socket): number {
  return uws.us_socket_local_port(socket as us_socket);
}
