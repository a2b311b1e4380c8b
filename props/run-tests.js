// `npm test` on any Node >= 20: installs what is missing, then runs the tests under the bundled Node.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureInstalled, run } from '../actors/runtime/launch.js';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
ensureInstalled();
run(
  [
    join(root, 'node_modules/vitest/vitest.mjs'),
    'run',
    '--config',
    join(root, 'props/vitest.config.ts'),
    // The other loaders write into node_modules, which may belong to somebody else.
    '--configLoader',
    'native',
    ...process.argv.slice(2),
  ],
  { cwd: root },
);
