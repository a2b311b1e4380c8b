// The tests that a mutant must face: for the machines the quick pure ones, which need no actor shell, no store and no
// socket; for a folder that is asked by itself those that are named for it.
import { join, matchesGlob } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { wantedFolder } from './own-tests.ts';

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

// Examples cost a few milliseconds and a property half a second: the first failure ends a mutant, so examples go first. The
// tests of a folder that is asked by itself are named in the order in which they shall run.
const COSTLY = ['**/props/wire/*', '**/props/models/*', '**/props/machines/*'];
const ORDER = wanted === null ? COSTLY : wanted.tests.map((pattern) => `**/${pattern}`);
const costOf = ({ moduleId }: TestSpecification) =>
  ORDER.findIndex((pattern) => matchesGlob(moduleId, pattern));

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
    // The tests of a folder need four seconds at most, on a busy machine too: one that needs this long waits for ever.
    testTimeout: wanted === null ? 120_000 : 15_000,
    hookTimeout: 60_000,
    // As in `npm test`, these share what they imported.
    isolate: wanted === null,
    setupFiles: ['props/mutation/seed.ts'],
    globalSetup: wanted?.folder === 'storage/relational' ? ['props/mutation/postgres.ts'] : [],
    sequence: { sequencer: ExamplesFirst },
  },
});
