// A way to a real store that a test can break: closed (connections are refused), held (bytes wait), slow, or without
// answers (what is asked arrives, what is answered does not). Nobody behind or before it is restarted.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

export type RelayFault = 'none' | 'away' | 'stalled' | 'answer_lost' | 'one_answer_lost';

export type Relay = {
  readonly port: number;
  setFault(fault: RelayFault): Promise<void>;
  /** From 'stalled': new connections work, those that are held stay silent for good. */
  forgetHeld(): void;
  /** Every answer comes this much later, in its order. */
  delayAnswers(byMs: number): void;
  close(): Promise<void>;
};

/** Opens a relay on a free port of loopback. */
export async function openRelay(target: number): Promise<Relay> {
  const sockets = new Set<Socket>();
  let fault: RelayFault = 'none';
  let lateMs = 0;
  let server: Server = createServer(accept);
  await listen(0);
  const { port } = server.address() as AddressInfo;

  async function listen(on: number): Promise<void> {
    server.listen(on, '127.0.0.1');
    await once(server, 'listening');
  }

  function accept(near: Socket): void {
    const far = connect(target, '127.0.0.1');
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on('error', () => undefined);
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
    }
    near.on('data', (bytes) => far.write(bytes));
    far.on('data', (bytes) => {
      if (lateMs > 0) setTimeout(() => near.write(bytes), lateMs);
      else if (fault !== 'answer_lost' && fault !== 'one_answer_lost') near.write(bytes);
      else near.resetAndDestroy();
      if (fault === 'one_answer_lost') fault = 'none';
    });
    if (fault === 'stalled') for (const one of [near, far]) one.pause();
  }

  async function shut(): Promise<void> {
    if (!server.listening) return;
    server.close();
    for (const one of sockets) one.destroy();
    await once(server, 'close');
  }

  return {
    port,
    async setFault(next) {
      fault = next;
      if (next === 'away') {
        await shut();
        return;
      }
      if (!server.listening) {
        server = createServer(accept);
        await listen(port);
      }
      for (const one of sockets) {
        if (next === 'stalled') one.pause();
        else one.resume();
      }
    },
    forgetHeld() {
      fault = 'none';
    },
    delayAnswers(byMs) {
      lateMs = byMs;
    },
    close: shut,
  };
}
