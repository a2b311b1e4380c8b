// What is told of exports to whoever watches the Console: what the loop of this Console did since it started.
import { Counter, type Registry } from '@prometheus-io/client';
import type { ExportCounts } from '../../../actors/exports/export-loop.ts';

/** Declares the metrics. */
export function measureExports(registry: Registry, counts: () => ExportCounts): void {
  const tell = (name: string, help: string, read: (now: ExportCounts) => number): void => {
    new Counter({
      ...{ name, help, registers: [registry] },
      collect() {
        this.reset();
        this.inc(read(counts()));
      },
    });
  };
  tell(
    'service_export_objects_total',
    'Parquet objects written and read back.',
    (now) => now.objects,
  );
  tell('service_export_bytes_total', 'Bytes of Parquet objects written.', (now) => now.bytes);
  tell('service_export_failures_total', 'Steps of exports that failed.', (now) => now.failures);
  tell(
    'service_export_runs_removed_total',
    'Runs of exports removed: their days are long ago.',
    (now) => now.removed,
  );
}
