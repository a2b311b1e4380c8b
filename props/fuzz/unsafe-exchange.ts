// A request and a response with only the methods that `readRequest` calls; the casts say that nothing else is there.
import type { HttpRequest, HttpResponse } from 'uWebSockets.js';

export type Head = {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly peerPem: string;
};

/** Stands for what uWebSockets.js hands to a handler. */
export function fakeExchange(head: Head): { req: HttpRequest; res: HttpResponse } {
  const req = {
    forEach(visit: (name: string, value: string) => void) {
      for (const [name, value] of head.headers) visit(name, value);
    },
    getUrl: () => head.path,
    getQuery: () => head.query,
    getMethod: () => head.method,
  };
  const res = {
    getRemoteAddressAsText: () => new TextEncoder().encode('127.0.0.1').buffer,
    getX509Certificate: () => head.peerPem,
  };
  return { req: req as unknown as HttpRequest, res: res as unknown as HttpResponse };
}
