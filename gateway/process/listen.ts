// The one TLS port of a process. decision: D2

import type { ConsoleConfig } from '../config/config.ts';
import type { BoundListener } from '../console-ports.ts';
import type { Routed } from '../listener/let-go.ts';
import { createListener, type ListenerTls } from '../listener/listener.ts';
import { silence } from '../listener/unsafe-uws.ts';
import { type LoadUwsResult, loadUws } from '../listener/uws-loader.ts';

/** Native code is loaded once in a process; a listener that comes later takes what was judged then. */
let opened: Extract<LoadUwsResult, { ok: true }> | null = null;

/** Binds a port; `cacheDir` takes what the listener's library is unpacked to. Throws why it cannot be. */
export async function listenAt(
  { cacheDir, bind, port }: Pick<ConsoleConfig, 'bind' | 'port'> & { readonly cacheDir: string },
  tls: ListenerTls,
  attach: (app: Routed) => void,
): Promise<BoundListener> {
  const loaded = opened ?? loadUws({ cacheDir });
  if (!loaded.ok) throw new Error(loaded.reason);
  // The name of a server helps nobody but who looks for its holes.
  silence(loaded.uws);
  opened = loaded;
  const created = createListener({ uws: loaded.uws, tls, attach });
  if (!created.ok) throw new Error(created.reason);
  const { listener } = created;
  const bound = await listener.listen(bind, port);
  if (!bound.ok) {
    listener.close();
    throw new Error(bound.reason);
  }
  const { swap, stopAccepting, close } = listener;
  return { port: bound.port, swap, stopAccepting, close };
}
