#!/usr/bin/env node
// Runs on any Node >= 20 and hands over to the bundled Node 24, which runs this file again and goes on in the same
// process. Compiled code is kept under node_modules, so that no TypeScript is stripped when `run` starts: that, a small
// young generation and one arena of the C library's heap save a third of the memory it would hold for good. Garbage is
// collected by one thread, because waking others costs more than they save in so small a heap. decision: D1
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import * as module from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureInstalled, run } from '../../actors/runtime/launch.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SELF = fileURLToPath(import.meta.url);
const BUNDLED = join(ROOT, 'node_modules', '.bin', 'node');
const CACHE = join(ROOT, 'node_modules', '.cache', 'service-sensor');
const WARM_UP = 'warm-up';
const FLUSH_AFTER_MS = 5_000;

const isBundled = existsSync(BUNDLED) && realpathSync(BUNDLED) === realpathSync(process.execPath);
if (!isBundled) {
  ensureInstalled();
  const { flags, env } = JSON.parse(
    readFileSync(new URL('../../actors/runtime/sensor-process.json', import.meta.url), 'utf8'),
  );
  run([...flags, SELF, ...process.argv.slice(2)], { env });
} else if (process.argv[2] === WARM_UP) {
  module.enableCompileCache(CACHE);
  const { isJoiningDue, joinedName, tryToJoin, useJoinedModules } = await import(
    './joined-modules.ts'
  );
  const joined = join(CACHE, joinedName(ROOT));
  // A package brings them.
  if (isJoiningDue(joined)) await tryToJoin(joined, (line) => process.stderr.write(`${line}\n`));
  useJoinedModules(joined);
  process.argv[2] = 'version';
  await import('../main.ts');
  await import('./service-sensor.ts');
} else {
  module.enableCompileCache(CACHE);
  const { isJoiningDue, joinedName, useJoinedModules } = await import('./joined-modules.ts');
  const joined = join(CACHE, joinedName(ROOT));
  // The very first start fills the cache in a process of its own, which then gives all of its memory back.
  if (process.argv[2] === 'run' && isJoiningDue(joined)) {
    const own = [...process.execArgv, SELF, WARM_UP];
    spawnSync(process.execPath, own, { stdio: ['ignore', 'ignore', 'inherit'] });
  }
  useJoinedModules(joined);
  // What a new version compiled is kept early, because a program that is killed writes nothing at its end.
  setTimeout(() => module.flushCompileCache(), FLUSH_AFTER_MS).unref();
  await import('./service-sensor.ts');
}
