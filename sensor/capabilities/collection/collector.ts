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
import type { RuntimeEvent } from '../../../machines/wire/event.ts';
import type { SensorFacts } from '../../actors/facts.ts';
import type { NodePorts } from '../../actors/node-ports.ts';
import type { Parts } from '../../actors/parts.ts';
import { createExportReader, type ExportReader } from '../../engine/export-reader.ts';
import { engineLossOf } from '../../pipeline/engine-loss.ts';
import type { Pipeline, PipelineBatch } from '../../pipeline/pipeline.ts';
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

  /** What the engine's words alone tell is settled by itself; answers whether nothing of it is under way. */
  async function settleUntold(): Promise<boolean> {
    if (!recallUntold(facts.untold, spool)) return false;
    const place = spool.cursor();
    const untold = handUntold(facts.untold, spool);
    if (untold === null) return true;
    const { events } = await understand(untold.lines);
    const stored = await spool.append(events, place, place, untold.losses);
    if (stored.ok) {
      facts.untold.handed = null;
      noteStored(events);
    } else logger.warn({ reason: stored.reason }, 'the spool takes no losses now');
    return stored.ok;
  }

  function understand(lines: readonly string[]): Promise<PipelineBatch> {
    const monitors = facts.engine.kind === 'tetragon' ? monitorsOf(facts.policies) : undefined;
    const given = { sensorId: sensorId(), nowMs: parts.now(), looks, monitors };
    return parts.habits.pipeline.take(lines, given);
  }

  function noteStored(events: readonly RuntimeEvent[]): void {
    const nowMs = parts.now();
    for (const event of events) parts.flows.note(event, nowMs);
    facts.pipeline.spooled += events.length;
    if (events.length > 0) onSpooled();
  }

  async function step(): Promise<boolean> {
    if (!(await settleUntold())) return false;
    reader ??= openReader();
    const batch = await reader.read(STREAM_FRAME_EVENTS_MAX);
    const { lines, cursor, skippedLines, malformed } = batch;
    if (batch.isSkippedUnknown) {
      logger.warn({ skippedLines }, 'lines were removed unread, and how many more nobody knows');
    }
    if (lines.length === 0 && skippedLines + malformed === 0) return false;
    const taken = await understand(lines);
    const { events, normalized } = taken;
    const missing = { reader_skipped: skippedLines + malformed };
    const lost = addLosses(toldBy(taken), {
      ...missing,
      pipeline_dropped: lines.length - normalized,
    });
    const stored = await spool.append(events, cursor ?? null, from, lost);
    if (!stored.ok) {
      logger.warn({ reason: stored.reason }, 'the spool takes nothing now');
      await closeReader();
      return false;
    }
    from = cursor ?? null;
    countRead(facts, taken, lines.length, skippedLines + malformed);
    noteStored(events);
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

/** What the lines themselves say that the engine lost. */
const toldBy = ({ lossLines }: PipelineBatch): Losses =>
  lossLines.map(engineLossOf).reduce(addLosses, {});

/** Of so many lines that were read, and so many that were missed, this became of them. */
function countRead(
  facts: CollectorParts['facts'],
  taken: PipelineBatch,
  read: number,
  missed: number,
): void {
  const { pipeline } = facts;
  const { normalized, aggregated, monitored } = taken;
  pipeline.read += read + missed;
  pipeline.normalized += normalized;
  pipeline.aggregated += aggregated;
  facts.monitored += monitored;
  pipeline.dropped += read - normalized + missed;
  // Our own engines say the same sum in their words, which are counted where they are heard; Tetragon's words tell others.
  if (facts.engine.kind !== 'tetragon') return;
  const { kernel_lost = 0, engine_lost = 0 } = toldBy(taken);
  pipeline.engine_lost += kernel_lost + engine_lost;
}
