// From the engine's export to the spool: read, normalise, append with the cursor, one step at a time. What the spool
// cannot take is read again later; the cursor moves only with the events behind it. decision: D13
import { COLLECTOR_READS_PER_TICK_MAX, STREAM_FRAME_EVENTS_MAX } from '../../machines/limits.ts';
import type { RuntimeEvent } from '../../machines/wire/event.ts';
import { createExportReader, type ExportReader } from '../engine/export-reader.ts';
import { normalise } from '../pipeline/normalise.ts';
import { createProcessCache } from '../pipeline/process-cache.ts';
import type { Parts } from './parts.ts';

export type Collector = { stop(): Promise<void> };

/** Starts the loop; every tick it takes what is complete. `stop` finishes the step under way. */
export function startCollector(
  parts: Parts,
  exportFile: string,
  sensorId: () => string,
): Collector {
  const { spool, facts, logger, clock, config, ports } = parts;
  const cache = createProcessCache();
  const openReader = (): ExportReader =>
    createExportReader({ path: exportFile, cursor: spool.cursor(), files: ports.exportFiles });
  let reader = openReader();
  let isStopped = false;
  let running: Promise<void> = Promise.resolve();
  let timer = 0;

  async function step(): Promise<boolean> {
    const { lines, cursor, skippedLines, malformed } = await reader.read(STREAM_FRAME_EVENTS_MAX);
    if (lines.length === 0 && skippedLines + malformed === 0) return false;
    const events: RuntimeEvent[] = [];
    for (const line of lines) {
      const result = normalise(line, { sensorId: sensorId(), cache });
      if (result.ok) events.push(result.event);
    }
    const stored = await spool.append(events, cursor ?? null);
    if (!stored.ok) {
      logger.warn({ reason: stored.reason }, 'the spool takes nothing now');
      await reader.close();
      reader = openReader();
      return false;
    }
    const { pipeline } = facts;
    pipeline.read += lines.length + skippedLines + malformed;
    pipeline.normalized += events.length;
    pipeline.dropped += lines.length - events.length + skippedLines + malformed;
    pipeline.spooled += events.length;
    return lines.length >= STREAM_FRAME_EVENTS_MAX;
  }

  async function tick(): Promise<void> {
    try {
      for (let reads = 0; reads < COLLECTOR_READS_PER_TICK_MAX && !isStopped; reads += 1) {
        if (!(await step())) break;
      }
    } catch (error) {
      logger.warn({ reason: String(error) }, 'the export cannot be read now');
    }
    arm();
  }

  function arm(): void {
    if (isStopped) return;
    timer = clock.setTimeout(() => {
      running = tick();
    }, config.intervals.STREAM_TICK_MS);
  }

  arm();
  return {
    async stop() {
      isStopped = true;
      clock.clearTimeout(timer);
      await running;
      await reader.close();
    },
  };
}
