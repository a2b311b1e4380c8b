// Exports: whole days of the event store as Parquet files, in a bucket or a folder, each once, whatever crashes on the way.
// decision: D157, D158, D159
import { createExportLoop, EXPORT_LOOP } from '../../../actors/exports/export-loop.ts';
import { createExportService } from '../../../actors/exports/export-service.ts';
import { exportRunMachine } from '../../../machines/console/exports/export-run.machine.ts';
import type { Capability } from '../../capability.ts';
import { measureExports } from '../../operator-plane/exports/export-metrics.ts';
import { exportRoutes } from '../../operator-plane/exports/exports.ts';
import { detection } from '../detection/detection.ts';
import { settings } from '../settings/settings.ts';

export const exports: Capability = {
  name: 'exports',
  async open(context) {
    const { relational, analytics, time, chance, logger, cursors, loops, version } = context;
    const { audit } = relational;
    const sealer = await context.keys.operatorSecrets();
    const exporter = context.exporter;
    const allowList = () => context.use(settings).get().webhookAllowList;
    const service = createExportService({
      ...{ exports: relational.exports, audit, exporter, sealer, allowList },
      keptDays: () => context.use(settings).get().analyticsRetentionDays,
    });
    const work = createExportLoop({
      ...{ exports: relational.exports, source: analytics.exportSource, exporter },
      alerts: context.use(detection).alerts,
      ...{ destinationOf: service.destinationOf, chance, logger, now: time.now, version },
    });
    const wake = (): void => loops.wake(EXPORT_LOOP);
    return {
      service: null,
      operatorRoutes: () => [
        exportRoutes({ service, exports: relational.exports, cursors, now: time.now, wake }),
      ],
      machines: [exportRunMachine],
      loops: () => [work.loop],
      measure: (registry) => measureExports(registry, work.counts),
    };
  },
};
