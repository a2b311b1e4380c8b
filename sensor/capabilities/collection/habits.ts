// The pipeline with what it has learned: read from the state directory at start, written back now and then and at the end,
// each time whole or not at all. A disk that refuses costs the last minutes of learning, nothing else.
import type { Logger } from '../../../actors/runtime/logger.ts';
import type { WheelClock } from '../../../actors/runtime/wheel-clock.ts';
import type { Intervals } from '../../../machines/limits.ts';
import {
  BASELINE_FILE_MAX_BYTES,
  BASELINE_SECTION_MAX_BYTES,
} from '../../../machines/pipeline-limits.ts';
import type { Baseline } from '../../../machines/wire/baseline.ts';
import type { NodePorts } from '../../actors/node-ports.ts';
import { baselineItem, baselinesText, parseBaselines } from '../../pipeline/baseline-file.ts';
import { createPipeline, type Pipeline } from '../../pipeline/pipeline.ts';
import { readText, writeAtomic } from '../../state-directory/atomic-file.ts';
import { errorCode, type Files } from '../../state-directory/file-port.ts';
import { STATE_FILES } from '../../state-directory/identity.ts';

export type Habits = {
  readonly pipeline: Pipeline;
  /** What the Console is told of them, the programs executed most; the same for a while. */
  items(): readonly Baseline[];
  /** Saves for the last time. Never rejects. */
  close(): Promise<void>;
};
type HabitsParts = {
  readonly clock: Pick<WheelClock, 'setTimeout' | 'clearTimeout'>;
  readonly now: () => number;
  readonly logger: Logger;
  readonly ports: Pick<NodePorts, 'files' | 'context'>;
  readonly config: {
    readonly intervals: Pick<
      Intervals,
      'BASELINE_WARM_UP_MS' | 'BASELINE_SAVE_INTERVAL_MS' | 'BASELINE_TELL_INTERVAL_MS'
    >;
  };
  /** Absent: the limit. */
  readonly binariesMax?: number;
};

const FILE_MODE = 0o600;

/** Opens the habits kept in a state directory; what cannot be read is learned anew. Never rejects. */
export async function openHabits(parts: HabitsParts, directory: string): Promise<Habits> {
  const { clock, now, logger } = parts;
  const { files, context } = parts.ports;
  const { BASELINE_WARM_UP_MS: warmUpMs, BASELINE_TELL_INTERVAL_MS: tellEveryMs } =
    parts.config.intervals;
  const saved = await readSaved(files, directory, logger);
  const pipeline = createPipeline(context, saved.profiles, {
    warmUpMs,
    ...(parts.binariesMax === undefined ? {} : { binariesMax: parts.binariesMax }),
  });
  const { baselines } = pipeline;
  let written = saved.text;
  let told: { readonly turn: number; readonly items: readonly Baseline[] } | null = null;
  let isClosed = false;
  let timer = 0;
  let saving: Promise<void> = Promise.resolve();

  async function save(): Promise<void> {
    const text = baselinesText(baselines.profiles());
    if (text === written || baselines.profiles().size === 0) return;
    try {
      await writeAtomic(files, directory, STATE_FILES.baselines, { text, mode: FILE_MODE });
      written = text;
    } catch (error) {
      logger.warn({ code: errorCode(error) }, 'the baselines cannot be written now');
    }
  }

  function arm(): void {
    timer = clock.setTimeout(() => {
      saving = save().then(() => {
        if (!isClosed) arm();
      });
    }, parts.config.intervals.BASELINE_SAVE_INTERVAL_MS);
  }

  arm();
  return {
    pipeline,
    items() {
      const turn = Math.floor(now() / tellEveryMs);
      if (told === null || told.turn !== turn || told.items.length === 0) {
        told = { turn, items: mostUsed(baselines.profiles(), { atMs: now(), warmUpMs }) };
      }
      return told.items;
    },
    async close() {
      isClosed = true;
      clock.clearTimeout(timer);
      await saving;
      await save();
    },
  };
}

type Profiles = ReturnType<Pipeline['baselines']['profiles']>;
async function readSaved(
  files: Files,
  directory: string,
  logger: Logger,
): Promise<{ readonly text: string; readonly profiles: Profiles }> {
  try {
    const text = (await readText(files, directory, STATE_FILES.baselines)) ?? '';
    if (text === '') return { text, profiles: new Map() };
    const profiles = text.length > BASELINE_FILE_MAX_BYTES ? null : parseBaselines(text);
    if (profiles !== null) return { text, profiles };
    logger.warn({}, 'the baselines cannot be understood; they are learned anew');
  } catch (error) {
    logger.warn({ code: errorCode(error) }, 'the baselines cannot be read; they are learned anew');
  }
  return { text: '', profiles: new Map() };
}

/** As many as fit into their section, the most executed first. */
function mostUsed(
  profiles: Profiles,
  { atMs, warmUpMs }: { readonly atMs: number; readonly warmUpMs: number },
): readonly Baseline[] {
  const byUse = [...profiles].sort(([, a], [, b]) => b.executions - a.executions);
  const items: Baseline[] = [];
  let bytes = 0;
  for (const [binary, profile] of byUse) {
    const item = baselineItem(binary, profile, atMs, warmUpMs);
    bytes += Buffer.byteLength(JSON.stringify(item));
    if (bytes > BASELINE_SECTION_MAX_BYTES) break;
    items.push(item);
  }
  return items;
}
