// The tests that a mutant must face: for the machines the quick pure ones, which need no actor shell, no store and no
// socket; for a folder of effect code those that are named for it.
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { wantedFolder } from './effect-folders.ts';

const wanted = wantedFolder();
const OF_MACHINES = [
  'machines/**/*.test.ts',
  'props/machines/*.test.ts',
  'props/models/*.test.ts',
  'props/mutation/*.test.ts',
  'props/wire/*.test.ts',
];
// The spool's properties write real files; its model, its walks and its examples do not.
const NOT_OF_MACHINES = ['**/*.services.test.ts', 'props/machines/spool.test.ts'];

// Examples cost a few milliseconds and a property half a second: the first failure ends a mutant, so examples go first.
const COSTLY = ['/props/wire/', '/props/models/', '/props/machines/'];
const costOf = ({ moduleId }: TestSpecification) =>
  COSTLY.findIndex((folder) => moduleId.includes(folder));

// The runner takes its order as a class.
class ExamplesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.toSorted((a, b) => costOf(a) - costOf(b));
  }
}

export default defineConfig({
  test: {
    root: join(import.meta.dirname, '../..'),
    include: wanted === null ? OF_MACHINES : [...wanted.tests],
    exclude: ['**/node_modules/**', ...(wanted === null ? NOT_OF_MACHINES : [])],
    testTimeout: 120_000,
    setupFiles: ['props/mutation/seed.ts'],
    sequence: { sequencer: ExamplesFirst },
  },
});
