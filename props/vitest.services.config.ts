// What `npm run test:services` runs: real waits, Debian's PostgreSQL, a browser, network namespaces.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['**/*.services.test.ts'],
    exclude: ['**/node_modules/**'],
    testTimeout: 300_000,
    hookTimeout: 120_000,
    // One at a time: each starts whole programs, and their promises about time want the machine to themselves.
    fileParallelism: false,
    pool: 'forks',
    setupFiles: ['props/seed.ts'],
  },
});
