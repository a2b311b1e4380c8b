// A machine's state value as one text per region, so that moves can be compared, stored and shown.
import type { AnyMachineSnapshot, AnyStateNode, StateValue } from 'xstate';

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

/** Whether two values name the same states. XState makes a new value with every event, whether a state changed or not. */
export function isSameValue(a: StateValue | undefined, b: StateValue | undefined): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object') return false;
  for (const key in a) if (!isSameValue(a[key], b[key])) return false;
  for (const key in b) if (!(key in a)) return false;
  return true;
}

/** The states a snapshot is in, each before those within it. */
export function activeNodesOf({ machine, value }: AnyMachineSnapshot): readonly AnyStateNode[] {
  return [machine.root, ...nodesWithin(machine.root, value)];
}

function nodesWithin(node: AnyStateNode, value: StateValue): readonly AnyStateNode[] {
  const inner = typeof value === 'string' ? { [value]: {} } : value;
  return Object.entries(inner).flatMap(([key, rest]) => {
    const child = node.states[key];
    return child === undefined ? [] : [child, ...nodesWithin(child, rest ?? {})];
  });
}
