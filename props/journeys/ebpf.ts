// What stories about the eBPF engine share: whether it runs here, and what its Sensor says of it.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Home, ROOT } from './programs.ts';

type StatusFile = {
  readonly engine: { readonly kind: string; readonly state: string; readonly restarts: number };
  readonly pipeline: {
    readonly read: number;
    readonly spooled: number;
    readonly aggregated: number;
    readonly engine_lost: number;
  };
};

/** Why the eBPF engine cannot run here; null when it can. */
export function missingForEbpf(): string | null {
  const program = join(ROOT, 'sensor', 'engine', 'native', 'ebpf-engine-x86_64');
  const probe = spawnSync(program, ['--probe'], { encoding: 'utf8' });
  if (probe.status === 0) return null;
  return `no eBPF engine: ${probe.error?.message ?? probe.stderr}`;
}

/** What the home's Sensor last wrote about itself. */
export function statusFile(home: Home): StatusFile {
  return JSON.parse(readFileSync(join(home.sensorDir, 'run', 'status.json'), 'utf8'));
}
