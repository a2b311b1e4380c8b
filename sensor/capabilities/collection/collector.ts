// From the engine's export to the spool: read, normalise, append with the cursor, one step at a time. What the spool
// cannot take, or the disk does not let be read to its end, is read again later: each time from the spool's own cursor,
// which moves only with the events behind it. decision: D13
import {
  COLLECTOR_READS_PER_TICK_MAX,
  type Intervals,
  STREAM_FRAME_EVENTS_MAX,
} from '../../../machines/limits.ts';
import { PROCESS_LOOKS_PER_TICK_MAX } from '../../../machines/pipeline-limits.ts';
import { addLosses, type Losses } from '../../../machines/sensor/loss-ledger.rules.ts';
import type { SensorFacts } from '../../actors/facts.ts';
import type { NodePorts } from '../../actors/node-ports.ts';
import type { Parts } from '../../actors/parts.ts';
import { createExportReader, type ExportReader } from '../../engine/export-reader.ts';
import { engineLossOf } from '../../pipeline/engine-loss.ts';
import type { Pipeline } from '../../pipeline/pipeline.ts';
import type { ExportCursor } from '../../spool/spool-port.ts';
import type { FlowTable } from '../../telemetry/flows.ts';
import { handUntold, recallUntold } from '../engine/engine-losses.ts';
import { monitorsOf } from '../policy/policy-facts.ts';

export type Collector = { stop(): Promise<void> };
export type CollectorParts = Pick<Parts, 'spool' | 'logger' | 'clock' | 'now'> & {
  readonly flows: Pick<FlowTable, 'note'>;
  readonly habits: { readonly pipeline: Pick<Pipeline, 'take'> };
  readonly facts: Pick<SensorFacts, 'pipeline' | 'monitored' | 'engine' | 'policies' | 'untold'>;
  readonly config: { readonly intervals: Pick<Intervals, 'STREAM_TICK_MS'> };
  readonly ports: Pick<NodePorts, 'exportFiles'>;
};

/** Starts the loop; every tick it takes what is complete. `stop` finishes the step under way. */
export function startCollector(
  parts: CollectorParts,
  exportFile: string,
  sensorId: () => string,
  onSpooled: () => void = () => undefined,
): Collector {
  const { spool, facts, logger, clock, config, ports } = parts;
  let reader: ExportReader | null = null;
  /** The spool's cursor that the next lines are read from. */
  let from: ExportCursor = null;
  let isStopped = false;
  let running: Promise<void> = Promise.resolve();
  let timer = 0;
  const looks = { left: 0 };

  function openReader(): ExportReader {
    from = spool.cursor();
    return createExportReader({ path: exportFile, cursor: from, files: ports.exportFiles });
  }

  // The place of a reader is ahead of the spool as soon as a step is not finished; the next one begins with a new reader.
  async function closeReader(): Promise<void> {
    const old = reader;
    reader = null;
    await old?.close().catch(() => undefined);
  }

  // Without lines to settle it with, what the engine's words alone tell is settled by itself.
  async function settleUntold(): Promise<void> {
    if (!recallUntold(facts.untold, spool)) return;
    const lost = handUntold(facts.untold, spool);
    if (Object.keys(lost).length === 0) return;
    const place = spool.cursor();
    const stored = await spool.append([], place, place, lost);
    if (stored.ok) facts.untold.handed = null;
    else logger.warn({ reason: stored.reason }, 'the spool takes no losses now');
  }

  async function step(): Promise<boolean> {
    if (!recallUntold(facts.untold, spool)) return false;
    reader ??= openReader();
    const batch = await reader.read(STREAM_FRAME_EVENTS_MAX);
    const { lines, cursor, skippedLines, malformed } = batch;
    if (batch.isSkippedUnknown) {
      logger.warn({ skippedLines }, 'lines were removed unread, and how many more nobody knows');
    }
    if (lines.length === 0 && skippedLines + malformed === 0) {
      await settleUntold();
      return false;
    }
    const monitors = facts.engine.kind === 'tetragon' ? monitorsOf(facts.policies) : undefined;
    const given = { sensorId: sensorId(), nowMs: parts.now(), looks, monitors };
    const taken = await parts.habits.pipeline.take(lines, given);
    const { events, normalized, aggregated } = taken;
    let told: Losses = {};
    for (const line of taken.lossLines) told = addLosses(told, engineLossOf(line));
    const lost = addLosses(told, {
      reader_skipped: skippedLines + malformed,
      pipeline_dropped: lines.length - normalized,
    });
    const untold = handUntold(facts.untold, spool);
    const stored = await spool.append(events, cursor ?? null, from, addLosses(lost, untold));
    if (!stored.ok) {
      logger.warn({ reason: stored.reason }, 'the spool takes nothing now');
      await closeReader();
      return false;
    }
    facts.untold.handed = null;
    from = cursor ?? null;
    for (const event of events) parts.flows.note(event, given.nowMs);
    const { pipeline } = facts;
    pipeline.read += lines.length + skippedLines + malformed;
    pipeline.normalized += normalized;
    pipeline.aggregated += aggregated;
    facts.monitored += taken.monitored;
    pipeline.dropped += lines.length - normalized + skippedLines + malformed;
    pipeline.spooled += events.length;
    // Our own engines say the same sum in their words, which are counted where they are heard; Tetragon's words tell others.
    if (facts.engine.kind === 'tetragon') {
      pipeline.engine_lost += (told.kernel_lost ?? 0) + (told.engine_lost ?? 0);
    }
    if (events.length > 0) onSpooled();
    return lines.length >= STREAM_FRAME_EVENTS_MAX;
  }

  async function tick(): Promise<void> {
    looks.left = PROCESS_LOOKS_PER_TICK_MAX;
    let isBehind = true;
    try {
      for (
        let reads = 0;
        isBehind && reads < COLLECTOR_READS_PER_TICK_MAX && !isStopped;
        reads += 1
      ) {
        isBehind = await step();
      }
    } catch (error) {
      logger.warn({ reason: String(error) }, 'the export cannot be read now');
      await closeReader();
      isBehind = false;
    }
    // One that is behind goes on at once, after whatever else waits for its turn.
    arm(isBehind ? 0 : config.intervals.STREAM_TICK_MS);
  }

  function arm(delayMs: number): void {
    if (isStopped) return;
    timer = clock.setTimeout(() => {
      running = tick();
    }, delayMs);
  }

  arm(config.intervals.STREAM_TICK_MS);
  return {
    async stop() {
      isStopped = true;
      clock.clearTimeout(timer);
      await running;
      await settleUntold();
      await closeReader();
    },
  };
}
