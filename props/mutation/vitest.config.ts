// The tests that a mutant must face: the quick pure ones, which need no actor shell, no store and no socket.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: [
      'machines/**/*.test.ts',
      'props/machines/*.test.ts',
      'props/models/*.test.ts',
      'props/mutation/*.test.ts',
      'props/wire/*.test.ts',
    ],
    exclude: ['**/node_modules/**', '**/*.services.test.ts'],
    testTimeout: 30_000,
    setupFiles: ['props/mutation/seed.ts'],
  },
});
