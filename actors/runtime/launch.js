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

/**
 * Installs the locked packages when one is missing or of another version; talks on stderr only. In production
 * (`NODE_ENV=production`, or npm told to omit them) packages for development are neither wanted nor installed.
 */
export function ensureInstalled(env = process.env) {
  const withDev = env.NODE_ENV !== 'production' && !/\bdev\b/.test(env.npm_config_omit ?? '');
  if (existsSync(NODE) && firstMissing(lockedPackages(), installedPackages(), withDev) === null)
    return;
  process.stderr.write('Installing the locked packages (once)...\n');
  const omitted = withDev ? [] : ['--omit=dev'];
  const npm = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error', ...omitted], {
    cwd: ROOT,
    stdio: ['ignore', 2, 2],
  });
  if (npm.status !== 0) {
    process.stderr.write('The packages could not be installed; see the messages above.\n');
    process.exit(1);
  }
}

/**
 * The first path at which what is installed is not what the lock file names, or null. What is optional need not be
 * there, because platforms differ; where it is, its version must agree.
 */
export function firstMissing(locked, installed, withDev) {
  for (const [path, entry] of Object.entries(locked)) {
    const isWanted =
      path !== '' && !entry.optional && !entry.devOptional && (withDev || !entry.dev);
    if (isWanted && installed[path] === undefined) return path;
  }
  for (const [path, { version }] of Object.entries(installed)) {
    if (locked[path]?.version !== version) return path;
  }
  return null;
}

function lockedPackages() {
  return JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')).packages;
}

// npm keeps a copy of what it installed.
function installedPackages() {
  const copy = join(ROOT, 'node_modules', '.package-lock.json');
  return existsSync(copy) ? JSON.parse(readFileSync(copy, 'utf8')).packages : {};
}

/**
 * Runs a script (path relative to the caller) under the bundled Node with this process's arguments, and exits as it
 * does. What it compiles is kept beside the packages, so that the next command strips no TypeScript again.
 */
export function handOver(callerUrl, script) {
  ensureInstalled();
  const path = fileURLToPath(new URL(script, callerUrl));
  const cache = process.env.NODE_COMPILE_CACHE ?? join(ROOT, 'node_modules', '.cache', 'console');
  run([path, ...process.argv.slice(2)], { env: { NODE_COMPILE_CACHE: cache } });
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
