// The changes of a list, told by the API server as lines of one long answer. It ends by itself after minutes, is begun anew
// with the token of that time, and one that says nothing for longer than it may last is given up. decision: D120
import type { IncomingMessage } from 'node:http';
import { finished } from 'node:stream';
import {
  KUBERNETES_TIMEOUT_MS,
  KUBERNETES_WATCH_IDLE_MS,
  KUBERNETES_WATCH_LINE_MAX_BYTES,
  KUBERNETES_WATCH_MS,
} from '../../machines/pipeline-limits.ts';
import { ask, type KubernetesPeer, reasonOf, sentenceOf, statusReason } from './kubernetes-get.ts';

export type WatchEnd =
  /** As agreed: to be begun again after the version that was told last. */
  | { readonly kind: 'over' }
  /** It cannot go on from this version: the list has to be read anew. */
  | { readonly kind: 'expired' }
  | { readonly kind: 'failed'; readonly reason: string };
export type Watching = {
  /** The server tells changes from now on. */
  opened(): void;
  /** Hears every line; an answer ends the watch. */
  line(text: string): WatchEnd | null;
};

const NEWLINE = 0x0a;
const GONE = 410;

/** Watches what stands behind a path from a version on, until it ends. Never rejects. */
export function watch(
  peer: KubernetesPeer,
  version: string,
  watching: Watching,
): Promise<WatchEnd> {
  const url = new URL(peer.url);
  url.searchParams.set('watch', '1');
  url.searchParams.set('allowWatchBookmarks', 'true');
  url.searchParams.set('resourceVersion', version);
  url.searchParams.set('timeoutSeconds', String(KUBERNETES_WATCH_MS / 1_000));
  return new Promise((resolve) => {
    const fail = (reason: string): void =>
      resolve({ kind: 'failed', reason: sentenceOf(peer, reason) });
    // A connection of its own, which no other request waits for and which keeps no program running.
    const asked = ask({ ...peer, url }, { accept: 'application/json', agent: false }, (answer) => {
      asked.setTimeout(KUBERNETES_WATCH_IDLE_MS);
      const { statusCode = 0 } = answer;
      if (statusCode === 200) {
        watching.opened();
        readLines(answer, watching.line).then(resolve, (error) => fail(reasonOf(error, peer)));
        return;
      }
      answer.destroy();
      if (statusCode === GONE) resolve({ kind: 'expired' });
      else fail(`changes are not told, lists are read instead: ${statusReason(statusCode)}`);
    });
    asked.setTimeout(KUBERNETES_TIMEOUT_MS, () => asked.destroy(new Error('timed out')));
    asked.on('socket', (socket) => socket.unref());
    asked.on('error', (error) => fail(reasonOf(error, peer)));
  });
}

/** Gives the lines of an answer on, each bounded in bytes. Rejects when it breaks off or a line is too long. */
function readLines(
  answer: IncomingMessage,
  onLine: (text: string) => WatchEnd | null,
): Promise<WatchEnd> {
  return new Promise((resolve, reject) => {
    let parts: Buffer[] = [];
    let bytes = 0;
    const end = (how: WatchEnd): void => {
      resolve(how);
      answer.destroy();
    };
    const take = (piece: Buffer): boolean => {
      bytes += piece.length;
      if (bytes > KUBERNETES_WATCH_LINE_MAX_BYTES) {
        answer.destroy(new Error('a change is too long'));
        return false;
      }
      parts.push(piece);
      return true;
    };
    answer.on('data', (chunk: Buffer) => {
      let from = 0;
      for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
        if (answer.destroyed || !take(chunk.subarray(from, at))) return;
        const how = bytes === 0 ? null : onLine(Buffer.concat(parts).toString());
        [parts, bytes, from] = [[], 0, at + 1];
        if (how !== null) return end(how);
      }
      if (!answer.destroyed) take(chunk.subarray(from));
    });
    finished(answer, (error) => (error ? reject(error) : resolve({ kind: 'over' })));
  });
}
