// Loops as Prometheus sees them, read when it asks. decision: D60
import { Counter, Gauge, type Registry } from '@prometheus-io/client';
import type { LoopRegistry } from '../../../actors/loops/loop-registry.ts';

/** Adds runs, durations and failures of every loop, and whether this Console is the designated one. */
export function measureLoops(registry: Registry, loops: LoopRegistry): void {
  new Counter({
    name: 'service_loop_runs_total',
    help: 'Runs of periodic loops that ended, by result.',
    labelNames: ['loop', 'result'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { name: loop, runs, failedRuns } of loops.list()) {
        this.inc({ loop, result: 'done' }, runs - failedRuns);
        this.inc({ loop, result: 'failed' }, failedRuns);
      }
    },
  });
  gauge(registry, loops, {
    name: 'service_loop_last_run_timestamp_seconds',
    help: 'When the last run of a loop ended.',
    read: ({ lastRun }) => (lastRun === null ? null : lastRun.endedAtMs / 1_000),
  });
  gauge(registry, loops, {
    name: 'service_loop_last_run_seconds',
    help: 'How long the last run of a loop took.',
    read: ({ lastRun }) => (lastRun === null ? null : lastRun.durationMs / 1_000),
  });
  gauge(registry, loops, {
    name: 'service_loop_next_run_timestamp_seconds',
    help: 'When a loop on duty runs next.',
    read: ({ nextAtMs }) => (nextAtMs === null ? null : nextAtMs / 1_000),
  });
  gauge(registry, loops, {
    name: 'service_loop_failures_in_a_row',
    help: 'Failures of a loop since its last run that went well.',
    read: ({ failures }) => failures,
  });
  new Gauge({
    name: 'service_console_designated',
    help: '1 while this Console runs the designated loops, 0 while another one does.',
    registers: [registry],
    collect() {
      this.set(loops.designation().epoch === null ? 0 : 1);
    },
  });
}

function gauge(
  registry: Registry,
  loops: LoopRegistry,
  of: {
    readonly name: string;
    readonly help: string;
    readonly read: (loop: ReturnType<LoopRegistry['list']>[number]) => number | null;
  },
): void {
  const { name, help, read } = of;
  new Gauge({
    ...{ name, help, labelNames: ['loop'], registers: [registry] },
    collect() {
      this.reset();
      for (const loop of loops.list()) {
        const value = read(loop);
        if (value !== null) this.set({ loop: loop.name }, value);
      }
    },
  });
}
