// Hands the bytes of an export to the worker, a piece at a time: the next is read when the one before is done, so that
// neither the tab nor the Console runs ahead of the other.
import type { ReadVerdict } from '../../../machines/trust/audit-trail.rules.ts';
import { addressOf } from '../api/client.ts';
import { problemOf, unreachable } from '../api/problem.ts';
import type { FromWorker, ToWorker } from './verify-worker.ts';
import VerifyWorker from './verify-worker.ts?worker';

type Bytes = ReadableStream<Uint8Array<ArrayBuffer>>;

/** The whole chain as the Console exports it, checkpoints first. Rejects with an ApiProblem. */
export async function fetchTrail(signal: AbortSignal): Promise<Bytes> {
  const answer = await fetch(addressOf('GET /audit', {}), {
    headers: { accept: 'application/x-ndjson' },
    cache: 'no-store',
    signal,
  }).catch((error: unknown) => {
    throw signal.aborted ? error : unreachable();
  });
  if (!answer.ok) throw await problemOf(answer);
  if (answer.body === null) throw unreachable();
  return answer.body;
}

/** Verifies a trail to its end; rejects when it breaks off, the worker fails, or at the signal. */
export async function verifyBytes(
  bytes: Bytes,
  { signal, onRows }: { readonly signal: AbortSignal; readonly onRows: (rows: number) => void },
): Promise<ReadVerdict> {
  const worker = new VerifyWorker();
  const pieces = bytes.getReader();
  const stop = () => void pieces.cancel().catch(() => undefined);
  signal.addEventListener('abort', stop);
  try {
    for (;;) {
      const { done, value } = await pieces.read();
      signal.throwIfAborted();
      const told = await ask(worker, done ? { isEnd: true } : { bytes: value }, signal);
      if ('verdict' in told) return told.verdict;
      onRows(told.rows);
    }
  } finally {
    signal.removeEventListener('abort', stop);
    worker.terminate();
    stop();
  }
}

function ask(worker: Worker, message: ToWorker, signal: AbortSignal): Promise<FromWorker> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) => {
      signal.removeEventListener('abort', stop);
      resolve(data);
    };
    worker.onerror = (event) => {
      event.preventDefault();
      reject(new Error(event.message || 'the worker that verifies did not start'));
    };
    worker.postMessage(message, 'bytes' in message ? [message.bytes.buffer] : []);
  });
}
