// Objects in a bucket of an S3 service: every request signed with Signature Version 4 over the hash of its body, and sent
// through the guard. What is larger than one chunk goes up in several, and is there once the service joined them.
// decision: D158, D159
import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { AwsV4Signer } from 'aws4fetch';
import type { S3Place } from '../../machines/console/exports/target.rules.ts';
import {
  EXPORT_ANSWER_MAX_BYTES,
  EXPORT_REQUEST_TIMEOUT_MS,
  EXPORT_STEP_TIMEOUT_MS,
  EXPORT_UPLOAD_CHUNK_BYTES,
} from '../../machines/limits.ts';
import { policyOfList } from '../outbound/address-rules.ts';
import { createGuardedFetch, type GuardedFetch } from '../outbound/guarded-fetch.ts';
import { guardedStream } from '../outbound/guarded-stream.ts';
import { proxyOf } from '../outbound/outbound-post.ts';
import type { ObjectStore } from './object-store.ts';

export type S3Options = {
  readonly place: S3Place;
  readonly secretAccessKey: string;
  readonly allowList: readonly string[];
  /** Of one request, while it is not smaller. */
  readonly chunkBytes?: number;
  /** How long one request may take. */
  readonly timeoutMs?: number;
};
type Signed = { readonly url: string; readonly headers: Readonly<Record<string, string>> };
type Part = { readonly number: number; readonly etag: string };
type S3 = {
  readonly options: S3Options;
  readonly ask: GuardedFetch;
};

/** Makes the store; it connects with its first request. */
export function createS3Store(options: S3Options): ObjectStore {
  const { place, allowList } = options;
  const host = new URL(place.endpoint).hostname.replace(/^\[|\]$/g, '');
  const policy = policyOfList(allowList, host);
  const { timeoutMs = EXPORT_REQUEST_TIMEOUT_MS } = options;
  const way = { ...policy, caPem: place.caPem, proxy: proxyOf(place.proxyUrl ?? null, allowList) };
  const ask = createGuardedFetch({
    ...{ ...way, timeoutMs, takesFailures: true, answerMaxBytes: EXPORT_ANSWER_MAX_BYTES },
  });
  const s3 = { options, ask };
  return {
    write: (name, from, signal) => write(s3, name, from, signal),
    async read(name, signal) {
      const { url, headers } = await signed(options, 'GET', name, {});
      const answer = await guardedStream(
        url,
        { method: 'GET', headers, signal },
        { ...way, timeoutMs: options.timeoutMs ?? EXPORT_STEP_TIMEOUT_MS },
      );
      if (answer.statusCode === 200) return answer;
      answer.destroy();
      if (answer.statusCode === 404) return null;
      throw new Error(`the bucket answers ${answer.statusCode} to a read`);
    },
    async remove(name, signal) {
      await exchange(s3, { method: 'DELETE', name, signal, isAbsentFine: true });
    },
  };
}

async function write(s3: S3, name: string, from: Readable, signal: AbortSignal): Promise<void> {
  const { chunkBytes = EXPORT_UPLOAD_CHUNK_BYTES } = s3.options;
  let uploadId: string | null = null;
  const parts: Part[] = [];
  try {
    for await (const { bytes, isLast } of chunksOf(from, chunkBytes)) {
      if (isLast && parts.length === 0) {
        await exchange(s3, { method: 'PUT', name, body: bytes, signal });
        return;
      }
      uploadId ??= await beginUpload(s3, name, signal);
      parts.push(await uploadPart(s3, { name, uploadId, number: parts.length + 1, bytes, signal }));
    }
    if (uploadId !== null) await endUpload(s3, { name, uploadId, parts, signal });
  } catch (error) {
    // Chunks that nobody joins cost room; one that cannot be dropped now is the bucket's own rule of expiry to drop.
    if (uploadId !== null) {
      const query = { uploadId };
      const late = AbortSignal.timeout(EXPORT_REQUEST_TIMEOUT_MS);
      await exchange(s3, { method: 'DELETE', name, query, signal: late }).catch(() => undefined);
    }
    throw error;
  }
}

async function beginUpload(s3: S3, name: string, signal: AbortSignal): Promise<string> {
  const text = await exchange(s3, { method: 'POST', name, query: { uploads: '' }, signal });
  const [, uploadId] = /<UploadId>([^<]{1,1024})<\/UploadId>/.exec(text.body) ?? [];
  if (uploadId === undefined) throw new Error('the bucket began no upload');
  return uploadId;
}

async function uploadPart(
  s3: S3,
  of: {
    readonly name: string;
    readonly uploadId: string;
    readonly number: number;
    readonly bytes: Buffer;
    readonly signal: AbortSignal;
  },
): Promise<Part> {
  const { name, uploadId, number, bytes, signal } = of;
  const query = { partNumber: String(number), uploadId };
  const { etag } = await exchange(s3, { method: 'PUT', name, query, body: bytes, signal });
  if (etag === null) throw new Error('the bucket gave no tag for a chunk');
  return { number, etag };
}

async function endUpload(
  s3: S3,
  of: {
    readonly name: string;
    readonly uploadId: string;
    readonly parts: readonly Part[];
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const { name, uploadId, parts, signal } = of;
  const rows = parts.map(
    ({ number, etag }) =>
      `<Part><PartNumber>${number}</PartNumber><ETag>${escapedXml(etag)}</ETag></Part>`,
  );
  const text = `<CompleteMultipartUpload>${rows.join('')}</CompleteMultipartUpload>`;
  const answer = await exchange(s3, {
    ...{ method: 'POST', name, query: { uploadId }, body: Buffer.from(text), signal },
  });
  // The service may say 200 first and find out then.
  if (/<Error>/.test(answer.body))
    throw new Error(`the bucket joined nothing: ${codeOf(answer.body)}`);
}

type Exchange = {
  readonly method: string;
  readonly name: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  readonly signal: AbortSignal;
  readonly isAbsentFine?: boolean;
};

async function exchange(
  { options, ask }: S3,
  { method, name, query = {}, body, signal, isAbsentFine = false }: Exchange,
): Promise<{ readonly body: string; readonly etag: string | null }> {
  const { url, headers } = await signed(options, method, name, query, body);
  const response = await ask(url, { method, headers, body, signal });
  const text = await response.text();
  const isFine = response.status >= 200 && response.status < 300;
  if (!isFine && !(isAbsentFine && response.status === 404)) {
    throw new Error(`the bucket answers ${response.status} ${codeOf(text)}`.trimEnd());
  }
  return { body: text, etag: response.headers.get('etag') };
}

async function signed(
  { place, secretAccessKey }: S3Options,
  ...[method, name, query, body]: [
    method: string,
    name: string,
    query: Readonly<Record<string, string>>,
    body?: Buffer,
  ]
): Promise<Signed> {
  const { region, accessKeyId } = place;
  const url = new URL(`/${place.bucket}/${name}`, place.endpoint);
  for (const [key, value] of Object.entries(query)) url.searchParams.set(key, value);
  const sha256 = createHash('sha256')
    .update(body ?? '')
    .digest('hex');
  const signer = new AwsV4Signer({
    ...{ method, url: url.toString(), region, service: 's3', accessKeyId, secretAccessKey },
    headers: { 'x-amz-content-sha256': sha256 },
  });
  const { url: to, headers } = await signer.sign();
  return { url: to.toString(), headers: Object.fromEntries(headers) };
}

/** Chunks of one size, the last one smaller or whole; a stream without bytes is one empty chunk. */
async function* chunksOf(
  from: Readable,
  size: number,
): AsyncGenerator<{ readonly bytes: Buffer; readonly isLast: boolean }> {
  let held: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of from as AsyncIterable<Buffer>) {
    held.push(chunk);
    bytes += chunk.length;
    if (bytes <= size) continue;
    let whole = Buffer.concat(held);
    while (whole.length > size) {
      yield { bytes: whole.subarray(0, size), isLast: false };
      whole = whole.subarray(size);
    }
    held = [whole];
    bytes = whole.length;
  }
  yield { bytes: Buffer.concat(held), isLast: true };
}

function codeOf(text: string): string {
  return /<Code>([A-Za-z0-9]{1,64})<\/Code>/.exec(text)?.[1] ?? '';
}

function escapedXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
