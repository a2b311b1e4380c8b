// A request's head as uWebSockets.js hands it over. The input is written as a head: the request line, then one header a
// line. What passes has a framing that any two readers see alike; what does not is refused with a reason.
import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { readRequest } from '../../../gateway/listener/http-request.ts';
import { createPeerFingerprints } from '../../../gateway/listener/peer-fingerprints.ts';
import { REQUEST_HEADERS_MAX, REQUEST_TARGET_MAX_CHARS } from '../../../machines/limits.ts';
import { texts } from '../samples.ts';
import { demand, type FuzzTarget } from '../target.ts';
import { fakeExchange } from '../unsafe-exchange.ts';

const SINGLE = ['content-length', 'transfer-encoding', 'host', 'authorization', 'content-type'];
const peers = createPeerFingerprints(16);

const target: FuzzTarget = {
  name: 'http-request',
  modules: ['gateway/listener/http-request.ts', 'gateway/listener/peer-fingerprints.ts'],
  form: 'text',
  dictionary: [
    'content-length: ',
    'transfer-encoding: chunked',
    'host: a',
    'authorization: Bearer x',
    'content-encoding: zstd',
    'x-request-id: ',
    '\n',
    '\t',
    '__proto__: 1',
    ' ',
    '?',
  ],
  seeds: () =>
    texts(
      'post /sensors/heartbeat?a=1\nhost: c\ncontent-length: 12\ncontent-type: application/json\n',
      'get /\nhost: c\nx-request-id: abc.DEF-1\n',
      'post /x\ntransfer-encoding: chunked\n',
      'post /x\ntransfer-encoding: CHUNKED\ncontent-length: 5\n',
      'post /x\ncontent-length: 5\ncontent-length: 6\n',
      'post /x\ncontent-length: +5\n',
      'post /x\ncontent-length: 9999999999999999\n',
      'post /x\ntransfer-encoding: gzip, chunked\n',
      'get /x\nname : v\nother: \u0007\nx: a\nx: b\n',
      `get /x\n${'a: b\n'.repeat(80)}`,
      `get /${'x'.repeat(5_000)}\n`,
      'get /x\nx-request-id: a b\n__proto__: polluted\n',
    ),
  run(bytes, note) {
    const [first = '', ...lines] = bytes.toString('latin1').split('\n');
    const [method = 'get', rest = '/'] = first.split(' ', 2);
    const [path = '', query = ''] = rest.split('?', 2);
    const headers = lines
      .filter((line) => line.includes(':'))
      .map((line) => {
        const at = line.indexOf(':');
        return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()] as const;
      });
    const exchange: { req: HttpRequest; res: HttpResponse } = fakeExchange({
      method,
      path,
      query,
      headers,
      peerPem: headers.find(([name]) => name === 'peer')?.[1] ?? '',
    });
    const { facts, mistake, lacksLength } = readRequest(exchange.res, exchange.req, peers);
    demand(facts.headers.size <= REQUEST_HEADERS_MAX, 'too many headers are kept');
    demand(/^[A-Za-z0-9._-]{1,64}$/.test(facts.requestId), 'a request has no plain name');
    demand(!lacksLength || mistake !== undefined, 'a body without a length is taken');
    if (mistake !== undefined) return note(mistake);
    checkFraming(headers, facts);
    demand(path.length + query.length <= REQUEST_TARGET_MAX_CHARS, 'the target is too long');
    note(`${facts.hasBody} ${facts.clientFingerprint !== null}`);
  },
};
export default target;

type Facts = ReturnType<typeof readRequest>['facts'];

function checkFraming(headers: readonly (readonly [string, string])[], facts: Facts): void {
  const given = (name: string) => headers.filter(([one]) => one === name).map(([, text]) => text);
  for (const name of SINGLE) demand(given(name).length <= 1, `${name} was given twice`);
  const [length] = given('content-length');
  const [encoding] = given('transfer-encoding');
  demand(length === undefined || encoding === undefined, 'two framings were given');
  demand(length === undefined || /^[0-9]+$/.test(length), 'a length is no number');
  demand(String(facts.contentLength ?? '') === (length ?? '').replace(/^0+(?=\d)/, ''), 'lengths');
  demand(encoding === undefined, 'a body without a length is taken');
  demand(facts.hasBody === Number(length ?? 0) > 0, 'a body is lost');
  for (const [name, text] of headers) {
    demand(!/[\0\n\r]/.test(text), 'a header holds a line end');
    demand(name.trim() === name, 'a header has a blank in its name');
    demand(facts.headers.has(name), 'a header is lost');
  }
  const { clientFingerprint: print } = facts;
  demand(print === null || /^[0-9a-f]{64}$/.test(print), 'a fingerprint is none');
}
