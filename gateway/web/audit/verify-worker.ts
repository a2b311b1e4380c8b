// Verifies a trail beside the page, so that a million rows do not hold up a click. It is handed the bytes of an export and
// asks for nothing itself: its content policy lets it reach no address. decision: D95; invariant: I17
import { type ReadVerdict, trailReader } from '../../../machines/trust/audit-trail.rules.ts';
import { BROWSER_CRYPTO } from './chain-crypto.ts';
import { lineSplitter } from './line-splitter.ts';

/** A piece of the export, or its end. */
export type ToWorker = { readonly bytes: Uint8Array<ArrayBuffer> } | { readonly isEnd: true };
/** How far it is, which also asks for the next piece; at the end what was found. */
export type FromWorker = { readonly rows: number } | { readonly verdict: ReadVerdict };

const reader = trailReader(BROWSER_CRYPTO);
const lines = lineSplitter(reader.read);
const say = (message: FromWorker) => self.postMessage(message);

self.addEventListener('message', ({ data }: MessageEvent<ToWorker>) => {
  if ('bytes' in data) {
    lines.push(data.bytes);
    say({ rows: reader.rows() });
  } else {
    lines.end();
    say({ verdict: reader.end() });
  }
});
