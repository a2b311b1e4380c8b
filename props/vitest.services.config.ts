// What `npm run test:services` runs: real waits, Debian's PostgreSQL, a browser, network namespaces.
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: join(import.meta.dirname, '..'),
    include: ['**/*.services.test.ts'],
    exclude: ['**/node_modules/**'],
    testTimeout: 600_000,
    expect: { poll: { timeout: 60_000 } },
    hookTimeout: 300_000,
    // Two at a time: each starts whole programs and mostly waits; more would spoil their promises about time.
    maxWorkers: 2,
    pool: 'forks',
    setupFiles: ['props/seed.ts'],
    globalSetup: ['props/page-built.ts'],
  },
});
