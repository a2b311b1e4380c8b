// The files of the first run in the data directory. Each appears whole or not at all and outlives a power failure; all are
// mode 600, because they hold addresses with passwords. decision: D42; invariant: I7, I11
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readIfPresent, writeFileDurably } from '../../../storage/keys/key-files.ts';
import type { AuditEntry } from '../../../storage/ports/audit/audit-log.ts';
import { readRefusals, withRefusals } from '../../setup/setup-refusals.ts';

export const CONFIGURATION_FILE = 'console.yaml';
export const ANSWERS_FILE = 'setup.json';
export const REFUSALS_FILE = 'setup-refused.json';

export type SetupFiles = {
  readAnswers(): Promise<string | undefined>;
  writeAnswers(text: string): Promise<void>;
  removeAnswers(): Promise<void>;
  writeConfiguration(text: string): Promise<void>;
  /** Wrong codes that wait for an audit log. */
  readRefusals(): Promise<readonly AuditEntry[]>;
  addRefusals(more: readonly AuditEntry[]): Promise<void>;
  removeRefusals(): Promise<void>;
};

/** The files of one data directory. */
export function setupFiles(dataDir: string): SetupFiles {
  const answers = join(dataDir, ANSWERS_FILE);
  const refusals = join(dataDir, REFUSALS_FILE);
  return {
    readAnswers: () => readIfPresent(answers),
    writeAnswers: (text) => writeFileDurably(answers, text),
    removeAnswers: () => rm(answers, { force: true }),
    readRefusals: async () => readRefusals(await readIfPresent(refusals)),
    async addRefusals(more) {
      const kept = readRefusals(await readIfPresent(refusals));
      await writeFileDurably(refusals, withRefusals(kept, more));
    },
    removeRefusals: () => rm(refusals, { force: true }),
    writeConfiguration: (text) => writeFileDurably(join(dataDir, CONFIGURATION_FILE), text),
  };
}
