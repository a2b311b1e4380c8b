// Every fuzz target by name. A module is loaded only when its target is asked for, after coverage has begun to count.
import type { FuzzTarget } from './target.ts';

export const TARGET_NAMES = [
  'enroll-body',
  'renew-body',
  'heartbeat-body',
  'events-body',
  'events-lines',
  'inventory-body',
  'upstream-frames',
  'downstream-frames',
  'tar',
  'zstd',
  'csr',
  'der',
  'pem-facts',
  'export-lines',
  'export-rotation',
  'normalise',
  'pipeline',
  'spool-recovery',
  'sensor-state',
  'sensor-yaml',
  'tracing-policy',
  'console-yaml',
  'http-request',
  'cursor',
  'query-string',
  'condition',
  'event-query',
  'secret',
  'console-answer',
  'docker-images',
  'containerd-images',
  'pods',
  'pod-changes',
] as const;

/** Loads a target; rejects when there is none of this name. */
export async function loadTarget(name: string): Promise<FuzzTarget> {
  const known = TARGET_NAMES.find((one) => one === name);
  if (known === undefined) throw new Error(`there is no target ${name}`);
  const module: { readonly default: FuzzTarget } = await import(`./targets/${known}.ts`);
  return module.default;
}
