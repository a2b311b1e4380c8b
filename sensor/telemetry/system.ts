// Facts of the node: what it runs, how much it uses. Cheap enough for every heartbeat.
import { readFile, statfs } from 'node:fs/promises';
import { arch, loadavg, release, uptime } from 'node:os';
import type { SystemFacts } from '../../machines/wire/enrollment.ts';
import type { HeartbeatRequest } from '../../machines/wire/heartbeat.ts';

/** Operating system, architecture and kernel. Never rejects. */
export async function readSystemFacts(): Promise<SystemFacts> {
  const text = await readFile('/etc/os-release', 'utf8').catch(() => '');
  const field = (name: string): string =>
    (new RegExp(`^${name}="?([^"\n]*)"?$`, 'm').exec(text)?.[1] ?? 'unknown').slice(0, 128);
  return {
    os_name: field('ID'),
    os_version: field('VERSION_ID'),
    architecture: arch(),
    kernel_version: release().slice(0, 256),
  };
}

/** The id of this boot; `unknown` where the kernel does not show it. */
export async function readBootId(): Promise<string> {
  const text = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => 'unknown');
  return text.trim().slice(0, 64);
}

/**
 * A meter that tells this process's share of one core since the last look, and beside it the whole node's: of all its
 * processors together, and of its memory. What the kernel does not show is left out.
 */
export function createResourceMeter(
  stateDir: string,
  proc = '/proc',
): () => Promise<HeartbeatRequest['resources']> {
  let before = process.cpuUsage();
  let beforeMs = performance.now();
  let ticksBefore: Ticks | null = null;
  return async () => {
    const used = process.cpuUsage(before);
    const elapsedMs = Math.max(1, performance.now() - beforeMs);
    before = process.cpuUsage();
    beforeMs = performance.now();
    const [ticks, memory] = await Promise.all([readTicks(proc), readMemory(proc)]);
    const share = busyShare(ticksBefore, ticks);
    ticksBefore = ticks;
    const disk = await statfs(stateDir).catch(() => null);
    return {
      cpu_percent: Math.round((used.user + used.system) / elapsedMs) / 10,
      memory_bytes: process.memoryUsage.rss(),
      load_1m: loadavg()[0] ?? 0,
      uptime_seconds: Math.floor(uptime()),
      ...(memory === null || share === null ? {} : { node: { cpu_percent: share, ...memory } }),
      ...(disk === null ? {} : { disk_free_bytes: disk.bavail * disk.bsize }),
    };
  };
}

type Ticks = { readonly busy: number; readonly all: number };

/** Since boot, of all processors. */
async function readTicks(proc: string): Promise<Ticks | null> {
  const text = await readFile(`${proc}/stat`, 'utf8').catch(() => '');
  const [, line] = /^cpu +(.+)$/m.exec(text) ?? [];
  // user nice system idle iowait irq softirq steal; what guests use is part of the first two.
  const fields = (line ?? '').split(' ').slice(0, 8).map(Number);
  if (fields.length < 8 || fields.some(Number.isNaN)) return null;
  const all = fields.reduce((sum, one) => sum + one, 0);
  const [, , , idle = 0, waiting = 0] = fields;
  return { all, busy: all - idle - waiting };
}

/** Per cent since the look before; the first one is since boot. */
function busyShare(before: Ticks | null, now: Ticks | null): number | null {
  if (now === null) return null;
  const { busy, all } = before ?? { busy: 0, all: 0 };
  const passed = now.all - all;
  if (passed <= 0) return 0;
  const share = Math.min(1, Math.max(0, (now.busy - busy) / passed));
  return Math.round(share * 1_000) / 10;
}

async function readMemory(proc: string) {
  const text = await readFile(`${proc}/meminfo`, 'utf8').catch(() => '');
  const bytesOf = (name: string): number =>
    Number(new RegExp(`^${name}: +(\\d+) kB$`, 'm').exec(text)?.[1] ?? Number.NaN) * 1_024;
  const [total, available] = [bytesOf('MemTotal'), bytesOf('MemAvailable')];
  if (Number.isNaN(total) || Number.isNaN(available)) return null;
  return { memory_total_bytes: total, memory_available_bytes: available };
}
