// `npm test` on any Node >= 20: installs what is missing, then runs the tests under the bundled Node.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureInstalled, run } from '../actors/runtime/launch.js';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
ensureInstalled();
// Tests start some hundred processes. What one of them compiled the others find here; the folder is gone with the run.
const compiled = mkdtempSync(join(tmpdir(), 'tests-compiled-'));
process.on('exit', () => rmSync(compiled, { recursive: true, force: true }));
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
  { cwd: root, env: { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? compiled } },
);
