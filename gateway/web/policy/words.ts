// How targets, versions and states of policies are written, wherever they stand.
import type { Tone } from '../design/shape.tsx';

type Target = { readonly kind: string; readonly id: string };

export function targetText({ kind, id }: Target): string {
  return kind === 'fleet' ? 'fleet' : `${kind}:${id}`;
}

const TONES: Readonly<Record<string, Tone>> = {
  ...{ done: 'good', enforcing: 'good', monitoring: 'good', in_force: 'good' },
  ...{ halted: 'bad', rejected: 'bad', failed: 'bad', silent: 'bad', stale: 'bad' },
  ...{ returning: 'warn', returned: 'warn', stopped: 'warn', differs: 'warn' },
  ...{ paused: 'stale', offline: 'stale', off: 'stale', removed: 'stale', waiting: 'stale' },
};

/** The tone of a rollout's, a sensor's or a policy's state; what is under way is soon. */
export function policyTone(state: string): Tone {
  return TONES[state] ?? 'soon';
}

export function stateWord(state: string): string {
  return state.replace(/^running\./, '').replaceAll('_', ' ');
}
