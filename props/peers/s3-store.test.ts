// Objects against a real S3 server: what is written is read back the same, however large; what is refused is told; and no
// address gets past the guard. decision: D158, D159
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { copyParquet, copyText } from '../../actors/exports/copy-object.ts';
import { createDirectoryStore } from '../../actors/exports/directory-store.ts';
import type { ObjectStore } from '../../actors/exports/object-store.ts';
import { createS3Store } from '../../actors/exports/s3-store.ts';
import { openS3Server, S3_SECRET, type S3Server } from './s3-server.ts';

const CHUNK_BYTES = 64 * 1_024;
const { signal } = new AbortController();
const folder = mkdtempSync(join(tmpdir(), 'objects-'));
let server: S3Server;
let bucket: ObjectStore;
beforeAll(async () => {
  server = await openS3Server();
  bucket = storeOf({});
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

function storeOf(more: { secretAccessKey?: string; bucket?: string; endpoint?: string }) {
  const { secretAccessKey = S3_SECRET, ...place } = more;
  const { allowList } = server;
  const of = { ...server.place, ...place };
  return createS3Store({ place: of, allowList, secretAccessKey, chunkBytes: CHUNK_BYTES });
}
const pieces = (bytes: Buffer) =>
  Readable.from(
    Array.from({ length: Math.ceil(bytes.length / 10_007) }, (_, at) =>
      bytes.subarray(at * 10_007, (at + 1) * 10_007),
    ),
  );
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

describe.each([
  ['a bucket', () => bucket],
  ['a folder', () => createDirectoryStore(folder)],
] as const)('objects in %s', (_, store) => {
  it.each([0, 1, CHUNK_BYTES, CHUNK_BYTES + 1, 3 * CHUNK_BYTES, 5 * CHUNK_BYTES + 7])(
    'should be read back as they were written, of %d bytes',
    async (length) => {
      const name = `p/date=2026-11-24/of-${length}.bin`;
      const bytes = randomBytes(length);
      await store().write(name, pieces(bytes), signal);
      const back = await store().read(name, signal);
      expect(sha256(await buffer(back ?? Readable.from([])))).toBe(sha256(bytes));
    },
  );

  it('should be replaced under their name, and removed', async () => {
    await store().write('twice', pieces(Buffer.from('one')), signal);
    const copied = await copyText({ store: store(), name: 'twice', text: 'two', signal });
    expect(copied).toEqual({ bytes: 3, sha256: sha256(Buffer.from('two')) });
    await store().remove('twice', signal);
    await store().remove('twice', signal);
    expect(await store().read('twice', signal)).toBeNull();
  });

  it('should not be there when what they are made of breaks', async () => {
    async function* broken() {
      yield randomBytes(3 * CHUNK_BYTES);
      throw new Error('the event store went away');
    }
    const writing = store().write('broken', Readable.from(broken()), signal);
    await expect(writing).rejects.toThrow('went away');
    expect(await store().read('broken', signal)).toBeNull();
  });

  it('should be refused as Parquet when their end was cut', async () => {
    const from = Readable.from([Buffer.from('PAR1 and no end')]);
    const copying = copyParquet({ store: store(), name: 'cut.parquet', from, signal });
    await expect(copying).rejects.toThrow('no whole Parquet');
  });
});

it('should leave no file half written in a folder', () => {
  const names = readdirSync(folder, { recursive: true }).map(String);
  expect(names.filter((name) => name.endsWith('.partial'))).toEqual([]);
});

describe('a bucket', () => {
  const put = (store: ObjectStore) => store.write('x', Readable.from([Buffer.from('x')]), signal);

  it('should be told that it refuses, with its own word for it', async () => {
    await expect(put(storeOf({ secretAccessKey: 'wrong' }))).rejects.toThrow(
      /403 SignatureDoesNotMatch/,
    );
    await expect(put(storeOf({ bucket: 'absent' }))).rejects.toThrow(/404 NoSuchBucket/);
  });

  it('should not be asked when its certificate is of another authority', async () => {
    const place = { ...server.place, caPem: null };
    const { allowList } = server;
    const store = createS3Store({ place, allowList, secretAccessKey: S3_SECRET });
    await expect(put(store)).rejects.toThrow(/self-signed|unable to/i);
  });
});
