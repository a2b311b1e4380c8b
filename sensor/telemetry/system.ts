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

/** A meter that tells this process's share of one core since the last look, and the node's load. */
export function createResourceMeter(
  stateDir: string,
): () => Promise<HeartbeatRequest['resources']> {
  let before = process.cpuUsage();
  let beforeMs = performance.now();
  return async () => {
    const used = process.cpuUsage(before);
    const elapsedMs = Math.max(1, performance.now() - beforeMs);
    before = process.cpuUsage();
    beforeMs = performance.now();
    const disk = await statfs(stateDir).catch(() => null);
    return {
      cpu_percent: Math.round((used.user + used.system) / elapsedMs) / 10,
      memory_bytes: process.memoryUsage.rss(),
      load_1m: loadavg()[0] ?? 0,
      uptime_seconds: Math.floor(uptime()),
      ...(disk === null ? {} : { disk_free_bytes: disk.bavail * disk.bsize }),
    };
  };
}
