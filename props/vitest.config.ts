// What `npm test` runs: everything that needs no running service, no root and no long real time. Files that test rules
// alone share their workers and what those have imported: nothing there is kept from one to the next.
import { join } from 'node:path';
import { configDefaults, defineConfig } from 'vitest/config';

// What `npm run check` proves of the text is not proven again here.
const EXCLUDED = [...configDefaults.exclude, '**/*.services.test.ts', 'props/tidy/**'];
const OF_RULES = testsIn([
  'machines',
  'props/machines',
  'props/models',
  'props/wire',
  'props/pipeline',
]);
/**
 * Parts that keep nothing in their modules: more than half of the time of these files is what they import. Each line is a
 * project: of those that import the same, so that they do it once, and no larger, so that its workers end, and what they have
 * gathered with them, before those of the next begin.
 */
const OF_SHARED: Readonly<Record<string, readonly string[]>> = {
  console: testsIn(['actors', 'storage', 'props/contracts', 'gateway', 'props/attacks']),
  sensor: testsIn(['sensor', 'props/peers']),
  fleet: testsIn(['props/simulation', 'props/mutation', 'props/fuzz']),
};
/** Files in those folders that need a process of their own. */
const OF_THEIR_OWN = [
  // It changes the time zone of its process.
  'props/attacks/calendar.test.ts',
  // It replaces a module for whatever is imported after it.
  'sensor/actors/node.actor.test.ts',
];

function testsIn(folders: readonly string[]): string[] {
  return folders.map((folder) => `${folder}/**/*.test.ts`);
}

export default defineConfig({
  test: {
    root: join(import.meta.dirname, '..'),
    // For a machine that is busy with other things: no test judges how fast it is.
    testTimeout: 600_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    // Tests wait as long as they work, so that two cores serve three files at a time; a fourth worker would only import more.
    maxWorkers: 3,
    pool: 'forks',
    // Workers that share what they imported would else grow until a machine of four gigabytes has no more.
    execArgv: ['--max-old-space-size=1000'],
    setupFiles: ['props/seed.ts'],
    projects: [
      // The longest file first, beside others.
      { extends: true, test: { name: 'alone', include: OF_THEIR_OWN } },
      { extends: true, test: { name: 'rules', include: OF_RULES, isolate: false } },
      ...Object.entries(OF_SHARED).map(([name, include]) => ({
        extends: true as const,
        test: {
          name,
          include: [...include],
          exclude: [...EXCLUDED, ...OF_THEIR_OWN],
          isolate: false,
        },
      })),
      {
        extends: true,
        test: {
          name: 'parts',
          include: ['**/*.test.ts'],
          exclude: [...EXCLUDED, ...OF_RULES, ...Object.values(OF_SHARED).flat()],
        },
      },
    ],
  },
});
