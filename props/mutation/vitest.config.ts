// The tests that a mutant must face: the quick pure ones, which need no actor shell, no store and no socket.
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

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
    include: [
      'machines/**/*.test.ts',
      'props/machines/*.test.ts',
      'props/models/*.test.ts',
      'props/mutation/*.test.ts',
      'props/wire/*.test.ts',
    ],
    // The spool's properties write real files; its model, its walks and its examples do not.
    exclude: ['**/node_modules/**', '**/*.services.test.ts', 'props/machines/spool.test.ts'],
    testTimeout: 120_000,
    setupFiles: ['props/mutation/seed.ts'],
    sequence: { sequencer: ExamplesFirst },
  },
});
