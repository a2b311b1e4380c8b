// The sockets under the database connections. Closing a connection in order waits for the server; when the server says
// nothing any more, only its socket can be ended.
import { Socket } from 'node:net';

export type Sockets = {
  /** Makes a socket for a connection; hand it to the client as its stream. */
  open(): Socket;
  /** Ends every one that is open, without a word to the server. */
  destroyAll(): void;
};

/** Makes an empty set. */
export function createSockets(): Sockets {
  const held = new Set<Socket>();
  return {
    open() {
      const socket = new Socket();
      held.add(socket);
      socket.once('close', () => held.delete(socket));
      return socket;
    },
    destroyAll() {
      for (const socket of held) socket.destroy();
    },
  };
}
