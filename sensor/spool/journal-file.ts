// The journal on the disk: opened and replayed, appended to, read back, rewritten without its dead part.
// A failed call leaves the file in doubt; the caller then opens it anew. decision: D13
import { dirname } from 'node:path';
import { SPOOL_COPY_CHUNK_BYTES } from '../../machines/limits.ts';
import type { SpoolState } from '../../machines/sensor/spool.rules.ts';
import type { Files, OpenFile } from '../state-directory/file-port.ts';
import type { EventIndex, LinePlace } from './event-index.ts';
import { decodeLine, encodeHeader, type JournalHeader } from './journal.ts';
import { createReplay, type RecoveredJournal } from './recovery.ts';

const FILE_MODE = 0o600;
const NEWLINE = 0x0a;

export type JournalFile = {
  /** Bytes in the file. */
  bytes(): number;
  /** Adds text at the end and answers where it begins; durable after `sync`. */
  append(text: string): Promise<number>;
  sync(): Promise<void>;
  /** The events at these places, as JSON text; null for a line that cannot be read any more. Neighbours are read at once. */
  read(places: readonly LinePlace[]): Promise<readonly (string | null)[]>;
  close(): Promise<void>;
};

export type OpenedJournal = { readonly file: JournalFile; readonly recovered: RecoveredJournal };

/** Opens or makes the file, replays it and cuts its torn tail off. */
export async function openJournal(files: Files, path: string): Promise<OpenedJournal> {
  await files.remove(temporaryOf(path));
  const open = await files.open(path, 'append', FILE_MODE);
  try {
    const size = (await files.stat(path))?.bytes ?? 0;
    const recovered = await replay(open, size);
    if (recovered.length < size) {
      await open.truncate(recovered.length);
      await open.sync();
    }
    return { file: journalFile(open, recovered.length), recovered };
  } catch (error) {
    await open.close();
    throw error;
  }
}

/**
 * Writes header and held events to a new file and puts it in the old one's place; `index` then names the new places.
 * The old file stays valid until the rename. `source` is closed when it succeeds.
 */
export async function rewriteJournal(
  files: Files,
  path: string,
  source: JournalFile,
  content: {
    readonly header: JournalHeader;
    readonly index: EventIndex;
    readonly rawOf: RawReader;
  },
): Promise<JournalFile> {
  const temporary = temporaryOf(path);
  const target = await files.open(temporary, 'replace', FILE_MODE);
  const places: [index: number, at: number, bytes: number][] = [];
  let length = 0;
  try {
    let chunk: Buffer[] = [Buffer.from(encodeHeader(content.header))];
    let chunkBytes = chunk[0]?.length ?? 0;
    const flush = async (): Promise<void> => {
      await target.append(Buffer.concat(chunk));
      length += chunkBytes;
      chunk = [];
      chunkBytes = 0;
    };
    for (const index of heldIndices(content.header.state)) {
      const place = content.index.get(index);
      if (place === null) continue;
      const raw = await content.rawOf(place.at, place.bytes);
      places.push([index, length + chunkBytes, place.bytes]);
      chunk.push(raw);
      chunkBytes += raw.length;
      if (chunkBytes >= SPOOL_COPY_CHUNK_BYTES) await flush();
    }
    await flush();
    await target.sync();
  } finally {
    await target.close();
  }
  await files.rename(temporary, path);
  await files.syncDirectory(dirname(path));
  const open = await files.open(path, 'append', FILE_MODE);
  await source.close();
  for (const [index, at, bytes] of places) content.index.set(index, at, bytes);
  return journalFile(open, length);
}

export type RawReader = (at: number, bytes: number) => Promise<Buffer>;

/** Reads lines through a window, so that a rewrite does not ask the disk once for every event. */
export function windowReader(
  files: Files,
  path: string,
): { read: RawReader; close(): Promise<void> } {
  let open: OpenFile | null = null;
  let window = Buffer.alloc(0);
  let windowAt = 0;
  return {
    async read(at, bytes) {
      open ??= await files.open(path, 'read', FILE_MODE);
      if (at < windowAt || at + bytes > windowAt + window.length) {
        const next = Buffer.alloc(Math.max(bytes, SPOOL_COPY_CHUNK_BYTES));
        window = next.subarray(0, await open.read(next, at));
        windowAt = at;
      }
      return window.subarray(at - windowAt, at - windowAt + bytes);
    },
    async close() {
      await open?.close();
      open = null;
    },
  };
}

function journalFile(open: OpenFile, initialBytes: number): JournalFile {
  let length = initialBytes;
  return {
    bytes: () => length,
    async append(text) {
      const at = length;
      const bytes = Buffer.from(text);
      await open.append(bytes);
      length += bytes.length;
      return at;
    },
    sync: () => open.sync(),
    async read(places) {
      const jsons: (string | null)[] = [];
      for (const run of runsOf(places)) {
        const from = run[0]?.at ?? 0;
        const text = Buffer.alloc(run.reduce((sum, { bytes }) => sum + bytes, 0));
        const filled = text.subarray(0, await open.read(text, from));
        for (const { at, bytes } of run) {
          const decoded = decodeLine(filled.subarray(at - from, at - from + bytes - 1));
          jsons.push(decoded.kind === 'event' ? decoded.json.toString() : null);
        }
      }
      return jsons;
    },
    close: () => open.close(),
  };
}

async function replay(open: OpenFile, size: number): Promise<RecoveredJournal> {
  const replaying = createReplay();
  let carry = Buffer.alloc(0);
  let carryAt = 0;
  for (let at = 0; at < size; ) {
    const chunk = Buffer.alloc(Math.min(SPOOL_COPY_CHUNK_BYTES, size - at));
    const filled = await open.read(chunk, at);
    if (filled === 0) break;
    at += filled;
    const text = Buffer.concat([carry, chunk.subarray(0, filled)]);
    let start = 0;
    for (let end = text.indexOf(NEWLINE); end >= 0; end = text.indexOf(NEWLINE, start)) {
      replaying.line(text.subarray(start, end), carryAt + start, end + 1 - start);
      start = end + 1;
    }
    carryAt += start;
    carry = text.subarray(start);
  }
  return replaying.finish();
}

/** Places that follow each other without a gap, a chunk at most. */
function* runsOf(places: readonly LinePlace[]): Generator<readonly LinePlace[]> {
  let run: LinePlace[] = [];
  let [end, bytes] = [-1, 0];
  for (const place of places) {
    if (run.length > 0 && (place.at !== end || bytes + place.bytes > SPOOL_COPY_CHUNK_BYTES)) {
      yield run;
      [run, bytes] = [[], 0];
    }
    run.push(place);
    bytes += place.bytes;
    end = place.at + place.bytes;
  }
  if (run.length > 0) yield run;
}

function* heldIndices(state: SpoolState): Generator<number> {
  let at = state.head;
  for (const range of [...state.done, { from: state.tail, to: state.tail }]) {
    for (; at < range.from; at += 1) yield at;
    at = range.to;
  }
}

function temporaryOf(path: string): string {
  return `${path}.tmp`;
}
