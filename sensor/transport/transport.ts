// The one way from the Sensor's actors to the network. Compression, deadlines and TLS are the transport's own business:
// an actor gives JSON text and gets a value back.
import type { HelloFrame } from '../../machines/wire/stream.ts';
import { type ClientOptions, type ConsoleClient, createConsoleClient } from './console-client.ts';
import { askConsoleClock } from './console-clock.ts';
import { fetchPinnedCa, type PinnedCa } from './pinned-ca.ts';
import { openStreamSocket, type StreamHandlers, type StreamOpening } from './stream-socket.ts';

export type Transport = {
  /** Makes a client; nothing is connected before the first request. */
  createClient(options: ClientOptions): ConsoleClient;
  /** Opens a stream as the client's identity and says hello; resolves when the upgrade is done. Never rejects. */
  openStream(
    client: ConsoleClient,
    hello: HelloFrame,
    handlers: StreamHandlers,
    timeoutMs: number,
  ): Promise<StreamOpening>;
  /** The Console's CA when it has this fingerprint. Never rejects; sends no secret. */
  fetchPinnedCa(baseUrl: URL, fingerprint: string, proxyUrl: URL | null): Promise<PinnedCa>;
  /** What the Console's clock says, asked without a client certificate; null when it is not told. Never rejects. */
  askConsoleClock(
    baseUrl: URL,
    caPem: string,
    how: { readonly proxyUrl: URL | null; readonly timeoutMs: number },
  ): Promise<number | null>;
};

/** Mutual TLS over the network. */
export const tlsTransport: Transport = {
  createClient: createConsoleClient,
  openStream: openStreamSocket,
  fetchPinnedCa,
  askConsoleClock,
};
