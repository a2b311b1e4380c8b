// What an engine says it lost, from its own line: `rate_limit_info`, as Tetragon writes it once a minute. Our own engine
// adds how many of them the kernel lost; the rest got lost in the engine itself. invariant: I8, I19
import type { Losses } from '../../machines/sensor/loss-ledger.rules.ts';
import { parseJson } from '../../machines/wire/parse.ts';
import { countAt, isObject, objectAt } from './json-value.ts';

/** The losses a line tells of; a line that names no number tells of one. Never throws. */
export function engineLossOf(line: string): Losses {
  const parsed = parseJson(line);
  if (!parsed.ok || !isObject(parsed.value)) return {};
  if (!Object.hasOwn(parsed.value, 'rate_limit_info')) return {};
  const info = objectAt(parsed.value, 'rate_limit_info');
  const all = countAt(info, 'number_of_dropped_process_events') ?? 1;
  const inKernel = Math.min(all, countAt(info, 'number_of_kernel_dropped_events') ?? 0);
  return { kernel_lost: inKernel, engine_lost: all - inKernel };
}
