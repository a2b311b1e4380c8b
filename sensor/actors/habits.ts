// The pipeline with what it has learned: read from the state directory at start, written back now and then and at the end,
// each time whole or not at all. A disk that refuses costs the last minutes of learning, nothing else.
import type { Logger } from '../../actors/runtime/logger.ts';
import type { WheelClock } from '../../actors/runtime/wheel-clock.ts';
import {
  BASELINE_FILE_MAX_BYTES,
  BASELINE_SAVE_INTERVAL_MS,
  BASELINE_SECTION_MAX_BYTES,
} from '../../machines/pipeline-limits.ts';
import type { Baseline } from '../../machines/wire/baseline.ts';
import { baselineItem, baselinesText, parseBaselines } from '../pipeline/baseline-file.ts';
import { hourOf } from '../pipeline/baseline-profile.ts';
import { createPipeline, type Pipeline } from '../pipeline/pipeline.ts';
import { readText, writeAtomic } from '../state-directory/atomic-file.ts';
import { errorCode, type Files } from '../state-directory/file-port.ts';
import { STATE_FILES } from '../state-directory/identity.ts';
import type { NodePorts } from './node-ports.ts';

export type Habits = {
  readonly pipeline: Pipeline;
  /** What the Console is told of them, the programs executed most; the same for an hour. */
  items(): readonly Baseline[];
  /** Saves for the last time. Never rejects. */
  close(): Promise<void>;
};
type HabitsParts = {
  readonly clock: Pick<WheelClock, 'setTimeout' | 'clearTimeout'>;
  readonly now: () => number;
  readonly logger: Logger;
  readonly ports: Pick<NodePorts, 'files' | 'context'>;
};

const FILE_MODE = 0o600;

/** Opens the habits kept in a state directory; what cannot be read is learned anew. Never rejects. */
export async function openHabits(parts: HabitsParts, directory: string): Promise<Habits> {
  const { clock, now, logger } = parts;
  const { files, context } = parts.ports;
  const saved = await readSaved(files, directory, logger);
  const pipeline = createPipeline(context, saved.profiles);
  const { baselines } = pipeline;
  let written = saved.text;
  let told: { readonly hourMs: number; readonly items: readonly Baseline[] } | null = null;
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
    }, BASELINE_SAVE_INTERVAL_MS);
  }

  arm();
  return {
    pipeline,
    items() {
      const hourMs = hourOf(now());
      if (told === null || told.hourMs !== hourMs || told.items.length === 0) {
        told = { hourMs, items: mostUsed(baselines.profiles(), now()) };
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
function mostUsed(profiles: Profiles, atMs: number): readonly Baseline[] {
  const byUse = [...profiles].sort(([, a], [, b]) => b.executions - a.executions);
  const items: Baseline[] = [];
  let bytes = 0;
  for (const [binary, profile] of byUse) {
    const item = baselineItem(binary, profile, atMs);
    bytes += Buffer.byteLength(JSON.stringify(item));
    if (bytes > BASELINE_SECTION_MAX_BYTES) break;
    items.push(item);
  }
  return items;
}
