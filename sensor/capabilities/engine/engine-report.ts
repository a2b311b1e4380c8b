// What the Sensor tells of its engine: what it said of itself while it runs; else which one it would be and why it is not
// running, since an engine that never said hello can tell nobody.
import type { EngineSnapshot } from '../../../machines/sensor/engine.machine.ts';
import {
  engineStateOf,
  type HookReport,
  hooksWith,
} from '../../../machines/sensor/engine.rules.ts';
import type { EngineReport } from '../../../machines/wire/heartbeat.ts';
import { HOOKS_MAX } from './engine-messages.ts';

const VERSION = '1.7.0';
const REASON_MAX_CHARS = 512;

/** The engine that failed last, and how. */
export type EngineFailure = { readonly kind: string; readonly reason: string };
type Asked = {
  /** The engine that was chosen, or wished for. */
  readonly kind: string;
  readonly passedOver: readonly HookReport[];
  /** Null when it did not fail since it ran last. */
  readonly failure: EngineFailure | null;
};

/** The report without the policies. */
export function engineReport(
  snapshot: EngineSnapshot,
  asked: Asked,
): Omit<EngineReport, 'loaded_policies'> {
  const { hello, restarts, refusals } = snapshot.context;
  const isRunning = snapshot.hasTag('running');
  const value = snapshot.value;
  const state = typeof value === 'string' ? value : (Object.keys(value)[0] ?? '');
  const said = isRunning ? hello : null;
  const hooks = said?.disabledHooks ?? hooksWithout(asked);
  return {
    kind: said?.kind ?? asked.kind,
    version: hello?.version ?? VERSION,
    ...(said === null || said.mode === '' ? {} : { mode: said.mode }),
    state: engineStateOf(state, isRunning),
    restarts,
    disabled_hooks: hooksWith(hooks, refusals).slice(0, HOOKS_MAX),
  };
}

// An engine that was passed over has its reason already, and the last failure may be the very one.
function hooksWithout({ passedOver, failure }: Asked): readonly HookReport[] {
  const hook = `engine/${failure?.kind}`;
  if (failure === null || passedOver.some((one) => one.hook === hook)) return passedOver;
  const reason = failure.reason.replace(/^Error: /, '').slice(0, REASON_MAX_CHARS);
  return [{ hook, reason }, ...passedOver];
}
