// Writes an object and reads it back: what is answered was there a moment ago, byte for byte what was sent. decision: D157
import { createHash } from 'node:crypto';
import { Readable, Transform } from 'node:stream';
import { EXPORT_FOOTER_MAX_BYTES } from '../../machines/limits.ts';
import {
  type CopiedObject,
  type CopiedPart,
  ExportFailed,
} from '../../storage/ports/exports/exporter.ts';
import type { ObjectStore } from './object-store.ts';
import { rowsOfParquet } from './parquet-footer.ts';

type Copying = {
  readonly store: ObjectStore;
  readonly name: string;
  readonly from: Readable;
  readonly signal: AbortSignal;
};
type Read = CopiedObject & { readonly end: Buffer };

/** Copies a Parquet file. Rejects with ExportFailed when what is read back is not what was sent, or no Parquet. */
export async function copyParquet(copying: Copying): Promise<CopiedPart> {
  const { end, ...copied } = await copy(copying);
  const rows = rowsOfParquet(end);
  if (rows === null) throw new ExportFailed('the event store gave no whole Parquet file');
  return { ...copied, rows };
}

/** Copies a small text. */
export async function copyText(
  copying: Omit<Copying, 'from'> & { readonly text: string },
): Promise<CopiedObject> {
  const { bytes, sha256 } = await copy({
    ...copying,
    from: Readable.from([Buffer.from(copying.text)]),
  });
  return { bytes, sha256 };
}

async function copy({ store, name, from, signal }: Copying): Promise<Read> {
  const sent = createHash('sha256');
  let bytes = 0;
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      sent.update(chunk);
      bytes += chunk.length;
      done(null, chunk);
    },
  });
  from.on('error', (error) => counted.destroy(error));
  await store.write(name, from.pipe(counted), signal);
  const back = await readBack(store, name, signal);
  if (back === null) throw new ExportFailed('the object is not there after it was written');
  if (back.bytes !== bytes || back.sha256 !== sent.digest('hex')) {
    throw new ExportFailed('what is read back is not what was written');
  }
  return back;
}

async function readBack(
  store: ObjectStore,
  name: string,
  signal: AbortSignal,
): Promise<Read | null> {
  const from = await store.read(name, signal);
  if (from === null) return null;
  const hash = createHash('sha256');
  const tail: Buffer[] = [];
  let [bytes, kept] = [0, 0];
  for await (const chunk of from as AsyncIterable<Buffer>) {
    hash.update(chunk);
    bytes += chunk.length;
    kept += chunk.length;
    tail.push(chunk);
    while (tail.length > 1 && kept - (tail[0]?.length ?? 0) >= EXPORT_FOOTER_MAX_BYTES) {
      kept -= tail.shift()?.length ?? 0;
    }
  }
  return { bytes, sha256: hash.digest('hex'), end: Buffer.concat(tail) };
}
