// A life that is paused: no turn for anything, and everything that was due afterwards.
import { describe, expect, it } from 'vitest';
import { beginLife, type Life } from './life.ts';
import { CALM_LINK, createNetwork } from './network.ts';
import { createRandom } from './random.ts';
import { createScheduler, type Scheduler } from './scheduler.ts';

function stage(): {
  scheduler: Scheduler;
  life: Life;
  told: (readonly [string, number])[];
  tell: (what: string) => () => void;
} {
  const scheduler = createScheduler({
    onError(error) {
      throw error;
    },
  });
  const told: (readonly [string, number])[] = [];
  return {
    scheduler,
    life: beginLife(scheduler, { host: 'node-1', incarnation: 1 }),
    told,
    tell: (what) => () => void told.push([what, scheduler.now()]),
  };
}

describe('a paused life', () => {
  it.each(['timers', 'words'] as const)(
    'should take up what was due when it goes on, %s first',
    async (first) => {
      const { scheduler, life, told, tell } = stage();
      const done: string[] = [];
      life.after(10, tell('before'));
      life.after(30, tell('timer 1'));
      life.after(60, tell('timer 2'));
      life.after(200, tell('later'));
      void life.call('ask', () => done.push('done'), 40).then(tell('answer'));
      life.arrive(35, tell('word'));
      scheduler.after(20, () => {
        const goOn = life.pause(first);
        scheduler.after(100, goOn);
      });

      await scheduler.runUntil(119);
      expect(told).toEqual([['before', 10]]);
      expect(done).toEqual(['done']);
      expect(life.isPaused()).toBe(true);
      await scheduler.runUntil(1_000);

      const timers = ['timer 1', 'timer 2'];
      const words = ['word', 'answer'];
      const order = first === 'timers' ? [...timers, ...words] : [...words, ...timers];
      expect(told).toEqual([
        ['before', 10],
        ...order.map((what) => [what, 120] as const),
        ['later', 200],
      ]);
      expect(life.isPaused()).toBe(false);
    },
  );

  it('should forget a timer that was cancelled by what came meanwhile', async () => {
    const { scheduler, life, told, tell } = stage();
    const deadline = life.after(50, tell('deadline'));
    life.arrive(40, () => scheduler.cancel(deadline));
    const goOn = life.pause('words');
    scheduler.after(100, goOn);
    await scheduler.runUntil(1_000);
    expect(told).toEqual([]);
  });

  it('should go on when nobody holds it any more', async () => {
    const { scheduler, life, told, tell } = stage();
    const [one, two] = [life.pause('timers'), life.pause('timers')];
    life.after(1, tell('timer'));
    one();
    one();
    await scheduler.runUntil(100);
    expect(told).toEqual([]);
    two();
    await scheduler.runUntil(200);
    expect(told).toEqual([['timer', 100]]);
  });

  it('should do nothing more when it is killed meanwhile', async () => {
    const { scheduler, life, told, tell } = stage();
    const goOn = life.pause('timers');
    life.after(1, tell('timer'));
    life.arrive(1, tell('word'));
    await scheduler.runUntil(10);
    life.end();
    goOn();
    await scheduler.runUntil(100);
    expect(told).toEqual([]);
  });

  it('should take up nothing more when what it takes up ends it', async () => {
    const { scheduler, life, told, tell } = stage();
    const goOn = life.pause('timers');
    life.after(1, () => {
      tell('end')();
      life.end();
    });
    life.after(2, tell('timer'));
    life.arrive(1, tell('word'));
    await scheduler.runUntil(10);
    goOn();
    await scheduler.runUntil(100);
    expect(told).toEqual([['end', 10]]);
  });

  it('should leave in the socket what a peer sends, and hear later that it hung up', async () => {
    const { scheduler, life, told, tell } = stage();
    const console = beginLife(scheduler, { host: 'console-1', incarnation: 1 });
    const network = createNetwork(scheduler, createRandom('paused'));
    const connection = network.connect('node-1', 'console-1', { client: life, server: console });
    connection.setEnd('client', { onClosed: tell('closed') });
    const goOn = life.pause('timers');
    connection.send('server', 100, tell('text'));
    connection.close('server', 'done');
    await scheduler.runUntil(10 * (CALM_LINK.latencyMs + CALM_LINK.jitterMs));
    expect(connection.unread()).toBe(100);
    expect(told).toEqual([]);
    goOn();
    await scheduler.runUntil(1_000);
    expect(told).toEqual([
      ['text', 50],
      ['closed', 50],
    ]);
    expect(connection.unread()).toBe(0);
  });
});
