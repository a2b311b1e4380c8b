// One fuzz worker: a thread that searches one target and tells what it found. Before every execution it writes the
// input to shared memory, so that whoever watches can keep an input that never ends or takes the thread down.
import { parentPort, workerData } from 'node:worker_threads';
import { replaceCorpus } from './corpus.ts';
import { startCoverage } from './coverage.ts';
import { chooseCorpus, fuzz } from './fuzzer.ts';
import { loadTarget } from './targets.ts';
import type { WorkerMessage, WorkerTask } from './worker-task.ts';
import { writeInput } from './worker-task.ts';

const REPORT_INTERVAL_MS = 1_000;

const task: WorkerTask = workerData;
const tell = (message: WorkerMessage): void => parentPort?.postMessage(message);

const before = (bytes: Buffer, iteration: number): void =>
  writeInput(task.shared, bytes, iteration);

const coverage = startCoverage();
const target = await loadTarget(task.target);
const began = performance.now();
let toldAt = began;

const { progress, pool } = await fuzz(target, {
  seed: task.seed,
  coverage,
  goesOn: (iteration) =>
    task.iterations === null
      ? performance.now() - began < task.seconds * 1_000
      : iteration < task.iterations,
  before,
  onFinding: ({ kind, detail, iteration, bytes }) =>
    tell({
      type: 'finding',
      finding: { kind, detail, iteration, input: bytes.toString('base64') },
    }),
  onProgress: (now) => {
    if (performance.now() - toldAt < REPORT_INTERVAL_MS) return;
    toldAt = performance.now();
    tell({ type: 'progress', counts: countsOf(now) });
  },
});
tell({ type: 'progress', counts: countsOf(progress) });
if (task.keeps) {
  // Coverage begins anew, so that every chosen input is chosen for what it reaches itself.
  replaceCorpus(
    target.name,
    await chooseCorpus(target, pool, { coverage: startCoverage(), before }),
  );
}
tell({ type: 'done' });

function countsOf({ executions, blocks, newBlocks, pool: size }: typeof progress) {
  const seconds = (performance.now() - began) / 1_000;
  return { executions, blocks, newBlocks, pool: size, seconds };
}
