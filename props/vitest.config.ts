// What `npm test` runs: everything that needs no running service, no root and no long real time. Files that test rules
// alone share their workers and what those have imported: nothing there is kept from one to the next.
import { join } from 'node:path';
import { configDefaults, defineConfig } from 'vitest/config';

const EXCLUDED = [...configDefaults.exclude, '**/*.services.test.ts'];
const OF_RULES = ['machines', 'props/machines', 'props/models', 'props/wire', 'props/pipeline'].map(
  (folder) => `${folder}/**/*.test.ts`,
);
/** Parts that keep nothing in their modules: more than half of the time of these files is what they import. */
const OF_SHARED = ['actors', 'gateway', 'storage', 'props/contracts'].map(
  (folder) => `${folder}/**/*.test.ts`,
);

export default defineConfig({
  test: {
    root: join(import.meta.dirname, '..'),
    // For a machine that is busy with other things: no test judges how fast it is.
    testTimeout: 600_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    // Tests wait as long as they work, so that two cores serve three files at a time.
    maxWorkers: 3,
    pool: 'forks',
    setupFiles: ['props/seed.ts'],
    projects: [
      { extends: true, test: { name: 'rules', include: OF_RULES, isolate: false } },
      {
        extends: true,
        test: {
          name: 'shared',
          include: OF_SHARED,
          exclude: EXCLUDED,
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'parts',
          include: ['**/*.test.ts'],
          exclude: [...EXCLUDED, ...OF_RULES, ...OF_SHARED],
        },
      },
    ],
  },
});
