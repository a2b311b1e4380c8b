// Small peers that speak as much of a container runtime as is asked of it, on sockets of a temporary folder.
import { createServer, type Server } from 'node:http';
import { createServer as createHttp2, type Http2Server } from 'node:http2';

/** A field that holds a message, text or bytes. */
export function protoBytes(number: number, content: Buffer | string): Buffer {
  const bytes = Buffer.from(content);
  return Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes]);
}

/** A field that holds a whole number. */
export function protoNumber(number: number, value: number): Buffer {
  return Buffer.concat([varint(number * 8), varint(value)]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  return Buffer.from([...bytes, rest]);
}

/** An image as containerd tells it. */
export function protoImage(name: string, digest: string, seconds = 1_790_000_000): Buffer {
  const target = Buffer.concat([
    protoBytes(1, 'application/vnd.oci.image.manifest.v1+json'),
    protoBytes(2, digest),
    protoNumber(3, 1_234),
  ]);
  const parts = [
    protoBytes(1, name),
    protoBytes(3, target),
    protoBytes(7, protoNumber(1, seconds)),
  ];
  return protoBytes(1, Buffer.concat(parts));
}

/** A Docker that answers one text, or a status. */
export async function dockerPeer(socket: string, answer: () => string | number): Promise<Server> {
  const server = createServer((_, response) => {
    const told = answer();
    if (typeof told === 'number') response.writeHead(told).end();
    else response.end(told);
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  return server;
}

export type ContainerdAnswer = { readonly body?: Buffer; readonly status?: string };

/** A containerd that answers by method and namespace; without a status it says that all is well. */
export async function containerdPeer(
  socket: string,
  answer: (method: string, namespace: string) => ContainerdAnswer | null,
): Promise<Http2Server> {
  const server = createHttp2();
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined);
    const method = String(headers[':path']).split('.').at(-1) ?? '';
    const told = answer(method, String(headers['containerd-namespace'] ?? ''));
    // Silence.
    if (told === null) return;
    stream.respond(
      { ':status': 200, 'content-type': 'application/grpc' },
      { waitForTrailers: true },
    );
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': told.status ?? '0' }));
    stream.end(told.body);
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  return server;
}

/** A message as it travels: not compressed, with its length. */
export function framed(message: Buffer): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}
