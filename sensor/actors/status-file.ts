// run/status.json: a small picture of the running Sensor for `status`, replaced as a whole. Nothing depends on it.
import { join } from 'node:path';
import type { Settled } from '../../machines/sensor/loss-ledger.rules.ts';
import type { Files } from '../state-directory/file-port.ts';
import type { SensorFacts } from './facts.ts';

export const STATUS_FILE = join('run', 'status.json');
export const TOKEN_DROP = join('run', 'token');

export type StatusFile = {
  /** Replaces the picture with these facts and `more` members, one after another; a disk that refuses is not worth a word here. Never rejects. */
  write(
    facts: SensorFacts,
    spool: { readonly depth: number; readonly discarded: number; readonly settled: Settled },
    more: readonly Readonly<Record<string, unknown>>[],
  ): Promise<void>;
  /** A token that `enroll` left for the running Sensor; it is removed when read. */
  takeToken(): Promise<string | null>;
};

/** Binds the files that a running Sensor and its other commands leave for each other. */
export function createStatusFile(files: Files, stateDir: string, now: () => number): StatusFile {
  const directory = join(stateDir, 'run');
  const file = join(stateDir, STATUS_FILE);
  let isMade = false;
  // What a crash left half written goes first.
  let last: Promise<void> = files.remove(`${file}.new`).catch(() => undefined);

  async function replace(text: string): Promise<void> {
    try {
      if (!isMade) await files.makeDirectory(directory, 0o700);
      const next = await files.open(`${file}.new`, 'replace', 0o600);
      try {
        await next.append(Buffer.from(text));
      } finally {
        await next.close();
      }
      await files.rename(`${file}.new`, file);
      isMade = true;
    } catch {
      // The next one may succeed, in a folder made anew.
      isMade = false;
    }
  }

  return {
    write(facts, spool, more) {
      const body = {
        pid: process.pid,
        at: new Date(now()).toISOString(),
        state: facts.state,
        is_stream_open: facts.isStreamOpen,
        last_heartbeat_at_ms: facts.lastHeartbeatAtMs,
        last_heartbeat_problem: facts.lastHeartbeatProblem,
        clock_offset_ms: facts.clockOffsetMs,
        clock_dispute: facts.clockDispute,
        trust_health: facts.trustHealth,
        trust: facts.trust,
        pipeline: { ...facts.pipeline, spool_depth: spool.depth, discarded: spool.discarded },
        spool,
      };
      Object.assign(body, ...more);
      const text = JSON.stringify(body);
      last = last.then(() => replace(text));
      return last;
    },
    async takeToken() {
      const dropped = join(stateDir, TOKEN_DROP);
      const text = await files.readFile(dropped).then(String, () => '');
      await files.remove(dropped).catch(() => undefined);
      return text.trim() === '' ? null : text.trim();
    },
  };
}
