// What an event costs between the export and the spool: lines of a replayed mix, and of a storm of processes, through the
// whole pipeline in batches as the collector reads them. Prints events a second and CPU for 1,000 events of each.
import { STREAM_FRAME_EVENTS_MAX } from '../../machines/limits.ts';
import { createPipeline } from '../../sensor/pipeline/pipeline.ts';
import { CHILD, SAMPLE_LINES, SHELL } from '../pipeline/sample-lines.ts';

const SECONDS = Number(process.argv[2] ?? 5);
const BATCHES = 40;
const START_MS = Date.UTC(2026, 4, 11);
type Batches = readonly (readonly string[])[];

/** Every kind of sample in turn, each process with a number of its own. */
function mixed(): Batches {
  const samples = Object.values(SAMPLE_LINES);
  return batchesOf((at) => {
    const text = JSON.stringify(samples[at % samples.length]);
    return text.replaceAll(CHILD.exec_id, idOf(at)).replaceAll('51583', String(10_000 + at));
  });
}

/** One shell that starts the same program again and again. */
function storm(): Batches {
  return batchesOf((at) =>
    JSON.stringify({
      [at % 2 === 0 ? 'process_exec' : 'process_exit']: {
        process: { ...CHILD, exec_id: idOf(at - (at % 2)), pid: at, arguments: `-c ${at}` },
        parent: SHELL,
      },
      time: new Date(START_MS + at).toISOString(),
    }),
  );
}

function batchesOf(lineOf: (at: number) => string): Batches {
  return Array.from({ length: BATCHES }, (_, batch) =>
    Array.from({ length: STREAM_FRAME_EVENTS_MAX }, (_none, at) =>
      lineOf(batch * STREAM_FRAME_EVENTS_MAX + at),
    ),
  );
}

function idOf(at: number): string {
  return Buffer.from(`node-a:${at}000000:${at}`).toString('base64');
}

async function measure(name: string, batches: Batches): Promise<void> {
  const pipeline = createPipeline({ look: async () => null, workloadOf: () => undefined });
  const given = { sensorId: 'sensor', nowMs: Date.now(), looks: { left: 0 } };
  for (const lines of batches) await pipeline.take(lines, given);
  const before = process.cpuUsage();
  const beganMs = performance.now();
  let [taken, told] = [0, 0];
  while (performance.now() - beganMs < SECONDS * 1_000) {
    for (const lines of batches) {
      const { events } = await pipeline.take(lines, given);
      taken += lines.length;
      told += events.length;
    }
  }
  const used = process.cpuUsage(before);
  const cpuMs = (used.user + used.system) / 1_000;
  const elapsedMs = performance.now() - beganMs;
  const figures = [
    `${name}: ${Math.round(taken / (elapsedMs / 1_000))} events/s`,
    `${((cpuMs / taken) * 1_000).toFixed(1)} ms CPU for 1,000`,
    `${Math.round(taken / (cpuMs / 1_000))} events for a second of CPU`,
    `${taken} in, ${told} out`,
    `RSS ${Math.round(process.memoryUsage.rss() / 1_048_576)} MB`,
  ];
  process.stdout.write(`${figures.join(', ')}\n`);
}

await measure('mixed', mixed());
await measure('storm', storm());
