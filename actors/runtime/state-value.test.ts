import { describe, expect, it } from 'vitest';
import { createMachine, initialTransition, transition } from 'xstate';
import { activeNodesOf, isSameValue } from './state-value.ts';

const machine = createMachine({
  id: 'door',
  type: 'parallel',
  states: {
    lock: { initial: 'open', states: { open: { on: { turn: 'shut' } }, shut: {} } },
    light: {
      initial: 'on',
      states: { on: { initial: 'dim', states: { dim: { on: { more: 'full' } }, full: {} } } },
    },
  },
});

describe('state values', () => {
  it('should be the same when they name the same states, however often they were made', () => {
    const [first] = initialTransition(machine);
    const [again] = transition(machine, first, { type: 'nothing' });
    const [shut] = transition(machine, first, { type: 'turn' });
    const [full] = transition(machine, shut, { type: 'more' });
    expect(isSameValue(first.value, again.value)).toBe(true);
    expect(isSameValue(structuredClone(first.value), first.value)).toBe(true);
    expect(isSameValue(first.value, shut.value)).toBe(false);
    expect(isSameValue(shut.value, full.value)).toBe(false);
    expect(isSameValue(undefined, first.value)).toBe(false);
    expect(isSameValue('on', { on: 'dim' })).toBe(false);
    expect(isSameValue({ on: 'dim' }, { on: 'dim', lock: 'open' })).toBe(false);
    expect(isSameValue({ on: 'dim', lock: 'open' }, { on: 'dim' })).toBe(false);
  });

  it('should name every state a snapshot is in, whole and within', () => {
    const [first] = initialTransition(machine);
    expect(activeNodesOf(first).map(({ id }) => id)).toEqual([
      'door',
      'door.lock',
      'door.lock.open',
      'door.light',
      'door.light.on',
      'door.light.on.dim',
    ]);
  });
});
