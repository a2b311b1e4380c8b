// Images of a containerd: its namespaces and the images of each, two calls of its own service over its socket. Node's HTTP/2
// and a small reader do for them; the libraries of gRPC would cost every node 20 MB. decision: D76
import { connect as connectSocket } from 'node:net';
import {
  CONTAINER_NAMESPACES_MAX,
  CONTAINER_RUNTIME_ANSWER_MAX_BYTES,
  CONTAINER_RUNTIME_TIMEOUT_MS,
} from '../../../machines/pipeline-limits.ts';
import { type Image, instantOf } from './image-item.ts';
import { bytesAt, numberAt, type ProtoField, protoFields } from './proto-fields.ts';

const SERVICES = '/containerd.services';
const NAMESPACE = 'containerd-namespace';
const HEADER_WORD = /^[\w.~-]{1,76}$/;
const PREFIX_BYTES = 5;
/** A message without fields, as gRPC sends it. */
const NOTHING = Buffer.alloc(PREFIX_BYTES);
/** Kubernetes also names an image by its configuration; that is no name that a person gave. */
const BY_CONFIGURATION = 'sha256:';
type Session = import('node:http2').ClientHttp2Session;

/** What this containerd holds in all its namespaces. Rejects with the reason; ENOENT when there is no socket. */
export async function readContainerdImages(socketPath: string): Promise<readonly Image[]> {
  const { connect } = process.getBuiltinModule('node:http2');
  const session = connect('http://containerd', {
    createConnection: () => connectSocket(socketPath),
  });
  const failed = new Promise<never>((_, reject) => session.on('error', reject));
  failed.catch(() => undefined);
  const timer = setTimeout(
    () => session.destroy(new Error('containerd: it does not answer in time')),
    CONTAINER_RUNTIME_TIMEOUT_MS,
  );
  try {
    return await Promise.race([readAll(session), failed]);
  } finally {
    clearTimeout(timer);
    session.destroy();
  }
}

async function readAll(session: Session): Promise<readonly Image[]> {
  const listed = parseNamespaces(await call(session, 'namespaces.v1.Namespaces/List', {}));
  if (listed === null) throw new Error('containerd: the answer is no list of namespaces');
  const images: Image[] = [];
  for (const namespace of listed.slice(0, CONTAINER_NAMESPACES_MAX)) {
    const answer = await call(session, 'images.v1.Images/List', { [NAMESPACE]: namespace });
    const own = parseContainerdImages(answer, namespace);
    if (own === null) throw new Error('containerd: the answer is no list of images');
    images.push(...own);
  }
  return images;
}

/** The names in an answer of `Namespaces/List`; null when it is none. What no header can carry is left out. */
export function parseNamespaces(message: Buffer): readonly string[] | null {
  const fields = protoFields(message);
  if (fields === null) return null;
  const names = bytesAt(fields, 1).flatMap((one) => textsOf(protoFields(one), 1).slice(0, 1));
  return names.filter((name) => HEADER_WORD.test(name));
}

/** The images in an answer of `Images/List`, one for each digest; null when it is none. */
export function parseContainerdImages(message: Buffer, namespace: string): Image[] | null {
  const fields = protoFields(message);
  if (fields === null) return null;
  const byDigest = new Map<string, { readonly names: string[]; seconds: number | undefined }>();
  for (const bytes of bytesAt(fields, 1)) {
    const image = protoFields(bytes) ?? [];
    const [name] = textsOf(image, 1);
    const [digest] = bytesAt(image, 3).flatMap((target) => textsOf(protoFields(target), 2));
    if (name === undefined || digest === undefined || digest === '') continue;
    const own = byDigest.get(digest) ?? { names: [], seconds: undefined };
    byDigest.set(digest, own);
    const [seconds] = bytesAt(image, 7).map((time) => numberAt(protoFields(time) ?? [], 1));
    own.seconds = Math.min(own.seconds ?? Number.POSITIVE_INFINITY, seconds ?? own.seconds ?? 0);
    if (!name.startsWith(BY_CONFIGURATION)) own.names.push(name);
  }
  return [...byDigest].map(([id, { names, seconds }]) => {
    const createdAt = instantOf(seconds);
    return { runtime: 'containerd', namespace, id, names, createdAt };
  });
}

function textsOf(fields: readonly ProtoField[] | null, number: number): readonly string[] {
  return bytesAt(fields ?? [], number).map((bytes) => bytes.toString('utf8'));
}

/** The message that one call answers. */
function call(
  session: Session,
  method: string,
  headers: Readonly<Record<string, string>>,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const stream = session.request({
      ...{ ':method': 'POST', ':path': `${SERVICES}.${method}` },
      ...{ 'content-type': 'application/grpc', te: 'trailers', ...headers },
    });
    const chunks: Buffer[] = [];
    let bytes = 0;
    let status = '';
    const noteStatus = (told: Readonly<Record<string, unknown>>): void => {
      status = String(told['grpc-status'] ?? status);
    };
    stream.on('response', noteStatus);
    stream.on('trailers', noteStatus);
    stream.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= CONTAINER_RUNTIME_ANSWER_MAX_BYTES) chunks.push(chunk);
      else stream.destroy(new Error('containerd: the answer is too long'));
    });
    stream.on('error', reject);
    stream.on('end', () => {
      const message = messageOf(Buffer.concat(chunks));
      if (status === '0' && message !== null) resolve(message);
      else reject(new Error(`containerd: ${method} answers with status ${status || 'none'}`));
    });
    stream.on('close', () => reject(new Error('containerd: the connection ended')));
    stream.end(NOTHING);
  });
}

/** The one message of an answer: a byte that says it is not compressed, its length, itself. */
function messageOf(body: Buffer): Buffer | null {
  if (body.length < PREFIX_BYTES || body[0] !== 0) return null;
  const message = body.subarray(PREFIX_BYTES);
  return message.length === body.readUInt32BE(1) ? message : null;
}
