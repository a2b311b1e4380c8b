// An engine that takes more and more of the machine's memory, as a process of its own: it is ended and started again.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, expect, it } from 'vitest';
import { silentLogger } from '../../../actors/runtime/silent-logger.ts';
import { createWheelClock } from '../../../actors/runtime/wheel-clock.ts';
import { DEFAULT_INTERVALS } from '../../../machines/intervals.ts';
import { emptyFacts } from '../../actors/facts.ts';
import { createEngineLauncher } from '../../engine/engine-launcher.ts';
import { diskFiles } from '../../state-directory/file-port.ts';
import { startEngine } from './engine.actor.ts';

// The first of them never stops growing, in steps that a sign of life follows; those after it stay small.
const PROGRAM = `
import { existsSync, writeFileSync } from 'node:fs';
const grown = import.meta.dirname + '/grown';
const isFirst = !existsSync(grown);
writeFileSync(grown, '');
const say = (word) => process.stdout.write(JSON.stringify(word) + '\\n');
say({ engine: 'procfs', mode: 'polling', version: isFirst ? '1.7.0-greedy' : '1.7.0-modest', disabled_hooks: [] });
const held = [];
setInterval(() => {
  if (isFirst) held.push(Buffer.alloc(16 * 1024 * 1024, 1));
  say({ alive: new Date().toISOString(), written: 0, lost: 0 });
}, 20);
process.stdin.on('end', () => process.exit(0)).resume();
`;

const directory = mkdtempSync(path.join(tmpdir(), 'runaway-'));
const clock = createWheelClock();
const facts = emptyFacts();
let end = async (): Promise<void> => undefined;
afterEach(async () => {
  await end();
  clock.stop();
  rmSync(directory, { recursive: true, force: true });
});

it('should end an engine that takes too much memory, and start it again', async () => {
  const carried = path.join(directory, 'carried');
  mkdirSync(path.join(carried, 'procfs'), { recursive: true });
  mkdirSync(path.join(directory, 'state'));
  writeFileSync(path.join(carried, 'procfs', 'procfs-engine.ts'), PROGRAM);
  const said: string[] = [];
  const warn = (about: { reason?: unknown }) => void said.push(String(about.reason));
  const parts = {
    config: {
      stateDir: path.join(directory, 'state'),
      nodeName: 'n1',
      intervals: DEFAULT_INTERVALS,
    },
    ...{
      logger: { ...silentLogger, warn },
      clock,
      facts,
      seed: 1,
      monotonicNow: () => performance.now(),
    },
    onCrash: (_: string, error: unknown) => {
      throw error;
    },
    ports: {
      files: diskFiles,
      engine: createEngineLauncher(path.join(directory, 'state'), 'procfs', {
        carried: pathToFileURL(`${carried}/`),
      }),
    },
  };
  const policies = { given: {}, useEngine() {}, hear() {}, loaded: () => [] };
  const actor = startEngine(parts as never, 'events.log', policies as never, () => undefined);
  end = async () => {
    actor.send({ type: 'stop.requested' });
    await expect.poll(() => actor.getSnapshot().status).toBe('done');
  };
  await expect.poll(() => facts.engine.version, { timeout: 60_000 }).toBe('1.7.0-greedy');
  await expect
    .poll(() => [facts.engine.state, facts.engine.version, facts.engine.restarts], {
      timeout: 60_000,
    })
    .toEqual(['running', '1.7.0-modest', 1]);
  expect(said.join('\n')).toMatch(/memory/);
});
