// What Tetragon lost. Its kernel side counts what did not fit into its rings in a pinned map, which the bundle's own
// `bpftool` reads; its program counts the rest and tells it by its metrics only, which need a port.
import { execFile } from 'node:child_process';

import {
  TETRAGON_CALL_TIMEOUT_MS,
  TETRAGON_LOSS_ANSWER_MAX_BYTES,
} from '../../../machines/sensor/tetragon-limits.ts';
import { parseJson } from '../../../machines/wire/parse.ts';

// An import of this module would read all its exports, and with one of them load Node's own fetch: 3 MB for good.
const { get } = process.getBuiltinModule('node:http');

/** The map of counters per CPU; every 8 bytes of its value is one of them. */
export const LOSS_MAP = 'tg_stats_map';
const COUNTER_BYTES = 8;
// What its rate limit drops is not among them: the export has lines of its own for that.
const PLACES: ReadonlyMap<string, 'inKernel' | 'inProgram'> = new Map([
  ['tetragon_bpf_missed_events_total', 'inKernel'],
  ['tetragon_observer_ringbuf_events_lost_total', 'inKernel'],
  ['tetragon_observer_ringbuf_queue_events_lost_total', 'inProgram'],
  ['tetragon_notify_overflowed_events_total', 'inProgram'],
]);

/** What was lost since the start, on the way into the program and in it. */
export type TetragonLosses = { readonly inKernel: number; readonly inProgram: number };
export const NO_LOSSES: TetragonLosses = { inKernel: 0, inProgram: 0 };

/** Events the kernel side could not hand over since it was loaded; undefined when the map cannot be read. */
export async function kernelLosses(
  mapReader: string,
  pinnedMap: string,
): Promise<number | undefined> {
  const text = await new Promise<string>((resolve) => {
    const limits = {
      timeout: TETRAGON_CALL_TIMEOUT_MS,
      maxBuffer: TETRAGON_LOSS_ANSWER_MAX_BYTES,
      env: {},
    };
    execFile(mapReader, ['-j', 'map', 'dump', 'pinned', pinnedMap], limits, (error, output) =>
      resolve(error === null ? output : ''),
    );
  });
  return countersInDump(text);
}

/** The sum of all counters in a map dump of `bpftool -j`; undefined when it is none. */
export function countersInDump(text: string): number | undefined {
  const parsed = parseJson(text);
  if (!parsed.ok || !Array.isArray(parsed.value)) return undefined;
  let sum = 0;
  for (const entry of parsed.value as readonly { readonly values?: unknown }[]) {
    if (!Array.isArray(entry?.values)) return undefined;
    for (const { value } of entry.values as readonly { readonly value?: unknown }[]) {
      if (!Array.isArray(value) || value.length % COUNTER_BYTES !== 0) return undefined;
      const bytes = Buffer.from(value.map((byte) => Number(byte)));
      for (let at = 0; at < bytes.byteLength; at += COUNTER_BYTES) {
        sum += Number(bytes.readBigUInt64LE(at));
      }
    }
  }
  return sum;
}

/** Events lost anywhere in Tetragon, by its metrics; undefined when they cannot be read. Never rejects. */
export async function metricsLosses(address: string): Promise<TetragonLosses | undefined> {
  const text = await new Promise<string>((resolve) => {
    const request = get(
      `http://${address}/metrics`,
      { signal: AbortSignal.timeout(TETRAGON_CALL_TIMEOUT_MS), agent: false },
      (answer) => {
        const chunks: Buffer[] = [];
        let bytes = 0;
        answer.on('data', (chunk: Buffer) => {
          bytes += chunk.byteLength;
          if (bytes > TETRAGON_LOSS_ANSWER_MAX_BYTES) answer.destroy();
          else chunks.push(chunk);
        });
        answer.on('error', () => resolve(''));
        answer.on('close', () => resolve(''));
        answer.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
      },
    );
    request.on('error', () => resolve(''));
  });
  return countersInMetrics(text);
}

/** The sums of the loss counters in a Prometheus text; undefined when it has none of Tetragon's. */
export function countersInMetrics(text: string): TetragonLosses | undefined {
  const sums = { inKernel: 0, inProgram: 0 };
  if (!text.includes('tetragon_')) return undefined;
  for (const line of text.split('\n')) {
    const place = PLACES.get(/^[a-z_]+/.exec(line)?.[0] ?? '');
    const value = Number(line.slice(line.lastIndexOf(' ') + 1));
    if (place !== undefined && Number.isFinite(value)) sums[place] += value;
  }
  return sums;
}
