// Runs on any Node >= 20, before anything is installed: makes sure the packages are there, then hands over to the
// bundled Node 24 by its path, with the terminal, the signals and the exit code passed on. Plain JavaScript, because an
// older Node cannot read TypeScript. decision: D1
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const NODE = join(ROOT, 'node_modules', '.bin', 'node');
const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP'];
// As EX_TEMPFAIL of sysexits: try again.
const RESTART = 75;

/** Installs the locked packages when they are missing or belong to another lock file; talks on stderr only. */
export function ensureInstalled() {
  const wanted = readFileSync(join(ROOT, 'package-lock.json'), 'utf8');
  if (existsSync(NODE) && installedMatches(wanted)) return;
  process.stderr.write('Installing the locked packages (once)...\n');
  const npm = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: ROOT,
    stdio: ['ignore', 2, 2],
  });
  if (npm.status !== 0) {
    process.stderr.write('The packages could not be installed; see the messages above.\n');
    process.exit(1);
  }
}

// npm keeps a copy of what it installed; comparing the package lists tells whether a pull changed the lock file.
function installedMatches(wanted) {
  const copy = join(ROOT, 'node_modules', '.package-lock.json');
  if (!existsSync(copy)) return false;
  const installed = JSON.parse(readFileSync(copy, 'utf8')).packages;
  const locked = JSON.parse(wanted).packages;
  return Object.entries(installed).every(
    ([path, entry]) => locked[path]?.version === entry.version,
  );
}

/** Runs a script (path relative to the caller) under the bundled Node with this process's arguments, and exits as it does. */
export function handOver(callerUrl, script, leadingArguments = []) {
  ensureInstalled();
  const path = fileURLToPath(new URL(script, callerUrl));
  run([path, ...leadingArguments, ...process.argv.slice(2)]);
}

/** Runs the bundled Node with exactly these arguments; a child that ends with RESTART is run again. decision: D42 */
export function run(nodeArguments, options = {}) {
  let child = null;
  let isTold = false;
  // A terminal sends Ctrl-C to the whole group, so the child may see one key press twice: it takes signals that come
  // close together as one.
  for (const signal of FORWARDED) {
    process.on(signal, () => {
      isTold = true;
      child.kill(signal);
    });
  }
  const start = () => {
    child = spawn(NODE, nodeArguments, {
      stdio: 'inherit',
      env: {
        ...process.env,
        PATH: `${join(ROOT, 'node_modules', '.bin')}:${process.env.PATH ?? ''}`,
        ...options.env,
      },
      cwd: options.cwd ?? process.cwd(),
    });
    child.on('exit', (code, signal) => {
      if (code === RESTART && !isTold) start();
      else process.exit(signal === null ? (code ?? 1) : 128 + (constants.signals[signal] ?? 1));
    });
  };
  start();
}
