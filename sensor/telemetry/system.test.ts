// The use of a node by its kernel's own words, and of the Sensor by Node's: told beside each other.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createResourceMeter } from './system.ts';

const folders: string[] = [];
afterEach(async () => {
  for (const one of folders.splice(0)) await rm(one, { recursive: true, force: true });
});

/** A /proc of two processors, of which a test says what they did since boot. */
async function kernel() {
  const proc = await mkdtemp(join(tmpdir(), 'proc-'));
  folders.push(proc);
  await writeFile(
    join(proc, 'meminfo'),
    'MemTotal:        8000000 kB\nMemFree:          100000 kB\nMemAvailable:    6000000 kB\n',
  );
  return {
    proc,
    did: (ticks: readonly number[]) =>
      writeFile(join(proc, 'stat'), `cpu  ${ticks.join(' ')} 7 7\ncpu0 1 2 3\nintr 1\n`),
  };
}

describe('the meter of resources', () => {
  it('should tell the whole node beside the Sensor, since the look before', async () => {
    const { proc, did } = await kernel();
    const read = createResourceMeter(proc, proc);
    await did([10, 10, 10, 60, 10, 0, 0, 0]);
    const node = { memory_total_bytes: 8_192_000_000, memory_available_bytes: 6_144_000_000 };
    expect((await read()).node).toEqual({ cpu_percent: 30, ...node });
    await did([50, 10, 40, 90, 10, 0, 0, 0]);
    const { node: second, ...own } = await read();
    expect(second).toEqual({ cpu_percent: 70, ...node });
    expect(own.memory_bytes).toBeGreaterThan(0);
    await did([50, 10, 40, 90, 10, 0, 0, 0]);
    expect((await read()).node?.cpu_percent).toBe(0);
  });

  it('should leave out what the kernel does not show', async () => {
    const read = createResourceMeter('/', '/nowhere');
    expect(await read()).not.toHaveProperty('node');
  });

  it('should read this kernel', async () => {
    const { node } = await createResourceMeter('/')();
    expect(node?.memory_total_bytes).toBeGreaterThan(node?.memory_available_bytes ?? 0);
    expect(node?.cpu_percent).toBeLessThanOrEqual(100);
  });
});
