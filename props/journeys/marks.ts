// Processes that can be told apart: each is `/bin/true` under a name of its own, WORD-<n>, so its exec can be counted
// wherever it shows up. The name is in the path because a process of one millisecond may be gone before its arguments can
// be read, while the kernel tells the path with the exec itself.
import { spawn } from 'node:child_process';
import { rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { api } from './api.ts';
import type { Home } from './programs.ts';

export type StoredMark = { readonly event_id: string; readonly sensor_id: string };
export type Marks = {
  /** Numbers 0..made()-1 were started so far. */
  made(): number;
  /** The longest that one took beyond its pause: how far this machine is behind what is asked of it. */
  slowestMs(): number;
  /** Ends after the process that runs now. */
  stop(): Promise<void>;
};
type ListedEvent = StoredMark & {
  readonly process?: { readonly binary: string };
};

const PAGE = 500;

/** Starts one marked process after the other, `pauseMs` apart. */
export function startMarks(home: Home, word: string, pauseMs: number): Marks {
  let [made, slowestMs] = [0, 0];
  let isStopping = false;
  const running = (async () => {
    while (!isStopping) {
      const began = performance.now();
      await mark(home, word, made);
      made += 1;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      slowestMs = Math.max(slowestMs, performance.now() - began - pauseMs);
    }
  })();
  return {
    made: () => made,
    slowestMs: () => slowestMs,
    async stop() {
      isStopping = true;
      await running;
    },
  };
}

/** Runs one marked process to its end. */
export function mark(home: Home, word: string, number: number): Promise<void> {
  const path = join(home.folder, `${word}-${number}`);
  symlinkSync('/bin/true', path);
  return new Promise((resolve, reject) => {
    const child = spawn(path, { stdio: 'ignore' });
    child.on('error', reject);
    child.on('exit', () => {
      rmSync(path);
      resolve();
    });
  });
}

/** The marked execs of `GET /api/v2/events`, by number; every page is read. */
export async function listedMarks(
  home: Home,
  word: string,
): Promise<ReadonlyMap<number, readonly StoredMark[]>> {
  const found = new Map<number, StoredMark[]>();
  const pattern = new RegExp(`${word}-(\\d+)`);
  let cursor: string | null = null;
  do {
    const query: string = new URLSearchParams({
      from: 'now-1h',
      binary: `${word}-`,
      event_kind: 'process_exec',
      limit: String(PAGE),
      order: 'ascending',
      ...(cursor === null ? {} : { cursor }),
    }).toString();
    const answer = await api(home, 'GET', `/api/v2/events?${query}`);
    if (answer.status !== 200) throw new Error(`events: ${JSON.stringify(answer)}`);
    const page = answer.body as { items: ListedEvent[]; next_cursor: string | null };
    for (const event of page.items) {
      const number = Number(pattern.exec(event.process?.binary ?? '')?.[1] ?? Number.NaN);
      if (Number.isNaN(number)) continue;
      found.set(number, [...(found.get(number) ?? []), event]);
    }
    cursor = page.next_cursor;
  } while (cursor !== null);
  return found;
}

/** What is wrong with the marks first..last: each must be there exactly once. Empty when all is well. */
export function wrongMarks(
  found: ReadonlyMap<number, readonly StoredMark[]>,
  first: number,
  last: number,
): string[] {
  const wrong: string[] = [];
  for (let number = first; number <= last; number += 1) {
    const events = found.get(number) ?? [];
    if (events.length !== 1) wrong.push(`${number}: ${events.length} times`);
  }
  const ids = [...found.values()].flat().map(({ event_id }) => event_id);
  if (new Set(ids).size !== ids.length) wrong.push('an event_id is listed twice');
  return wrong;
}
