// What began while the procfs engine did not watch, or could not: counted, however the last one ended. invariant: I19
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { engineLossOf } from '../../pipeline/engine-loss.ts';
import {
  beginDirectory,
  endDirectory,
  INSTANCES,
  lineWith,
  start,
  startBy,
  wordsOf,
} from '../procfs-rig.ts';

let directory = '';
beforeEach(() => {
  directory = beginDirectory();
});
afterEach(endDirectory);

describe('procfs engine, polling', () => {
  it('should count what began and ended between two looks', async () => {
    const running = await start('--mode', 'polling', '--poll-ms', '500');
    const words = wordsOf(running);
    spawnSync('/bin/sh', ['-c', 'i=0; while [ $i -lt 200 ]; do /bin/true; i=$((i+1)); done']);
    const ended = once(running.child, 'close');
    running.child.stdin.end();
    await ended;
    const seen = readFileSync(running.file, 'utf8').match(/"process_exec".*\/true"/g) ?? [];
    expect(Number(words.at(-1)?.['lost']) + seen.length).toBeGreaterThanOrEqual(200);
  });
});

describe.skipIf(INSTANCES === '')('procfs engine, after a gap', () => {
  it('should leave to the next one what it could not tell before it ended', async () => {
    const bound = 'trap \'\' XFSZ; ulimit -f 16; exec "$@"';
    const first = await startBy(['sh', '-c', bound, 'sh']);
    const words = wordsOf(first);
    for (let round = 0; round < 60; round += 1) spawnSync('/bin/true', ['x'.repeat(1_000)]);
    const ended = once(first.child, 'close');
    first.child.stdin.end();
    await ended;
    const lost = Number(words.at(-1)?.['lost']);
    const second = await start();
    const told = JSON.parse(await lineWith(second.file, '"rate_limit_info"'));
    expect(lost).toBeGreaterThan(20);
    expect(Number(told.rate_limit_info.number_of_dropped_process_events)).toBeGreaterThanOrEqual(
      lost,
    );
  });

  it('should say after a kill for how long nobody watched, and count what began meanwhile', async () => {
    const first = await start();
    spawnSync('/bin/true', ['told']);
    await lineWith(first.file, '"process_exit"', '/bin/true"');
    const killed = once(first.child, 'exit');
    first.child.kill('SIGKILL');
    await killed;
    spawnSync('/bin/sh', ['-c', 'i=0; while [ $i -lt 100 ]; do /bin/true; i=$((i+1)); done']);
    const second = await start();
    const words = wordsOf(second);
    const told = JSON.parse(await lineWith(second.file, '"rate_limit_info"'));
    const ended = once(second.child, 'close');
    second.child.stdin.end();
    await ended;
    const lost = Number(words.at(-1)?.['lost']);
    expect(second.hello).toMatchObject({ gap_ms: expect.any(Number), lost });
    expect(lost).toBeGreaterThanOrEqual(100);
    expect(engineLossOf(JSON.stringify(told))).toEqual({ kernel_lost: 0, engine_lost: lost });
  });

  it('should count what began after one that was asked to end, too, and tell the span', async () => {
    const first = await start();
    const ended = once(first.child, 'exit');
    first.child.stdin.end();
    await ended;
    spawnSync('/bin/sh', ['-c', 'i=0; while [ $i -lt 100 ]; do /bin/true; i=$((i+1)); done']);
    const second = await start();
    const told = JSON.parse(await lineWith(second.file, '"rate_limit_info"'));
    const { unwatched } = told.rate_limit_info;
    expect(unwatched).toMatchObject({ how: 'stopped' });
    expect(second.hello).toMatchObject({ unwatched, gap_ms: expect.any(Number) });
    expect(Number(told.rate_limit_info.number_of_dropped_process_events)).toBeGreaterThan(99);
    expect(Date.parse(unwatched.until)).toBeGreaterThan(Date.parse(unwatched.since));
  });

  it('should tell the span and count what began since the machine started anew', async () => {
    writeFileSync(
      path.join(directory, 'events.log.sign'),
      `${'0'.repeat(8)}-0000-4000-8000-${'0'.repeat(12)} 000000000000005 0000000007 000000000000009 ${String(Date.now() - 60_000).padStart(15, '0')} 0\n`,
    );
    const { hello, file } = await start();
    const told = JSON.parse(await lineWith(file, '"rate_limit_info"'));
    expect(hello).toMatchObject({ unwatched: { how: 'rebooted' } });
    expect(told.rate_limit_info.unwatched).toMatchObject({ how: 'rebooted' });
    expect(Number(told.rate_limit_info.number_of_dropped_process_events)).toBeGreaterThan(100);
  });
});
