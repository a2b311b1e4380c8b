// Containment in the kernel: nothing but the Console passes, for the node, for containers behind its bridge, over IPv6, for
// what is forwarded and for connections that were there before. Everything happens in namespaces of its own.
import { spawnSync } from 'node:child_process';
import { existsSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const TIMEOUT_MS = 900_000;
const RIG = join(import.meta.dirname, 'network-rig.fixture.ts');
const refused =
  process.getuid?.() !== 0
    ? 'only root makes network namespaces'
    : !existsSync('/usr/sbin/nft')
      ? 'nft is not installed here'
      : spawnSync('unshare', ['-m', '-n', '/usr/sbin/nft', 'list', 'ruleset']).status !== 0
        ? 'this kernel gives no packet filter to a namespace'
        : undefined;
if (refused !== undefined) process.stdout.write(`containment in the kernel: skipped: ${refused}\n`);

describe.skipIf(refused !== undefined)('containment in the kernel', () => {
  it(
    'should let nothing pass but the Console, put rules back, survive a crash and a power loss, and let go',
    () => {
      const rig = spawnSync(
        'unshare',
        ['-m', '-n', '-p', '--fork', '--kill-child', process.execPath, RIG],
        {
          encoding: 'utf8',
          timeout: TIMEOUT_MS,
          env: { ...process.env, OUTER_NETWORK: readlinkSync('/proc/self/ns/net') },
        },
      );
      expect([rig.status, rig.stderr]).toEqual([0, expect.any(String)]);
      const results = JSON.parse(rig.stdout) as readonly (readonly [string, unknown])[];
      const found = Object.fromEntries(results);
      const of = (when: string) =>
        results.filter(([name]) => name.startsWith(`${when}: `)).filter(([, got]) => got === true);
      const all = results.filter(([name]) => name.startsWith('free: '));
      expect(all.length).toBeGreaterThan(15);
      expect(of('free').length).toBe(all.length);
      expect(
        of('contained')
          .map(([name]) => name.slice('contained: '.length))
          .sort(),
      ).toEqual(['held to console', 'node > console', 'node > itself']);
      expect(of('released').filter(([name]) => name.includes(' > ')).length).toBe(
        of('free').filter(([name]) => name.includes(' > ')).length,
      );
      expect(found).toMatchObject({
        ...{ repaired: false, restored: false, overtaken: 'contained', 'by IPv6': true },
        'table after release': null,
        'table after its end': null,
        'unknown name': 'the name of the Console cannot be looked up',
        'own address': 'the Console, or the proxy to it, runs on this node',
      });
      expect(found).not.toHaveProperty('wrong');
    },
    TIMEOUT_MS,
  );
});
