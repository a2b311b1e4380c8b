// A machine's state value as one text per region, so that moves can be compared, stored and shown.
import type { StateValue } from 'xstate';

/** `{trust: 'trusted', stream: {open: 'live'}}` -> `[['trust','trusted'],['stream','open.live']]`; a plain value has region ''. */
export function regionsOf(
  value: StateValue,
): readonly (readonly [region: string, state: string])[] {
  if (typeof value === 'string') return [['', value]];
  const entries = Object.entries(value);
  // One key means a compound state of a machine without parallel regions.
  if (entries.length === 1) return [['', pathOf(value)]];
  return entries.map(([region, state]) => [region, state === undefined ? '' : pathOf(state)]);
}

function pathOf(value: StateValue): string {
  if (typeof value === 'string') return value;
  return Object.entries(value)
    .map(([key, inner]) => {
      const rest = inner === undefined ? '' : pathOf(inner);
      return rest === '' ? key : `${key}.${rest}`;
    })
    .join('+');
}
