// Simulated nodes with packs: no unverified, partial or older pack is ever in force, over many seeds; and bugs that are
// planted into a node's disk are found.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Files, OpenFile } from '../../../sensor/state-directory/file-port.ts';
import { runs } from '../../runs.ts';
import { runPacks, STRANGER } from './pack-world.ts';

const TIMEOUT_MS = 600_000;
const SEEDS = runs(8);
const PLANTED_SEEDS = 60;

/** Changes what is written into files of this name. */
function rewriting(name: string, change: (text: string) => string): (files: Files) => Files {
  return (files) => ({
    ...files,
    async open(path, how, mode) {
      const file = await files.open(path, how, mode);
      if (!path.includes(name)) return file;
      const append: OpenFile['append'] = (bytes) =>
        file.append(Buffer.from(change(Buffer.from(bytes).toString())));
      return { ...file, append };
    },
  });
}

const BUGS: Readonly<Record<string, (files: Files) => Files>> = {
  'what is kept is not synced': (files) => ({
    ...files,
    syncDirectory: async () => undefined,
    open: async (path, how, mode) => ({
      ...(await files.open(path, how, mode)),
      sync: async () => undefined,
    }),
  }),
  'the highest version is forgotten': rewriting('assigned-pack.json', (text) =>
    JSON.stringify({ ...(JSON.parse(text) as object), highest: {} }),
  ),
  'a stranger is trusted': (files) => ({
    ...files,
    readFile: async (path) => {
      const bytes = await files.readFile(path);
      return path.endsWith('policy-signing.pub')
        ? Buffer.concat([bytes, Buffer.from(STRANGER.pem)])
        : bytes;
    },
  }),
  'the engine is given a part': rewriting('run/policies', (text) =>
    text.replace(/policy two [\s\S]*?(?=policy |end)/, ''),
  ),
};

describe('simulated nodes with packs', () => {
  it(
    `always have one whole, verified, newest pack in force, over ${SEEDS} seeds`,
    async () => {
      for (let at = 0; at < SEEDS; at += 1) {
        const seed = `packs ${fc.readConfigureGlobal().seed} ${at}`;
        const { problem, acts } = await runPacks(seed);
        expect(problem, `${seed}: ${acts.join(', ')}`).toBeNull();
      }
    },
    TIMEOUT_MS,
  );

  it.each(Object.entries(BUGS))(
    'find it when %s',
    async (_, plant) => {
      let found: string | null = null;
      for (let at = 0; at < PLANTED_SEEDS && found === null; at += 1) {
        found = (await runPacks(`planted ${at}`, plant)).problem;
      }
      expect(found).not.toBeNull();
    },
    TIMEOUT_MS,
  );
});
