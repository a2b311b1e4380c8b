// What the spool keeps beside the machine's state: the open file, where each line lies, and the cursor. After a failed
// write the file is let go and opened anew; after a failed sync it is also rewritten, because a second sync may say yes
// although the first one lost the data.
import type { SpoolState } from '../../machines/sensor/spool.rules.ts';
import type { Files } from '../state-directory/file-port.ts';
import { createEventIndex, type EventIndex } from './event-index.ts';
import { type JournalFile, openJournal, rewriteJournal, windowReader } from './journal-file.ts';

export type SpoolStore = {
  recover(): Promise<SpoolState>;
  /** Writes at the end and answers where it begins. Rejects when the disk refuses; `recover` comes next then. */
  write(text: string, isDurable: boolean): Promise<number>;
  /** The events of these indices as JSON text, in their order; null for one that cannot be read any more. */
  read(indices: readonly number[]): Promise<readonly (string | null)[]>;
  index(): EventIndex;
  seal(cursor: unknown): void;
  /** Rewrites the journal when its dead part is large. Rejects when the disk refuses. */
  compactIfWorth(state: SpoolState): Promise<void>;
  cursor(): unknown;
  streamId(): string;
  damaged(): number;
  bytes(): number;
  close(): Promise<void>;
};

/** Makes the store; nothing is opened before `recover`. */
export function createSpoolStore(options: {
  readonly files: Files;
  readonly path: string;
  readonly random: () => Uint8Array;
  readonly minBytes: number;
}): SpoolStore {
  const { files, path } = options;
  let file: JournalFile | null = null;
  let index = createEventIndex();
  let cursor: unknown = null;
  let streamId = '';
  let damaged = 0;
  let isSuspect = false;
  let compactAboveBytes = 0;

  async function rewrite(state: SpoolState): Promise<void> {
    if (file === null) throw new Error('the journal is not open');
    const reader = windowReader(files, path);
    const header = { streamId, state, cursor, damaged };
    try {
      const content = { header, index, rawOf: reader.read };
      file = await rewriteJournal(files, path, file, content);
    } finally {
      await reader.close();
    }
  }

  async function letGo(): Promise<void> {
    const old = file;
    file = null;
    await old?.close().catch(() => undefined);
  }

  async function write(text: string, isDurable: boolean): Promise<number> {
    if (file === null) throw new Error('the journal is not open');
    let hasWritten = false;
    try {
      const at = await file.append(text);
      hasWritten = true;
      if (isDurable) await file.sync();
      return at;
    } catch (error) {
      isSuspect ||= hasWritten;
      await letGo();
      throw error;
    }
  }

  return {
    async recover() {
      await letGo();
      const opened = await openJournal(files, path);
      const { recovered } = opened;
      file = opened.file;
      index = recovered.index;
      cursor = recovered.cursor;
      damaged = recovered.damaged;
      streamId = recovered.streamId ?? Buffer.from(options.random()).toString('hex');
      if (recovered.streamId === null || isSuspect) await rewrite(recovered.spool);
      isSuspect = false;
      return recovered.spool;
    },
    write,
    async read(indices) {
      const places = indices.map((at) => index.get(at));
      const known = places.filter((place) => place !== null);
      const jsons = ((await file?.read(known)) ?? []).values();
      return places.map((place) => (place === null ? null : (jsons.next().value ?? null)));
    },
    index: () => index,
    seal(next) {
      cursor = next;
    },
    async compactIfWorth(state) {
      index.trim(state.head, state.tail);
      const bytes = file?.bytes() ?? 0;
      const dead = bytes - index.liveBytes();
      if (dead < options.minBytes || dead < index.liveBytes() || bytes < compactAboveBytes) return;
      // A disk that has no room for a rewrite is not asked again at once.
      compactAboveBytes = bytes + options.minBytes;
      try {
        await rewrite(state);
      } catch (error) {
        await letGo();
        throw error;
      }
      compactAboveBytes = 0;
    },
    cursor: () => cursor,
    streamId: () => streamId,
    damaged: () => damaged,
    bytes: () => file?.bytes() ?? 0,
    close: letGo,
  };
}
