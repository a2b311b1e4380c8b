// The embedded ClickHouse: a process of its own that serves chDB behind the ClickHouse HTTP interface on loopback, so that
// the Console talks to it exactly as to a real server. It outlives a Console that is killed; the next one takes it over.
// decision: D7
import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gunzip, gzip, zstdCompress, zstdDecompress } from 'node:zlib';
import { EMBEDDED_BODY_MAX_BYTES, STORE_STOP_TIMEOUT_MS } from '../../machines/limits.ts';
import { type ChdbEngine, openChdbEngine } from './chdb-engine.ts';
import { planRequest } from './chdb-request.ts';

export type ChdbServerConfig = {
  readonly folder: string;
  readonly port: number;
  readonly username: string;
  readonly password: string;
};

const STATUS_OF_CODE: Readonly<Record<number, number>> = {
  60: 404,
  62: 400,
  81: 404,
  159: 408,
  516: 401,
};
const [unzstd, unzip, zstd, zip] = [zstdDecompress, gunzip, zstdCompress, gzip].map((fn) =>
  promisify(fn as typeof gunzip),
) as [Codec, Codec, Codec, Codec];
type Codec = (data: Uint8Array, options?: { maxOutputLength?: number }) => Promise<Buffer>;

const config = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as ChdbServerConfig;
const engine = openChdbEngine(config.folder);
const server = createServer((request, response) => {
  serve(request, response, engine).catch((error: unknown) => answerError(response, error));
});
server.listen(config.port, '127.0.0.1');
server.on('error', (error) => {
  process.stderr.write(`embedded ClickHouse cannot listen: ${error.message}\n`);
  process.exit(1);
});
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void stop());
// A terminal that goes away takes no database with it.
process.on('SIGHUP', () => {});

async function stop(): Promise<void> {
  setTimeout(() => process.exit(1), STORE_STOP_TIMEOUT_MS).unref();
  server.close();
  server.closeIdleConnections();
  await engine.close();
  process.exit(0);
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  db: ChdbEngine,
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://localhost');
  if (url.pathname === '/ping') {
    response.end('Ok.\n');
    return;
  }
  if (!isAdmitted(request, url)) {
    response.writeHead(401, { 'x-clickhouse-exception-code': '516' });
    response.end('Code: 516. DB::Exception: Authentication failed. (AUTHENTICATION_FAILED)\n');
    return;
  }
  const body = await readBody(request);
  const plan = planRequest(url, body);
  if (typeof plan === 'string') throw new Error(plan);
  const id = plan.queryId ?? randomUUID();
  // Whoever asked may go away; nobody needs the answer then.
  response.on('close', () => {
    if (!response.writableFinished) db.cancel(id).catch(() => {});
  });
  const answer = await db.run(plan, plan.insert === null ? Buffer.alloc(0) : body, id);
  response.setHeader('x-clickhouse-query-id', id);
  response.setHeader('x-clickhouse-format', plan.format);
  response.setHeader('x-clickhouse-summary', JSON.stringify(answer.summary));
  response.setHeader('content-type', 'text/plain; charset=UTF-8');
  const { bytes, encoding } = await encode(answer.bytes, plan.wantsCompression, request);
  if (encoding !== null) response.setHeader('content-encoding', encoding);
  response.end(bytes);
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > EMBEDDED_BODY_MAX_BYTES)
      throw new Error('Code: 307. DB::Exception: The body is too large. (TOO_MANY_BYTES)');
    chunks.push(chunk);
  }
  const raw = Buffer.concat(chunks);
  const limit = { maxOutputLength: EMBEDDED_BODY_MAX_BYTES };
  const encoding = request.headers['content-encoding'];
  if (encoding === 'zstd') return unzstd(raw, limit);
  return encoding === 'gzip' ? unzip(raw, limit) : raw;
}

async function encode(
  bytes: Uint8Array,
  isWanted: boolean,
  request: IncomingMessage,
): Promise<{ bytes: Uint8Array; encoding: string | null }> {
  const accepted = String(request.headers['accept-encoding'] ?? '');
  if (!isWanted || bytes.length === 0) return { bytes, encoding: null };
  if (accepted.includes('zstd')) return { bytes: await zstd(bytes), encoding: 'zstd' };
  if (accepted.includes('gzip')) return { bytes: await zip(bytes), encoding: 'gzip' };
  return { bytes, encoding: null };
}

function isAdmitted(request: IncomingMessage, url: URL): boolean {
  const [scheme, encoded = ''] = (request.headers.authorization ?? '').split(' ');
  const basic = scheme === 'Basic' ? Buffer.from(encoded, 'base64').toString() : ':';
  const user =
    request.headers['x-clickhouse-user'] ??
    url.searchParams.get('user') ??
    basic.slice(0, basic.indexOf(':'));
  const key =
    request.headers['x-clickhouse-key'] ??
    url.searchParams.get('password') ??
    basic.slice(basic.indexOf(':') + 1);
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(
    digest(`${user}\n${key}`),
    digest(`${config.username}\n${config.password}`),
  );
}

function answerError(response: ServerResponse, error: unknown): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const message = error instanceof Error ? error.message : String(error);
  const text = message.startsWith('Code:')
    ? message
    : `Code: 1002. DB::Exception: ${message} (UNKNOWN_EXCEPTION)`;
  const code = Number(/^Code: (\d+)/.exec(text)?.[1] ?? 1_002);
  response.writeHead(STATUS_OF_CODE[code] ?? 500, {
    'x-clickhouse-exception-code': String(code),
    'content-type': 'text/plain; charset=UTF-8',
  });
  response.end(`${text}\n`);
}
