import { describe, expect, it } from 'vitest';
import { assign, setup } from 'xstate';
import { ACTOR_REBUILT, createDirectory } from './directory.ts';
import { createInspectionFeed, type InspectionFeed } from './inspection-feed.ts';
import { silentLogger } from './silent-logger.ts';
import { createCrashLog, createSupervisor } from './supervisor.ts';
import { createWheelClock } from './wheel-clock.ts';

// A door that breaks when it is kicked: the smallest machine with a way to fail.
const doorMachine = setup({
  types: {
    context: {} as { opened: number },
    input: {} as { opened: number },
    events: {} as { type: 'door.open' } | { type: 'door.close' } | { type: 'door.kick' },
  },
  actions: {
    count: assign({ opened: ({ context }) => context.opened + 1 }),
    break: () => {
      throw new Error('the door broke');
    },
  },
}).createMachine({
  id: 'door',
  context: ({ input }) => ({ opened: input.opened }),
  initial: 'closed',
  states: {
    closed: {
      on: { 'door.open': { target: 'open', actions: 'count' }, 'door.kick': { actions: 'break' } },
    },
    open: { on: { 'door.close': 'closed' }, after: { 100: 'closed' } },
  },
});

function house(restartsMax = 2) {
  const clock = createWheelClock({ tickMs: 1 });
  const feed = createInspectionFeed();
  const crashes = createCrashLog(silentLogger);
  let nowMs = 0;
  const directory = createDirectory({
    kind: 'door',
    machine: doorMachine,
    clock,
    feed,
    supervisor: createSupervisor(() => nowMs, { restartsMax, windowMs: 1_000 }),
    crashes,
    now: () => nowMs,
    rebuild: () => Promise.resolve({ opened: 41 }),
  });
  return {
    directory,
    feed,
    crashes,
    clock,
    setNow: (ms: number) => {
      nowMs = ms;
    },
  };
}

// Resolves when the feed shows the n-th rebuild of the front door.
async function rebuilt(feed: InspectionFeed, count: number): Promise<void> {
  const seen = () =>
    feed.recentOf('door', 'front').filter(({ event }) => event === ACTOR_REBUILT).length;
  while (seen() < count) await new Promise(setImmediate);
}

describe('directory', () => {
  it('should answer absent for an unknown id and never throw', () => {
    const { directory } = house();
    expect(directory.tell('nobody', { type: 'door.open' })).toBe('absent');
    expect(directory.ask('nobody')).toBe('absent');
  });

  it('should record every move with its event, timers included', async () => {
    const { directory, feed, clock } = house();
    directory.open('front', { opened: 0 });
    const closedAgain = new Promise<void>((resolve) =>
      feed.subscribe((move) => move.from === 'open' && resolve()),
    );
    directory.tell('front', { type: 'door.open' });
    await closedAgain;
    expect(feed.recentOf('door', 'front').map(({ from, to, event }) => [from, to, event])).toEqual([
      ['', 'closed', 'actor.opened'],
      ['closed', 'open', 'door.open'],
      ['open', 'closed', 'xstate.after.100.door.open'],
    ]);
    clock.stop();
  });

  it('should rebuild a failed actor from facts, keep its crash record and leave its siblings alone', async () => {
    const { directory, crashes, clock, feed } = house();
    directory.open('front', { opened: 0 });
    directory.open('back', { opened: 0 });
    directory.tell('front', { type: 'door.kick' });
    await rebuilt(feed, 1);
    const view = directory.ask('front');
    expect(view !== 'absent' && view.snapshot.context.opened).toBe(41);
    expect(view !== 'absent' && view.restarts).toBe(1);
    expect(crashes.recent()).toMatchObject([
      { id: 'front', error: 'the door broke', decision: 'restart' },
    ]);
    expect(directory.ask('back')).not.toBe('absent');
    clock.stop();
  });

  it('should tell of every start, rebuilt actors included, and of no other call', async () => {
    const { directory, feed, clock } = house();
    const started: string[] = [];
    const stop = directory.subscribeStarted((id) => {
      started.push(id);
      directory.tell(id, { type: 'door.open' });
    });
    directory.open('front', { opened: 0 });
    directory.open('front', { opened: 0 });
    const view = directory.ask('front');
    expect(view !== 'absent' && view.snapshot.value).toBe('open');
    directory.tell('front', { type: 'door.close' });
    directory.tell('front', { type: 'door.kick' });
    await rebuilt(feed, 1);
    expect(started).toEqual(['front', 'front']);
    stop();
    directory.open('back', { opened: 0 });
    expect(started).toHaveLength(2);
    clock.stop();
  });

  it('should start nothing after it was closed, whatever answers late', () => {
    const { directory, feed, clock } = house();
    directory.open('front', { opened: 0 });
    directory.closeAll();
    const moves = feed.recent(10).length;
    directory.open('front', { opened: 0 }, 'late.answer');
    expect(directory.ask('front')).toBe('absent');
    expect(directory.size()).toBe(0);
    expect(feed.recent(10).length).toBe(moves);
    clock.stop();
  });

  it('should stop an actor that fails more often than the cap allows in a window', async () => {
    const { directory, crashes, clock, feed, setNow } = house(2);
    directory.open('front', { opened: 0 });
    for (let i = 1; i <= 3; i += 1) {
      directory.tell('front', { type: 'door.kick' });
      if (i < 3) await rebuilt(feed, i);
    }
    expect(directory.ask('front')).toBe('absent');
    expect(crashes.recent().at(-1)?.decision).toBe('stop');
    setNow(5_000);
    directory.open('front', { opened: 0 });
    directory.tell('front', { type: 'door.kick' });
    await rebuilt(feed, 3);
    expect(directory.ask('front')).not.toBe('absent');
    clock.stop();
  });
});

describe('inspection feed', () => {
  const move = (id: string, index: number) => ({
    kind: 'door',
    id,
    region: '',
    from: String(index),
    to: String(index + 1),
    event: 'e',
    facts: {},
    atMs: index,
    after: { value: '', context: {}, timers: [] },
  });

  it('should keep the newest moves within its bound and survive a listener that throws', () => {
    const feed = createInspectionFeed(3);
    feed.subscribe(() => {
      throw new Error('listener');
    });
    for (let i = 0; i < 10; i += 1) feed.record(move('front', i));
    expect(feed.recent(100).map(({ atMs }) => atMs)).toEqual([7, 8, 9]);
    expect(feed.recent(2).map(({ atMs }) => atMs)).toEqual([8, 9]);
    expect(feed.listenerFailures()).toBe(10);
  });
});
