// The Console's clock by the Date of an answer, asked without a client certificate: a Console that refuses the certificate in
// the handshake answers nothing to it, and everybody may ask for its version. Its own certificate is checked as ever.
import { createTlsAgent } from './agent.ts';
import { exchange } from './console-client.ts';

/** Milliseconds since 1970, to the second; null when nobody answers or the answer has no date. Never rejects. */
export async function askConsoleClock(
  baseUrl: URL,
  caPem: string,
  { proxyUrl, timeoutMs }: { readonly proxyUrl: URL | null; readonly timeoutMs: number },
): Promise<number | null> {
  const agent = createTlsAgent({ keyPem: null, certPem: null, caPem }, { proxyUrl });
  try {
    const { dateMs } = await exchange({
      url: new URL('/version', baseUrl),
      method: 'GET',
      body: null,
      agent,
      headers: {},
      timeoutMs,
    });
    return dateMs ?? null;
  } finally {
    agent.destroy();
  }
}
