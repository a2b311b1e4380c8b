// What the next life of a Sensor has to know of the builds of its engine that were tried: a small file in the state
// directory. It is written before a build is tried, and no build is tried that it could not be written of; so a Sensor
// that ends at any moment begins again with an engine that ran before. decision: D50
import { join } from 'node:path';
import Type from 'typebox';
import type { Logger } from '../../../actors/runtime/logger.ts';
import {
  ENGINE_TRIALS_FILE_MAX_BYTES,
  ENGINE_TRIALS_MAX,
} from '../../../machines/sensor/engine-limits.ts';
import type { EngineTrial } from '../../../machines/sensor/engine-trials.rules.ts';
import { parserOf } from '../../../machines/wire/parse.ts';
import { Text } from '../../../machines/wire/scalars.ts';
import type { EngineLauncher } from '../../engine/engine-launcher.ts';
import { removeDurably, writeAtomic } from '../../state-directory/atomic-file.ts';
import { errorCode, type Files } from '../../state-directory/file-port.ts';
import { STATE_FILES } from '../../state-directory/identity.ts';

const FILE_MODE = 0o600;
const KINDS = ['tetragon', 'ebpf', 'procfs'] as const;
const FILES_MAX = 256;
const REASON_MAX_CHARS = 512;

const Sum = Type.String({ pattern: '^[0-9a-f]{64}$' });
// No path leads out of the engine's directory.
const FileName = Type.String({ pattern: '^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$' });
const Build = Type.Object({ kind: Type.Enum([...KINDS]), sum: Sum, name: Text(128) });
const TrialsSchema = Type.Object({
  version: Type.Literal(1),
  /** Of each kind the last one. */
  trials: Type.Array(
    Type.Object({
      build: Build,
      reason: Type.Union([Type.Null(), Text(REASON_MAX_CHARS)]),
      trials: Type.Integer({ minimum: 0, maximum: ENGINE_TRIALS_MAX }),
      kept: Type.Union([
        Type.Null(),
        Type.Object({
          build: Build,
          files: Type.Array(Type.Object({ name: FileName, sum: Sum }), { maxItems: FILES_MAX }),
        }),
      ]),
    }),
    { maxItems: KINDS.length },
  ),
});
const parseTrials = parserOf(TrialsSchema);

/** An engine's launcher whose trials outlive the Sensor. */
export type RememberingLauncher = EngineLauncher & {
  /** Writes what could not be written before. Never rejects. */
  save(): Promise<void>;
};
type Parts = {
  readonly config: { readonly stateDir: string };
  readonly logger: Logger;
  readonly ports: { readonly files: Files; readonly engine: EngineLauncher };
};

/** Tells the launcher what an earlier life knew, and keeps what this one learns. */
export function rememberTrials(parts: Parts): RememberingLauncher {
  const { logger, ports } = parts;
  const { files, engine } = ports;
  const directory = parts.config.stateDir;
  let isRecalled = false;
  /** What is on the disk; null = that is not sure. */
  let written: string | null = null;
  let writing: Promise<void> = Promise.resolve();

  async function recall(): Promise<void> {
    const found = await readTrials(files, directory, logger);
    isRecalled = true;
    written = found.text;
    engine.recall(found.trials);
  }

  /** Rejects when the disk refuses. */
  function write(): Promise<void> {
    const next = writing.then(async () => {
      const text = textOf(engine.trials());
      if (text === written) return;
      written = null;
      if (text === '') await removeDurably(files, directory, STATE_FILES.engineTrials);
      else await writeAtomic(files, directory, STATE_FILES.engineTrials, { text, mode: FILE_MODE });
      written = text;
    });
    writing = next.catch(() => undefined);
    return next;
  }

  async function save(): Promise<void> {
    try {
      await write();
    } catch (error) {
      logger.warn({ code: errorCode(error) }, 'what was tried of engines cannot be written now');
    }
  }

  return {
    ...engine,
    save,
    async unpack() {
      if (!isRecalled) await recall();
      const hasFallback = await engine.unpack();
      await save();
      return hasFallback;
    },
    async prepareNext(build) {
      const next = await engine.prepareNext(build);
      await write();
      return next;
    },
    async acceptNext() {
      await Promise.all([engine.acceptNext(), save()]);
    },
    refuseNext(build, reason) {
      engine.refuseNext(build, reason.slice(0, REASON_MAX_CHARS));
      void save();
    },
  };
}

function textOf(trials: readonly EngineTrial[]): string {
  return trials.length === 0 ? '' : `${JSON.stringify({ version: 1, trials })}\n`;
}

type Found = { readonly text: string; readonly trials: readonly EngineTrial[] };
async function readTrials(files: Files, directory: string, logger: Logger): Promise<Found> {
  const file = join(directory, STATE_FILES.engineTrials);
  try {
    const facts = await files.stat(file);
    if (facts === null) return { text: '', trials: [] };
    const isSmall = facts.bytes <= ENGINE_TRIALS_FILE_MAX_BYTES;
    const text = isSmall ? (await files.readFile(file)).toString() : '';
    const parsed = parseTrials(text);
    if (parsed.ok) return { text, trials: parsed.value.trials };
    logger.warn({}, 'what was tried of engines cannot be understood; it counts as nothing');
  } catch (error) {
    logger.warn({ code: errorCode(error) }, 'what was tried of engines cannot be read');
  }
  // It stays as it is until there is something to write.
  return { text: '', trials: [] };
}
