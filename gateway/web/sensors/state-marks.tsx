// The live states of a sensor as marks: the same colour, shape and word wherever they stand.
import { Mark, type Tone } from '../design/shape.tsx';
import { DESIGN_TEXTS } from '../design/texts.ts';
import { wordOfState } from './texts.ts';

const TONES: Readonly<Record<string, Tone>> = {
  fresh: 'good',
  awaiting: 'soon',
  stale: 'stale',
  open: 'good',
  closed: 'stale',
  running: 'good',
  degraded: 'warn',
  down: 'bad',
  unknown: 'stale',
  unassigned: 'stale',
  pending: 'soon',
  in_force: 'good',
  rejected: 'bad',
  failed: 'bad',
  released: 'good',
  containing: 'soon',
  contained: 'gone',
  releasing: 'soon',
};

export function stateTone(state: string): Tone {
  return TONES[state] ?? 'stale';
}

export function StateMark({ state }: { readonly state: string | null | undefined }) {
  if (state === null || state === undefined)
    return <Mark tone="stale">{DESIGN_TEXTS.unknown}</Mark>;
  return <Mark tone={stateTone(state)}>{wordOfState(state)}</Mark>;
}
