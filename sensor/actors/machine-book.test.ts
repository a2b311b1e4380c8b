import { describe, expect, it } from 'vitest';
import { createActor, createMachine } from 'xstate';
import { createWheelClock } from '../../actors/runtime/wheel-clock.ts';
import { createMachineBook } from './machine-book.ts';

const START_MS = 1_800_000_000_000;
const machine = createMachine({
  id: 'door',
  initial: 'shut',
  states: {
    shut: { on: { push: 'open' } },
    open: { initial: 'wide', on: { push: 'shut' }, after: { 5000: 'shut' }, states: { wide: {} } },
  },
});

function followed() {
  let nowMs = START_MS;
  const clock = createWheelClock();
  const book = createMachineBook(() => nowMs);
  const timers = book.timersOn(clock);
  const actor = createActor(machine, { clock: timers.clock as never });
  timers.follow(actor.system);
  actor.start();
  book.follow('door', actor as never, timers);
  return {
    ...{ book, actor, clock },
    pass(ms: number) {
      nowMs += ms;
    },
  };
}

describe('what the statecharts of a node do', () => {
  it('should tell a state that was held for a second, with its timer', () => {
    const { book, actor, clock, pass } = followed();
    pass(60_000);
    actor.send({ type: 'push' });
    expect(book.reports()).toMatchObject([{ machine: 'door', value: 'shut' }]);
    pass(1_000);
    expect(book.reports()).toEqual([
      {
        ...{ machine: 'door', value: 'open.wide' },
        since: new Date(START_MS + 60_000).toISOString(),
        due: new Date(START_MS + 65_000).toISOString(),
      },
    ]);
    clock.stop();
  });

  it('should not tell of a state that was only passed through, and keep since when it holds', () => {
    const { book, actor, clock, pass } = followed();
    pass(5_000);
    for (let i = 0; i < 20; i += 1) {
      actor.send({ type: 'push' });
      pass(100);
    }
    pass(2_000);
    expect(book.reports()).toEqual([
      { machine: 'door', value: 'shut', since: new Date(START_MS).toISOString() },
    ]);
    clock.stop();
  });

  it('should forget what ended', () => {
    const { book, actor, clock } = followed();
    actor.stop();
    expect(book.reports()).toEqual([]);
    clock.stop();
  });
});
