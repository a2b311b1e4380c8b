// A real S3 server of the tests: TLS on 127.0.0.1 with a certificate of a CA of its own, objects in a folder. The server does
// not check signatures of version 4 by itself, so they are checked before it, written from the description of AWS.
import { createHash, createHmac } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import S3rver from 's3rver';
import type { S3Place } from '../../machines/console/exports/target.rules.ts';
import { borrowAuthority } from './peer-authority.ts';

/** What s3rver knows. */
export const S3_SECRET = 'S3RVER';
const OBJECT_SUFFIX = '._S3rver_object';
type Exchange = { readonly req: IncomingMessage; status: number; body: unknown };
type Layer = (ctx: Exchange, next: () => Promise<void>) => unknown;
export type S3Server = Awaited<ReturnType<typeof openS3Server>>;

/** Starts one with the bucket `fleet`. */
export async function openS3Server() {
  const folder = mkdtempSync(join(tmpdir(), 's3-server-'));
  const { authority, giveBack } = await borrowAuthority();
  const tls = await authority.issueServerCertificate(['127.0.0.1'], Date.now());
  const server = new S3rver({
    ...{ address: '127.0.0.1', port: 0, silent: true, directory: join(folder, 'objects') },
    ...{ key: Buffer.from(tls.keyPem), cert: Buffer.from(tls.pem) },
    configureBuckets: [{ name: 'fleet', configs: [] }],
  });
  const layers = Reflect.get(server, 'middleware') as Layer[];
  layers.unshift(async (ctx, next) => {
    if (isSigned(ctx.req)) return next();
    ctx.status = 403;
    ctx.body = '<Error><Code>SignatureDoesNotMatch</Code></Error>';
  });
  const { port } = await server.run();
  const place: S3Place = {
    ...{ kind: 's3', endpoint: `https://127.0.0.1:${port}`, region: 'eu-1', bucket: 'fleet' },
    ...{ accessKeyId: 'S3RVER', caPem: authority.rootsPem },
  };
  return {
    place,
    /** What the guard has to be told to let it be reached. */
    allowList: ['127.0.0.1'],
    /** The names of all objects, as they lie on its disk. */
    objects(): readonly string[] {
      return filesIn(join(folder, 'objects', 'fleet')).flatMap((path) =>
        path.endsWith(OBJECT_SUFFIX) ? [path.slice(0, -OBJECT_SUFFIX.length)] : [],
      );
    },
    /** Whether chunks lie there that nobody joined and nobody dropped. */
    hasChunks: (): boolean =>
      filesIn(join(folder, 'objects', 'fleet')).some((path) => path.includes('_S3rver_uploads/')),
    async close(): Promise<void> {
      await server.close();
      rmSync(folder, { recursive: true, force: true });
      giveBack();
    },
  };
}

function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map((one) => relative(folder, join(one.parentPath, one.name)));
}

/** Whether a request carries a signature of version 4 that our secret makes over it. */
function isSigned({ method = '', url = '', headers }: IncomingMessage): boolean {
  const given =
    /Credential=\S+?\/(\d{8})\/([\w-]+)\/s3\/aws4_request, SignedHeaders=([\w;-]+), Signature=(\w+)/;
  const found = given.exec(headers.authorization ?? '');
  if (found === null) return false;
  const [, date = '', region = '', names = '', signature = ''] = found;
  const [path = '', query = ''] = url.split('?');
  const sorted = query.split('&').filter(Boolean).sort();
  const canonical = [
    ...[
      method,
      encoded(path),
      sorted.map((one) => (one.includes('=') ? one : `${one}=`)).join('&'),
    ],
    ...names.split(';').map((name) => `${name}:${String(headers[name]).trim()}`),
    ...['', names, String(headers['x-amz-content-sha256'])],
  ].join('\n');
  const scope = `${date}/${region}/s3/aws4_request`;
  const hash = createHash('sha256').update(canonical).digest('hex');
  const text = ['AWS4-HMAC-SHA256', String(headers['x-amz-date']), scope, hash].join('\n');
  const key = [date, region, 's3', 'aws4_request'].reduce<Buffer>(
    (last, part) => createHmac('sha256', last).update(part).digest(),
    Buffer.from(`AWS4${S3_SECRET}`),
  );
  return createHmac('sha256', key).update(text).digest('hex') === signature;
}

/** A path as it is signed: every octet but the unreserved ones and the slash is written as an escape. */
function encoded(path: string): string {
  const octet = (one: string) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`;
  return path
    .split('/')
    .map((part) => encodeURIComponent(decodeURIComponent(part)).replace(/[!'()*]/g, octet))
    .join('/');
}
