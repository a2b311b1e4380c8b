// Shares the time among the targets: each gets a worker of its own, as many at a time as asked for. A worker that hangs
// on one input, or is taken down by it, is a finding like any other.
import { Worker } from 'node:worker_threads';
import { keepInput } from './corpus.ts';
import {
  type Counts,
  type FindingMessage,
  makeShared,
  readInput,
  type WorkerMessage,
  type WorkerTask,
} from './worker-task.ts';

/** One execution may take so long before its worker is ended. */
const HANG_MS = 20_000;
const WATCH_INTERVAL_MS = 1_000;
const LINE_INTERVAL_MS = 10_000;
const WORKER_HEAP_MAX_MB = 1_024;
const LEAST_SECONDS = 1;

export type TargetReport = {
  readonly target: string;
  readonly counts: Counts;
  readonly findings: readonly (FindingMessage & { readonly file: string })[];
};
export type RunOptions = {
  readonly targets: readonly string[];
  readonly seed: string;
  /** For all targets together. */
  readonly seconds: number;
  readonly workers: number;
  readonly keeps: boolean;
  readonly say: (line: string) => void;
};

/** Fuzzes every target once. Rejects only when a worker cannot be started. */
export async function runTargets(options: RunOptions): Promise<TargetReport[]> {
  const { targets, seed, workers, keeps, say } = options;
  const seconds = Math.max(LEAST_SECONDS, (options.seconds * workers) / targets.length);
  const waiting = [...targets];
  const reports: TargetReport[] = [];
  async function work(): Promise<void> {
    for (let target = waiting.shift(); target !== undefined; target = waiting.shift()) {
      const task = { target, seed, seconds, iterations: null, keeps, shared: makeShared() };
      reports.push(await runWorker(task, say));
    }
  }
  await Promise.all(Array.from({ length: Math.min(workers, targets.length) }, work));
  return reports.sort((a, b) => targets.indexOf(a.target) - targets.indexOf(b.target));
}

/** Runs one worker to its end. */
export function runWorker(task: WorkerTask, say: (line: string) => void): Promise<TargetReport> {
  const findings: (FindingMessage & { readonly file: string })[] = [];
  let counts: Counts = { executions: 0, blocks: 0, newBlocks: 0, pool: 0, seconds: 0 };
  let saidAt = performance.now();
  let beats = -1;
  let beatAt = performance.now();
  let isDone = false;
  const worker = new Worker(new URL('worker.ts', import.meta.url), {
    workerData: task,
    resourceLimits: { maxOldGenerationSizeMb: WORKER_HEAP_MAX_MB },
  });

  function found(finding: FindingMessage): void {
    const file = keepInput('crashes', task.target, Buffer.from(finding.input, 'base64'));
    findings.push({ ...finding, file });
    say(`${task.target}: ${finding.kind}`);
  }
  function foundInFlight(kind: string, detail: string): void {
    const { bytes, iteration } = readInput(task.shared);
    found({ kind, detail, iteration, input: bytes.toString('base64') });
  }

  const watch = setInterval(() => {
    const now = performance.now();
    const current = readInput(task.shared).beats;
    if (current !== beats) [beats, beatAt] = [current, now];
    else if (current > 0 && now - beatAt > HANG_MS && !isDone) {
      isDone = true;
      foundInFlight('never ended', `no answer within ${HANG_MS} ms`);
      void worker.terminate();
    }
    if (now - saidAt < LINE_INTERVAL_MS) return;
    saidAt = now;
    say(lineOf(task.target, counts, findings.length));
  }, WATCH_INTERVAL_MS);

  return new Promise((resolve) => {
    worker.on('message', (message: WorkerMessage) => {
      if (message.type === 'progress') counts = message.counts;
      else if (message.type === 'finding') found(message.finding);
      else isDone = true;
    });
    worker.on('error', (error) => {
      isDone = true;
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
      foundInFlight('took the program down', text);
    });
    worker.on('exit', () => {
      clearInterval(watch);
      if (!isDone) foundInFlight('took the program down', 'the worker ended without a word');
      say(lineOf(task.target, counts, findings.length));
      resolve({ target: task.target, counts, findings });
    });
  });
}

function lineOf(target: string, counts: Counts, findings: number): string {
  const rate = Math.round(counts.executions / Math.max(counts.seconds, 0.001));
  return (
    `${target}: ${counts.executions} executions, ${rate}/s, ${counts.newBlocks} new blocks, ` +
    `${counts.pool} inputs, ${findings} findings`
  );
}
