// What `npm run check` holds the repository's text to; no part of `npm test`.
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: join(import.meta.dirname, '../..'),
    include: ['props/tidy/**/*.test.ts'],
    testTimeout: 600_000,
    maxWorkers: 2,
    pool: 'forks',
    setupFiles: ['props/seed.ts'],
  },
});
