// The tree of a process and what belongs to it, by example. decision: D131, D141
import { describe, expect, it } from 'vitest';
import type { EventProcess, StoredEvent } from '../wire/event.ts';
import { eventOf, NOON_MS, proc } from './event.fixture.ts';
import { processTreeOf, startedBy } from './process-tree.rules.ts';
import { treeKeyOf } from './tree-key.ts';

describe('the tree of a process', () => {
  const root = proc('r', '/bin/r');
  const at = (secs: number, more: Partial<StoredEvent>) =>
    eventOf({ observed_at: new Date(NOON_MS + secs * 1_000).toISOString(), ...more });
  const child = (id: string, of: EventProcess, secs: number) =>
    at(secs, { process: proc(id, `/bin/${id}`), parent: of });
  const bounds = { nodesMax: 10, depthMax: 5 };

  it('should be walked by who started before whom, with times of start and end', () => {
    const events = [
      child('b', root, 3),
      child('a', root, 2),
      child('c', proc('a', '/bin/a'), 4),
      at(5, { process: root, event_kind: 'process_exit' }),
      at(1, { process: root, parent: proc('u', '/bin/u'), ancestors: [proc('i', '/bin/i')] }),
    ];
    const tree = processTreeOf('r', events, bounds);
    expect(tree?.isCut).toBe(false);
    const line = tree?.nodes.map((one) => [one.execId, one.parentExecId, one.depth]);
    expect(line).toEqual([
      ['i', null, -2],
      ['u', 'i', -1],
      ['r', 'u', 0],
      ['a', 'r', 1],
      ['c', 'a', 2],
      ['b', 'r', 1],
    ]);
    expect(tree?.nodes[2]).toMatchObject({
      startedAt: new Date(NOON_MS + 1_000).toISOString(),
      endedAt: new Date(NOON_MS + 5_000).toISOString(),
    });
    expect(tree?.nodes[0]).toMatchObject({ startedAt: null, endedAt: null });
    expect(processTreeOf('x', events, bounds)).toBeNull();
    expect(startedBy(new Set(['r']), events)).toEqual(['b', 'a']);
  });

  it('should be cut where it is too large or too deep', () => {
    const events = [child('a', root, 1), child('b', proc('a', '/bin/a'), 2), child('c', root, 3)];
    const ids = (nodesMax: number, depthMax: number) => {
      const tree = processTreeOf('r', events, { nodesMax, depthMax });
      return [tree?.nodes.map(({ execId }) => execId).join(''), tree?.isCut];
    };
    expect(ids(4, 2)).toEqual(['rabc', false]);
    expect(ids(3, 2)).toEqual(['rab', true]);
    expect(ids(9, 1)).toEqual(['rac', true]);
    expect(ids(9, 0)).toEqual(['r', true]);
  });

  it('should end where a circle closes', () => {
    const events = [child('a', root, 1), at(2, { process: root, parent: proc('a', '/bin/a') })];
    expect(processTreeOf('r', events, bounds)?.nodes.map(({ execId }) => execId)).toEqual([
      ...['a', 'r'],
    ]);
    expect(processTreeOf('s', [child('s', proc('s', '/bin/s'), 1)], bounds)?.nodes).toHaveLength(1);
  });

  it('should be of what is outermost and no starter of others', () => {
    const key = (...line: readonly (readonly [string, string, number?])[]) => {
      const [process, parent, ...ancestors] = line.map(([id, binary, pid = 9]) =>
        proc(id, binary, { pid }),
      );
      return treeKeyOf(
        eventOf({
          ...(process && { process }),
          ...(parent && { parent }),
          ...(ancestors.length > 0 && { ancestors }),
        }),
      );
    };
    expect(key()).toBe('');
    expect(key(['a', '/bin/a'], ['b', '/bin/b'], ['c', '/bin/c'], ['d', '/usr/sbin/sshd'])).toBe(
      'c',
    );
    expect(key(['a', '/usr/sbin/cron'], ['i', '/sbin/init', 1])).toBe('a');
    expect(key(['a', '/bin/a'], ['i', '/bin/x', 1])).toBe('a');
    expect(key(['a', '/bin/a'], ['i', '/bin/x', 2])).toBe('i');
    const starters =
      'sshd sshd-session cron crond atd login agetty systemd containerd-shim-runc-v2 containerd-shim ' +
      'conmon dockerd containerd runc tini tmux screen xinetd supervisord init';
    for (const name of starters.split(' ')) {
      expect(key(['a', '/bin/a'], ['s', `/usr/bin/${name}`])).toBe('a');
      expect(key(['a', '/bin/a'], ['s', `/usr/bin/${name}/x`])).toBe('s');
      expect(key(['a', '/bin/a'], ['s', `/usr/bin/x${name}`])).toBe('s');
    }
  });
});
