import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { countersInDump, countersInMetrics, kernelLosses, metricsLosses } from './losses.ts';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

const METRICS = `# HELP tetragon_bpf_missed_events_total Number of Tetragon perf events.
# TYPE tetragon_bpf_missed_events_total counter
tetragon_bpf_missed_events_total{error="ENOSPC",msg_op="5"} 3
tetragon_bpf_missed_events_total{error="E2BIG",msg_op="23"} 2
tetragon_events_total{binary="/bin/a } b",type="PROCESS_EXEC"} 1e+06
tetragon_observer_ringbuf_events_lost_total 10
tetragon_observer_ringbuf_queue_events_lost_total 100
tetragon_notify_overflowed_events_total 1000
tetragon_export_ratelimit_events_dropped_total 1e+04
`;

describe("Tetragon's losses", () => {
  it('should be the sums of its loss counters, and of nothing that its export tells', () => {
    expect(countersInMetrics(METRICS)).toEqual({ inKernel: 15, inProgram: 1_100 });
    expect(countersInMetrics('go_goroutines 5\n')).toBeUndefined();
    expect(countersInMetrics('')).toBeUndefined();
  });

  it('should be read from its metrics, and be unknown when those do not answer', async () => {
    const server = createServer((request, answer) =>
      answer.end(request.url === '/metrics' ? METRICS : ''),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closing.push(() => server.close());
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    expect(await metricsLosses(`127.0.0.1:${port}`)).toEqual({ inKernel: 15, inProgram: 1_100 });
    expect(await metricsLosses('127.0.0.1:1')).toBeUndefined();
  });

  it.each([
    ['nothing', ''],
    ['an error', '{"error":"bpf obj get failed"}'],
    ['half a counter', '[{"key":[],"values":[{"cpu":0,"value":["0x01"]}]}]'],
    ['no list', '[{"key":[]}]'],
  ])('should be unknown when the map reader says %s', (_, text) => {
    expect(countersInDump(text)).toBeUndefined();
  });

  it('should be unknown when there is no map reader or no map', async () => {
    expect(await kernelLosses('/nowhere/bpftool', '/x')).toBeUndefined();
    expect(await kernelLosses('/bin/false', '/x')).toBeUndefined();
  });
});

// The map reader mounts a BPF file system over the folder that it pins into: a folder of this test's own.
const pins = mkdtempSync(join(tmpdir(), 'losses-pins-'));
const map = join(pins, 'losses');
afterAll(() => {
  while (readFileSync('/proc/mounts', 'utf8').includes(` ${pins} `)) {
    execFileSync('umount', [pins]);
  }
  rmSync(pins, { recursive: true });
});
const mapReader = makeMap();
if (mapReader === undefined) {
  process.stdout.write(
    'losses of a pinned map: skipped, needs root, bpftool and a BPF file system\n',
  );
}

describe.skipIf(mapReader === undefined)('a pinned map of counters per processor', () => {
  it('should be summed as the real map reader shows it', async () => {
    closing.push(() => rmSync(map, { force: true }));
    const before = await kernelLosses(mapReader ?? '', map);
    expect(before).toBe(0);
    const value = Buffer.alloc(56);
    value.writeBigUInt64LE(0x01_02_03n, 8);
    value.writeBigUInt64LE(4n, 48);
    const hex = [...value].map((byte) => byte.toString(16).padStart(2, '0'));
    const key = ['key', 'hex', '00', '00', '00', '00'];
    execFileSync(mapReader ?? '', ['map', 'update', 'pinned', map, ...key, 'value', 'hex', ...hex]);
    const after = (await kernelLosses(mapReader ?? '', map)) ?? 0;
    // The update sets the value of every processor.
    expect(after).toBeGreaterThan(0);
    expect(after % (0x01_02_03 + 4)).toBe(0);
  });
});

/** A map like Tetragon's; undefined where this machine lets us make none. */
function makeMap(): string | undefined {
  if (process.getuid?.() !== 0) return undefined;
  for (const program of ['/usr/sbin/bpftool', '/usr/bin/bpftool']) {
    const words = [
      'type',
      'percpu_array',
      'key',
      '4',
      'value',
      '56',
      'entries',
      '1',
      'name',
      'losses',
    ];
    try {
      execFileSync(program, ['map', 'create', map, ...words], { stdio: 'ignore' });
      return program;
    } catch {
      // Another place, or none.
    }
  }
  return undefined;
}
