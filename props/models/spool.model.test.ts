// The spool beside a plain array with a cap: what is held, who claimed it, what was dropped, and when the disk is tried
// again. The changes are the ones the shell makes, so the machine is fed what it is fed in life. invariant: I5, I6
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { spoolMachine } from '../../machines/sensor/spool.machine.ts';
import {
  depth,
  openClaim,
  overflow,
  planClaim,
  type SpoolChange,
  type SpoolState,
} from '../../machines/sensor/spool.rules.ts';
import { CHANNELS } from '../../machines/wire/scalars.ts';
import { type Driven, drive, itsMachineAgrees, type Move, move, timeMoves } from './driver.ts';

const CAP = 12;
const MIN_MS = 1_000;
const MAX_MS = 30_000;
type Model = {
  at: 'recovering' | 'open' | 'failing' | 'closed';
  held: { index: number; by: string | null }[];
  tail: number;
  dropped: number;
  failures: number;
  elapsedMs: number;
  given: Set<string>;
};
type Real = Driven<typeof spoolMachine>;

const stateOf = (real: Real): SpoolState => real.snapshot().context.spool;
const isOpen = (model: Model) => model.at === 'open';
function change(model: Model, real: Real, ...changes: SpoolChange[]): void {
  real.send({ type: 'journal.changed', changes } as never);
  model.failures = 0;
}
// A batch that damage hit is closed: the Console may hold the whole of it, so the rest waits for another number.
function free(model: Model, gone: Model['held']): void {
  const hit = new Set(gone.map((event) => event.by));
  for (const event of model.held) if (hit.has(event.by)) event.by = null;
}
function fail(model: Model): void {
  model.at = 'failing';
  model.failures += 1;
  model.elapsedMs = 0;
}

// What is left of a batch the cap cut into goes on in its channel under the next number.
function renumberCut(model: Model, given: Set<string>, gone: Model['held']): void {
  for (const name of new Set(gone.map((event) => event.by))) {
    const left = model.held.filter((event) => name !== null && event.by === name);
    const [on = ''] = (name ?? '').split('/');
    const used = [...given].filter((one) => one.startsWith(`${on}/`));
    const next = `${on}/${1 + Math.max(0, ...used.map((one) => Number(one.split('/')[1])))}`;
    if (left.length > 0) given.add(next);
    for (const event of left) event.by = next;
  }
}

const append = fc.nat(6).map(
  (count): Move<Model, Real> => ({
    name: `append(${count})`,
    may: isOpen,
    run(model, real) {
      const over = overflow({ ...stateOf(real), tail: model.tail + count }, CAP);
      change(model, real, { kind: 'append', count }, { kind: 'drop', count: over });
      for (let at = 0; at < count; at += 1) model.held.push({ index: model.tail++, by: null });
      const gone = model.held.splice(0, Math.max(0, model.held.length - CAP));
      model.dropped += gone.length;
      renumberCut(model, model.given, gone);
    },
  }),
);
const claim = fc.tuple(fc.constantFrom(...CHANNELS), fc.integer({ min: 1, max: 5 })).map(
  ([channel, max]): Move<Model, Real> => ({
    name: `claim(${channel}, ${max})`,
    may: isOpen,
    run(model, real) {
      const planned = planClaim(stateOf(real), channel, max);
      const free = model.held.filter((event) => event.by === null);
      const isNew = openClaim(stateOf(real), channel) === null;
      if (isNew) expect(planned?.from).toBe(free[0]?.index);
      if (planned === null || !isNew) return;
      const name = `${channel}/${planned.sequence}`;
      expect(model.given.has(name)).toBe(false);
      model.given.add(name);
      const taken = free.filter((one) => one.index >= planned.from && one.index < planned.to);
      expect(taken.length).toBe(planned.to - planned.from);
      for (const event of taken) event.by = name;
      change(model, real, { kind: 'claim', ...planned });
    },
  }),
);
const settle = fc
  .tuple(
    fc.constantFrom(...CHANNELS),
    fc.constantFrom('ack' as const, 'ack' as const, 'release' as const, 'renumber' as const),
    fc.constantFrom(0, 0, 0, 1),
  )
  .map(
    ([channel, kind, off]): Move<Model, Real> => ({
      name: `${kind}(${channel}, +${off})`,
      may: isOpen,
      run(model, real) {
        const open = openClaim(stateOf(real), channel);
        const sequence = (open?.sequence ?? 1) + off;
        const to = stateOf(real).next[channel];
        change(model, real, { kind, channel, sequence, to } as SpoolChange);
        // Another number names nothing.
        if (open === null || off !== 0) return;
        const name = `${channel}/${sequence}`;
        if (kind === 'renumber') model.given.add(`${channel}/${to}`);
        if (kind === 'ack') model.held = model.held.filter((event) => event.by !== name);
        for (const event of model.held) {
          if (event.by === name) event.by = kind === 'release' ? null : `${channel}/${to}`;
        }
      },
    }),
  );
const forget = fc.tuple(fc.nat(CAP), fc.nat(4)).map(
  ([skip, count]): Move<Model, Real> => ({
    name: `forget(${skip}, ${count})`,
    may: isOpen,
    run(model, real) {
      // Lines that cannot be read any more are given up wherever they lie, in a batch too.
      const from = stateOf(real).head + skip;
      const to = from + count;
      change(model, real, { kind: 'forget', from, to });
      const isGone = ({ index }: { index: number }) => from <= index && index < to;
      const gone = model.held.filter(isGone);
      model.held = model.held.filter((event) => !isGone(event));
      free(model, gone);
    },
  }),
);
const refuse = move<Model, Real>('disk.refused', (model, real) => {
  real.send({ type: 'disk.refused' });
  if (model.at === 'open') fail(model);
});
const recovered = fc.constantFrom(true, true, true, false).map(
  (isWell): Move<Model, Real> => ({
    name: `recovered(${isWell})`,
    run(model, real) {
      // The journal holds what the machine knew: nothing is told before it is written.
      if (isWell) real.done('recoverJournal', { spool: stateOf(real) });
      else real.fail('recoverJournal');
      if (model.at !== 'recovering') return;
      if (isWell) model.at = 'open';
      else fail(model);
    },
  }),
);
const close = move<Model, Real>('close', (model, real) => {
  real.send({ type: 'spool.close' });
  model.at = 'closed';
});
const time = timeMoves<Model, typeof spoolMachine>((model, { ms, isDue }) => {
  model.elapsedMs += ms;
  if (isDue) model.at = 'recovering';
});

describe('spool', () => {
  itsMachineAgrees(spoolMachine, {
    input: fc.constant({ eventsMax: CAP, retryMinMs: MIN_MS, retryMaxMs: MAX_MS }),
    begin: (input) => ({
      model: {
        at: 'recovering',
        held: [],
        tail: 0,
        dropped: 0,
        failures: 0,
        elapsedMs: 0,
        given: new Set<string>(),
      } as Model,
      real: drive(spoolMachine, input),
    }),
    moves: [
      append,
      append,
      claim,
      claim,
      settle,
      settle,
      forget,
      recovered,
      recovered,
      fc.oneof({ weight: 1, arbitrary: close }, { weight: 9, arbitrary: append }),
      fc.oneof({ weight: 1, arbitrary: refuse }, { weight: 2, arbitrary: append }),
      time,
    ],
    agree(model, real) {
      const { value, context } = real.snapshot();
      const open = { open: model.held.length >= CAP ? 'full' : 'ready' };
      expect(value).toEqual(model.at === 'open' ? open : model.at);
      expect(real.snapshot().hasTag('serves')).toBe(model.at === 'open');
      expect(real.running()).toEqual(model.at === 'recovering' ? ['recoverJournal'] : []);
      expect(context.failures).toBe(model.failures);
      expect(depth(context.spool)).toBe(model.held.length);
      expect(context.spool.discarded).toBe(model.dropped);
      const claimed = context.spool.claims.flatMap(({ channel, sequence, from, to }) =>
        Array.from({ length: to - from }, (_, at) => ({
          index: from + at,
          by: `${channel}/${sequence}`,
        })),
      );
      const byIndex = (a: { index: number }, b: { index: number }) => a.index - b.index;
      expect(claimed.sort(byIndex)).toEqual(model.held.filter((event) => event.by !== null));
      if (model.at !== 'failing') return;
      const waitMs = Math.min(MAX_MS, MIN_MS * 2 ** (model.failures - 1));
      expect(real.nextTimerMs()).toBe(waitMs - model.elapsedMs);
    },
  });
});
