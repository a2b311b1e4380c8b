// run/status.json: a small picture of the running Sensor for `status`, replaced as a whole. Nothing depends on it.
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseJson } from '../../machines/wire/parse.ts';
import { isObject } from '../transport/answer.ts';
import type { SensorFacts } from './facts.ts';

export const TOKEN_DROP = join('run', 'token');

/** Replaces the picture; a disk that refuses is not worth a word here. */
export async function writeStatus(
  stateDir: string,
  facts: SensorFacts,
  spool: { readonly depth: number; readonly discarded: number },
): Promise<void> {
  const file = join(stateDir, 'run', 'status.json');
  try {
    await mkdir(join(stateDir, 'run'), { recursive: true, mode: 0o700 });
    const body = {
      pid: process.pid,
      at: new Date().toISOString(),
      state: facts.state,
      is_stream_open: facts.isStreamOpen,
      last_heartbeat_at_ms: facts.lastHeartbeatAtMs,
      last_heartbeat_problem: facts.lastHeartbeatProblem,
      clock_offset_ms: facts.clockOffsetMs,
      trust_health: facts.trustHealth,
      trust: facts.trust,
      engine: facts.engine,
      pipeline: { ...facts.pipeline, spool_depth: spool.depth, discarded: spool.discarded },
      spool,
    };
    await writeFile(`${file}.new`, JSON.stringify(body), { mode: 0o600 });
    await rename(`${file}.new`, file);
  } catch {
    // The next one may succeed.
  }
}

/** The last picture, or null. */
export async function readStatus(
  stateDir: string,
): Promise<Readonly<Record<string, unknown>> | null> {
  const text = await readFile(join(stateDir, 'run', 'status.json'), 'utf8').catch(() => '');
  const parsed = parseJson(text);
  return parsed.ok && isObject(parsed.value) ? parsed.value : null;
}

/** A token that `enroll` left for the running Sensor; it is removed when read. */
export async function takeDroppedToken(stateDir: string): Promise<string | null> {
  const file = join(stateDir, TOKEN_DROP);
  const text = await readFile(file, 'utf8').catch(() => '');
  await rm(file, { force: true }).catch(() => undefined);
  return text.trim() === '' ? null : text.trim();
}
