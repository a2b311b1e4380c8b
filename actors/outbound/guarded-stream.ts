// A request through the guard whose answer is too large to be held: its body is handed on as it comes. Otherwise the same as
// `guarded-fetch.ts`: https alone, judged addresses, no redirect followed, an end in time. decision: D159
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { type GuardedFetchOptions, type GuardedRequest, wayTo } from './guarded-fetch.ts';
import { mistakeOfHost } from './judged-lookup.ts';
import { DestinationUnreachable, reasonOf } from './unreachable.ts';

/** Rejects with DestinationUnreachable; whoever takes the answer reads it or destroys it. */
export async function guardedStream(
  address: string,
  { method, headers, signal }: Omit<GuardedRequest, 'body'>,
  options: Omit<GuardedFetchOptions, 'answerMaxBytes' | 'takesFailures'>,
): Promise<IncomingMessage> {
  const url = new URL(address);
  const mistake =
    url.protocol === 'https:'
      ? mistakeOfHost(url.hostname, options)
      : `${url.host} is not asked by https`;
  if (mistake !== null) throw new DestinationUnreachable(mistake, 'address_refused');
  const timeout = AbortSignal.timeout(options.timeoutMs);
  const ending = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
  const way = await wayTo(url, options, ending);
  return new Promise((resolve, reject) => {
    const outgoing = request(
      url,
      {
        ...{ method, headers, ...way, signal: ending },
        ...(options.caPem === null ? {} : { ca: options.caPem }),
      },
      resolve,
    );
    outgoing.on('error', (error) => {
      const why = `${url.host}: ${error.message}`;
      reject(new DestinationUnreachable(why, reasonOf(error), { cause: error }));
    });
    outgoing.end();
  });
}
