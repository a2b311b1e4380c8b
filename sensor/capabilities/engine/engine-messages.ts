// The lines an engine says on its standard output, as far as the Sensor believes them.
import type { EngineHello, HookReport } from '../../../machines/sensor/engine.rules.ts';
import { parseJson } from '../../../machines/wire/parse.ts';
import type { LastTold } from '../../engine/engine-run.ts';
import { isObject } from '../../transport/answer.ts';

export type EngineMessage = Readonly<Record<string, unknown>>;

export const HOOKS_MAX = 256;
const LINE_MAX_CHARS = 262_144;
/** They become a line that the next engine reads. */
const EVENT_NAMES = /^[\w -]*$/;

const isTime = (value: unknown): value is number => Number.isSafeInteger(value);

// The verifier of a PREEMPT_RT kernel refuses BPF_MODIFY_RETURN; everything else goes on. Our own engine keeps its
// programs of that kind off by itself, and says so of the policy that asked for one.
const NO_OVERRIDE: HookReport = {
  hook: 'syscall_kprobes',
  reason: 'policies whose kprobes override are refused on a PREEMPT_RT kernel (BPF_MODIFY_RETURN)',
};

/** One line; null when it is none of ours or too long. */
export function engineMessageOf(line: string): EngineMessage | null {
  const parsed = line.length > LINE_MAX_CHARS ? null : parseJson(line);
  return parsed?.ok === true && isObject(parsed.value) ? parsed.value : null;
}

/** What it told last, when this is the message in which it says so. */
export function lastToldOf(message: EngineMessage): LastTold | null {
  const { told_until: until, told_since: since, told_last: names } = message;
  if (!isTime(until)) return null;
  if (!isTime(since) || typeof names !== 'string' || !EVENT_NAMES.test(names)) return { until };
  return { until, events: { since, names } };
}

/** What it said of itself, with the better engines that were passed over, within bounds. */
export function helloOf(
  message: EngineMessage,
  isPreemptRt: boolean,
  passedOver: readonly HookReport[],
): EngineHello {
  const listed = Array.isArray(message['disabled_hooks']) ? message['disabled_hooks'] : [];
  const hooks: HookReport[] = listed.filter(isObject).map((one) => ({
    hook: String(one['hook']).slice(0, 256),
    reason: String(one['reason']).slice(0, 512),
    ...(one['missing'] === true ? { missing: true as const } : {}),
  }));
  const kind = String(message['engine']).slice(0, 32);
  if (isPreemptRt && kind === 'tetragon') hooks.push(NO_OVERRIDE);
  return {
    kind,
    version: String(message['version']).slice(0, 32),
    mode: String(message['mode']).slice(0, 32),
    disabledHooks: [...passedOver, ...hooks].slice(0, HOOKS_MAX),
  };
}
