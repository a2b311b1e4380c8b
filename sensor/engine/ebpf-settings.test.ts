import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { NO_EBPF_CONFIG } from './ebpf-config.ts';
import { ebpfFlagsOf, notHonoured } from './ebpf-settings.ts';
import { createEngineLauncher } from './engine-launcher.ts';
import { createTetragon, NO_TETRAGON } from './tetragon/tetragon.ts';
import { WATCHED, WATCHED_WRITES } from './watched-paths.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'ebpf-settings-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const flagsOf = async (more: Partial<typeof NO_EBPF_CONFIG>) =>
  (await ebpfFlagsOf({ ...NO_EBPF_CONFIG, ...more })).flags;
/** By prefix, whether reading is told as well. */
function watched(flags: readonly string[]): Map<string, boolean> {
  const pairs = flags.flatMap((flag, at): [string, boolean][] =>
    flag.startsWith('--watch') ? [[flags[at + 1] ?? '', flag === '--watch-path']] : [],
  );
  return new Map(pairs);
}
/** As the kernel decides: the longest prefix alone. */
function tellsReading(flags: readonly string[], file: string): boolean | undefined {
  const fitting = [...watched(flags)].filter(([prefix]) => file.startsWith(prefix));
  return fitting.sort(([one], [other]) => other.length - one.length)[0]?.[1];
}

describe('settings of the ebpf engine', () => {
  it('should know the paths that the engine watches when it is given none', () => {
    const source = readFileSync(new URL('./native/src/watched-paths.c', import.meta.url), 'utf8');
    const listOf = (name: string) => {
      const body = new RegExp(`\\b${name}\\[\\] = \\{(.*?)\\};`, 's').exec(source)?.[1] ?? '';
      return [...body.matchAll(/"([^"]+)"/g)].map(([, text]) => text);
    };
    expect(listOf('WATCHED')).toEqual(WATCHED);
    expect(listOf('WATCHED_WRITES')).toEqual(WATCHED_WRITES);
  });

  it('should leave the engine to itself when nothing is asked', async () => {
    expect(await ebpfFlagsOf(NO_EBPF_CONFIG)).toEqual({ flags: [], disabled: [] });
    expect(await flagsOf({ tellClose: true })).toEqual(['--tell-close']);
  });

  it('should never lessen what is watched by adding to it', async () => {
    const flags = await flagsOf({
      watchPaths: ['/usr/', '/srv/keys/'],
      watchWritePaths: ['/etc/shadow', '/etc/sudoers.d/', '/srv/'],
    });
    for (const path of [...WATCHED, '/usr/bin/id', '/srv/keys/a', '/etc/sudoers.d/x']) {
      expect([path, tellsReading(flags, path)]).toEqual([path, true]);
    }
    for (const path of ['/etc/passwd', '/srv/www/index']) {
      expect([path, tellsReading(flags, path)]).toEqual([path, false]);
    }
    expect(tellsReading(flags, '/home/x')).toBeUndefined();
  });

  it('should leave out a cgroup that is none, and say so', async () => {
    const { flags, disabled } = await ebpfFlagsOf({ ...NO_EBPF_CONFIG, cgroups: [directory] });
    expect(flags).toEqual([]);
    const reason = expect.stringMatching(/so that nothing is filtered: .*ebpf-settings-/);
    expect(disabled).toEqual([{ hook: 'ebpf/cgroups', reason }]);
  });

  it('should be told of an engine that cannot do it', async () => {
    const config = { ...NO_EBPF_CONFIG, watchPaths: ['/srv/'], tellClose: true };
    const reason = 'sensor.yaml asks for it, and the engine procfs cannot do it';
    const expected = [
      { hook: 'ebpf/watch_paths', reason },
      { hook: 'ebpf/tell_close', reason },
    ];
    expect(await notHonoured('procfs', config)).toEqual(expected);
    const launcher = createEngineLauncher(path.join(directory, 'one'), 'procfs', { ebpf: config });
    await launcher.unpack();
    expect(launcher.passedOver().slice(-2)).toEqual(expected);
  });
});

describe('an engine that was asked for and cannot run', () => {
  it('should be the kind that is told, with its reason, although nothing was chosen', async () => {
    const stateDir = path.join(directory, 'two');
    const tetragon = createTetragon(stateDir, NO_TETRAGON);
    const launcher = createEngineLauncher(stateDir, 'tetragon', { tetragon });
    await expect(launcher.unpack()).rejects.toThrow('no bundle is named');
    expect(launcher.kind()).toBe('tetragon');
    expect(launcher.passedOver()).toEqual([
      { hook: 'engine/tetragon', reason: expect.stringContaining('no bundle is named') },
    ]);
  });
});
