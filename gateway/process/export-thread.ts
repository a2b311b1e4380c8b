// The thread in which one step of an export runs: reading Parquet from the event store, sending it, reading it back. It takes
// one order, answers it, and ends. decision: D157, D158
import { parentPort, workerData } from 'node:worker_threads';
import { copyParquet, copyText } from '../../actors/exports/copy-object.ts';
import { createDirectoryStore } from '../../actors/exports/directory-store.ts';
import type { ObjectStore } from '../../actors/exports/object-store.ts';
import { createS3Store } from '../../actors/exports/s3-store.ts';
import { prefixed } from '../../machines/console/exports/target.rules.ts';
import { type AnalyticsAccess, createAnalyticsClient } from '../../storage/analytics/client.ts';
import { openParquet } from '../../storage/analytics/export-source.ts';
import type { ExportDestination, PartJob } from '../../storage/ports/exports/exporter.ts';

export type ExportOrder = {
  readonly access: AnalyticsAccess;
  /** Where files go that go to no bucket. */
  readonly folder: string;
  readonly task:
    | { readonly act: 'copy'; readonly job: PartJob }
    | {
        readonly act: 'put';
        readonly job: {
          readonly destination: ExportDestination;
          readonly name: string;
          readonly text: string;
        };
      }
    | {
        readonly act: 'remove';
        readonly job: {
          readonly destination: ExportDestination;
          readonly names: readonly string[];
        };
      };
};
export type ExportAnswer =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly reason: string };

const order: ExportOrder = workerData;
const { signal } = new AbortController();

/** Whoever gives up ends the thread. */
async function run({ access, folder, task }: ExportOrder): Promise<unknown> {
  const { destination } = task.job;
  const store = storeOf(destination, folder);
  const named = (name: string): string => prefixed(destination.prefix, name);
  if (task.act === 'put') {
    const { name, text } = task.job;
    return copyText({ store, name: named(name), text, signal });
  }
  if (task.act === 'remove') {
    for (const name of task.job.names) await store.remove(named(name), signal);
    return null;
  }
  const client = createAnalyticsClient(access, { isStreaming: true });
  try {
    const from = await openParquet(client, task.job, signal);
    return await copyParquet({ store, name: named(task.job.name), from, signal });
  } finally {
    await client.close();
  }
}

function storeOf(
  { place, secretAccessKey, allowList }: ExportDestination,
  folder: string,
): ObjectStore {
  if (place.kind === 'directory') return createDirectoryStore(folder);
  return createS3Store({ place, allowList, secretAccessKey: secretAccessKey ?? '' });
}

const answer: ExportAnswer = await run(order).then(
  (value) => ({ ok: true, value }),
  (error: unknown) => ({
    ok: false,
    reason: error instanceof Error ? error.message : String(error),
  }),
);
parentPort?.postMessage(answer);
