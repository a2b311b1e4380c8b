import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type Running,
  skipReason,
  startEngine,
  stopEngine,
  type Told,
  until,
} from './engine-rig.ts';

const refused = skipReason('ebpf engine, programs without a file');

let directory = '';
let running: Running | undefined;
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'ebpf-'));
});
afterEach(async () => {
  if (running !== undefined) await stopEngine(running);
  running = undefined;
  rmSync(directory, { recursive: true, force: true });
});

describe.skipIf(refused !== undefined)('ebpf engine, programs without a file', () => {
  it('should name a program that lies in memory alone as the kernel does', async () => {
    running = await startEngine(directory);
    const { file } = running;
    // memfd_create, a copy of a program, and execveat with AT_EMPTY_PATH, or by the name of its descriptor.
    const script = String.raw`
      my ($how, $name) = @ARGV;
      my $fd = syscall(319, $name, 0);
      open(my $to, '>&=', $fd) or die "memfd: $!";
      open(my $from, '<', '/bin/true') or die;
      local $/; binmode($to); print {$to} <$from>; $to->flush;
      exec {"/proc/self/fd/$fd"} 'hidden', $how if $how eq 'by-name';
      my $words = pack('ppx8', "hidden\0", "$how\0");
      my $none = pack('x8');
      my $empty = "\0";
      syscall(322, $fd, $empty, $words, $none, 0x1000);
      die "execveat: $!";`;
    for (const how of ['by-name', 'empty-path']) {
      const ran = spawnSync('perl', ['-MIO::Handle', '-e', script, how, `pay/load "${how}"`]);
      expect(String(ran.stderr)).toBe('');
    }
    const isHidden = ({ kind, body }: Told) =>
      kind === 'process_exec' && /^(?:by-name|empty-path)$/.test(body.process.arguments ?? '');
    const execs = (await until(file, (all) => all.filter(isHidden).length === 2)).filter(isHidden);
    expect(execs.map(({ body }) => body.process.binary)).toEqual([
      expect.stringMatching(/^\/proc\/self\/fd\/\d+$/),
      expect.stringMatching(/^\/dev\/fd\/\d+$/),
    ]);
    expect(execs.map(({ body }) => body.process.binary_properties)).toEqual(
      ['by-name', 'empty-path'].map((how) => ({
        file: {
          inode: { number: expect.stringMatching(/^\d+$/), links: 0 },
          path: `/memfd:pay/load "${how}" (deleted)`,
        },
      })),
    );
  });
});
