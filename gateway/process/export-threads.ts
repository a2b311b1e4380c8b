// The exporter of the program: a thread for every step, so that megabytes pass beside the event loop that serves sensors and
// operators. A step that is given up ends with its thread. decision: D157
import { Worker } from 'node:worker_threads';
import type { AnalyticsAccess } from '../../storage/analytics/client.ts';
import {
  type CopiedObject,
  type CopiedPart,
  type Exporter,
  ExportFailed,
} from '../../storage/ports/exports/exporter.ts';
import type { ExportAnswer, ExportOrder } from './export-thread.ts';

const THREAD = new URL('./export-thread.ts', import.meta.url);
const HEAP_MIB = 256;

/** Makes the exporter of one event store; `folder` is where files go that go to no bucket. */
export function createExportThreads(of: {
  readonly access: () => AnalyticsAccess;
  readonly folder: string;
}): Exporter {
  const { folder } = of;
  const order = (task: ExportOrder['task']): ExportOrder => ({
    ...{ access: of.access(), folder, task },
  });
  return {
    copy: async (job, signal) =>
      (await inThread(order({ act: 'copy', job }), signal)) as CopiedPart,
    put: async (job, signal) =>
      (await inThread(order({ act: 'put', job }), signal)) as CopiedObject,
    async remove(job, signal) {
      await inThread(order({ act: 'remove', job }), signal);
    },
  };
}

function inThread(order: ExportOrder, signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(new ExportFailed('given up'));
    const thread = new Worker(THREAD, {
      workerData: order,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
    });
    const giveUp = (): void => {
      void thread.terminate();
      reject(new ExportFailed('given up'));
    };
    signal.addEventListener('abort', giveUp, { once: true });
    const end = (): void => signal.removeEventListener('abort', giveUp);
    thread.on('message', (answer: ExportAnswer) => {
      if (answer.ok) resolve(answer.value);
      else reject(new ExportFailed(answer.reason));
    });
    thread.on('error', (error) => reject(new ExportFailed(error.message, { cause: error })));
    thread.on('exit', (code) => {
      end();
      // Settled already when it answered.
      reject(new ExportFailed(`the thread ended with ${code} and without an answer`));
    });
  });
}
