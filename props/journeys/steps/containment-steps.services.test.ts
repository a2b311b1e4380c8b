// A Sensor dies at each step of containing its node and of letting it go. From when the rules were in force until the release
// was ordered not one datagram passes, the time between a death and the next life among it; rules that a power loss took are
// back before the next life connects; nothing is let go that nobody released. KILL_STEPS=all dies at every step.
// decision: D85, D86
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isSkipped } from '../fleet.ts';

const TIMEOUT_MS = 1_800_000;
const RIG = join(import.meta.dirname, 'containment-rig.ts');
const NFT = '/usr/sbin/nft';

function missing(): string | null {
  if (process.getuid?.() !== 0) return 'only root makes network namespaces';
  if (!existsSync(NFT)) return 'nft is not installed here';
  const tried = spawnSync('unshare', ['-m', '-n', NFT, 'list', 'ruleset']);
  return tried.status === 0 ? null : 'this kernel gives no packet filter to a namespace';
}

const skip = isSkipped('steps of containment', missing());
it.skipIf(skip)(
  'should never let a node go that nobody released, wherever its Sensor dies',
  async () => {
    const rig = spawn('unshare', ['-m', '-n', '--kill-child', process.execPath, RIG], {
      env: { ...process.env, OUTER_NETWORK: readlinkSync('/proc/self/ns/net') },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let [out, talk] = ['', ''];
    rig.stdout.on('data', (text: Buffer) => (out += text));
    rig.stderr.on('data', (text: Buffer) => (talk += text));
    const code = await new Promise((resolve) => rig.on('close', resolve));
    expect([code, talk]).toEqual([0, expect.any(String)]);
    const { wrong, done, seed } = JSON.parse(out) as Record<'wrong' | 'done', readonly string[]> & {
      readonly seed: number;
    };
    process.stdout.write(`seed ${seed}\n${done.join('\n')}\n`);
    expect(wrong).toEqual([]);
    const said = done.join('\n');
    if (/\d/.test(process.env['KILL_STEPS'] ?? '')) return;
    // Both before and after the rules came into force, and before and after they were removed.
    for (const how of ['containing.*: not yet', 'containing.*: held', 'releasing.*: held']) {
      expect(said).toMatch(new RegExp(how));
    }
  },
  TIMEOUT_MS,
);
