// One run of bytes over a TLS connection of its own, through the guard. No protocol answers here, so the end tells: the
// connection is closed in order, and only when the other side closes after it had everything is it taken as received. A
// reset, silence and an early end are failures. decision: D150, D154
import { policyOfList } from './address-rules.ts';
import { connectGuarded, unreachable } from './guarded-connect.ts';
import { proxyOf } from './outbound-post.ts';
import { DestinationUnreachable } from './unreachable.ts';

export type StreamRequest = {
  readonly host: string;
  readonly port: number;
  readonly body: Uint8Array;
  readonly caPem: string | null;
  readonly proxyUrl: string | null;
  readonly allowList: readonly string[];
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
};

/** Resolves when the other side has everything. Rejects with DestinationUnreachable. */
export type OutboundStream = (request: StreamRequest) => Promise<void>;

/** The one that reaches the network. */
export const outboundStream: OutboundStream = async (request) => {
  const { host, port, body, caPem, proxyUrl, allowList } = request;
  const signal = AbortSignal.any([request.signal, AbortSignal.timeout(request.timeoutMs)]);
  const policy = policyOfList(allowList, host);
  const proxy = proxyOf(proxyUrl, allowList);
  const socket = await connectGuarded({ host, port }, { ...policy, caPem, proxy, signal });
  await new Promise<void>((resolve, reject) => {
    let isWritten = false;
    const fail = (error: Error): void => {
      socket.destroy();
      reject(unreachable(host, error));
    };
    const giveUp = (): void =>
      fail(signal.reason instanceof Error ? signal.reason : new Error('told to end'));
    signal.addEventListener('abort', giveUp, { once: true });
    socket.on('error', fail);
    // Whatever it says is not listened to, but has to be taken for its end to be seen.
    socket.resume();
    socket.on('end', () => {
      if (isWritten) resolve();
      else
        fail(new DestinationUnreachable(`${host} closed before it had everything`, 'unreachable'));
    });
    socket.on('close', () => signal.removeEventListener('abort', giveUp));
    if (signal.aborted) return giveUp();
    socket.end(body, () => {
      isWritten = true;
    });
  });
  socket.destroy();
};
