// The life of the spool, transition by transition. decision: D13; invariant: I5
import { describe, expect, it } from 'vitest';
import { spoolMachine, spoolRetryMs } from '../../machines/sensor/spool.machine.ts';
import { applyChanges, EMPTY_SPOOL } from '../../machines/sensor/spool.rules.ts';
import { type Driven, drive } from '../models/driver.ts';

const INPUT = { eventsMax: 3, retryMinMs: 1_000, retryMaxMs: 4_000 };
type Spool = Driven<typeof spoolMachine>;

const begin = (): Spool => drive(spoolMachine, INPUT);
const held = (count: number) => applyChanges(EMPTY_SPOOL, [{ kind: 'append', count }]);
function open(count = 0): Spool {
  const spool = begin();
  spool.done('recoverJournal', { spool: held(count) });
  return spool;
}
const changed = (...changes: object[]) => ({ type: 'journal.changed', changes });
const value = (spool: Spool) => spool.snapshot().value;
const serves = (spool: Spool) => spool.snapshot().hasTag('serves');

describe('spool', () => {
  it('should recover first and serve nothing until then', () => {
    const spool = begin();
    expect([value(spool), spool.running(), serves(spool)]).toEqual([
      'recovering',
      ['recoverJournal'],
      false,
    ]);
    expect(spool.snapshot().context).toEqual({ ...INPUT, spool: EMPTY_SPOOL, failures: 0 });
  });

  it('should adopt what the journal held, full or not', () => {
    const spool = open(2);
    expect([value(spool), serves(spool)]).toEqual([{ open: 'ready' }, true]);
    expect(spool.snapshot().context.spool).toEqual(held(2));
    expect([value(open(3)), serves(open(3))]).toEqual([{ open: 'full' }, true]);
  });

  it('should be full from the cap on, and ready below it', () => {
    const spool = open(2);
    spool.send(changed({ kind: 'append', count: 1 }));
    expect(value(spool)).toEqual({ open: 'full' });
    spool.send(changed({ kind: 'append', count: 1 }));
    expect(value(spool)).toEqual({ open: 'full' });
    spool.send(changed({ kind: 'drop', count: 1 }));
    expect(value(spool)).toEqual({ open: 'full' });
    spool.send(changed({ kind: 'drop', count: 1 }));
    expect(value(spool)).toEqual({ open: 'ready' });
    expect(spool.snapshot().context.spool).toMatchObject({ head: 2, tail: 4, discarded: 2 });
  });

  it('should read the journal anew after any refusal of the disk, ever later', () => {
    const spool = open();
    spool.send({ type: 'disk.refused' });
    for (const waitMs of [1_000, 2_000, 4_000, 4_000]) {
      expect([value(spool), serves(spool), spool.nextTimerMs()]).toEqual([
        'failing',
        false,
        waitMs,
      ]);
      spool.advance(waitMs);
      expect(value(spool)).toBe('recovering');
      spool.fail('recoverJournal');
    }
    spool.advance(4_000);
    spool.done('recoverJournal', { spool: held(1) });
    expect(spool.snapshot().context.failures).toBe(5);
    spool.send(changed({ kind: 'append', count: 1 }));
    expect(spool.snapshot().context).toMatchObject({ failures: 0, spool: held(2) });
  });

  it('should let the file go from every state', () => {
    const failing = open();
    failing.send({ type: 'disk.refused' });
    for (const spool of [begin(), open(), open(3), failing]) {
      spool.send({ type: 'spool.close' });
      expect([value(spool), spool.snapshot().status, serves(spool)]).toEqual([
        'closed',
        'done',
        false,
      ]);
    }
  });

  it('should wait between its bounds', () => {
    expect([0, 1, 2, 3].map((failures) => spoolRetryMs(failures, 10, 1_000))).toEqual([
      10, 10, 20, 40,
    ]);
    expect(spoolRetryMs(5_000, 10, 1_000)).toBe(1_000);
  });
});
