// A saved search beside a small model: where it is and how many crossings it told. decision: D142
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { savedSearchMachine } from '../../machines/console/hunting/saved-search.machine.ts';
import { bucketMsOf } from '../../machines/console/hunting/saved-search.rules.ts';
import { SAVED_SEARCH_REFUSALS_MAX } from '../../machines/limits.ts';
import { type Driven, drive, itsMachineAgrees, move } from './driver.ts';

const WINDOW_MS = 10_000;
const THRESHOLD = 10;
/** 8 of 10 is calm. */
const CALM = 8;
type At = 'below' | 'telling' | 'above' | 'paused' | 'halted';
type Model = { at: At; nowMs: number; refusals: number; crossings: number };
type Real = Driven<typeof savedSearchMachine>;

// Each look is a whole window after the one before, so that only what it found counts.
const found = (events: number) =>
  move<Model, Real>(`found ${events}`, (model, real) => {
    model.nowMs += 2 * WINDOW_MS;
    const fromMs = model.nowMs - bucketMsOf(WINDOW_MS);
    real.send({
      ...{ type: 'matches.read', readToMs: model.nowMs, windowMs: WINDOW_MS, alertId: 'a' },
      ...{ threshold: THRESHOLD, found: [{ fromMs, events, eventIds: [] }] },
    } as never);
    if (model.at !== 'below' && model.at !== 'above') return;
    model.refusals = 0;
    if (model.at === 'below' && events >= THRESHOLD) {
      model.at = 'telling';
      model.crossings += 1;
    } else if (model.at === 'above' && events <= CALM) model.at = 'below';
  });
const refused = move<Model, Real>('refused', (model, real) => {
  real.send({ type: 'question.refused', reason: 'too large' } as never);
  if (model.at !== 'below' && model.at !== 'above') return;
  model.refusals += 1;
  if (model.refusals >= SAVED_SEARCH_REFUSALS_MAX) model.at = 'halted';
});
const taken = move<Model, Real>('taken', (model, real) => {
  real.send({ type: 'alert.taken', atMs: model.nowMs } as never);
  if (model.at === 'telling') model.at = 'above';
});
const paused = move<Model, Real>('paused', (model, real) => {
  real.send({ type: 'search.paused' });
  if (model.at === 'telling' || model.at === 'paused') return;
  model.at = 'paused';
  model.refusals = 0;
});
const resumed = move<Model, Real>('resumed', (model, real) => {
  real.send({ type: 'search.resumed' });
  if (model.at !== 'paused' && model.at !== 'halted') return;
  model.at = 'below';
  model.refusals = 0;
});
const changed = move<Model, Real>('changed', (model, real) => {
  real.send({ type: 'search.changed' });
  if (model.at === 'paused') return;
  model.refusals = 0;
  if (model.at !== 'telling') model.at = 'below';
});

describe('a saved search', () => {
  itsMachineAgrees(savedSearchMachine, {
    input: fc.constant(undefined),
    begin: () => ({
      model: { at: 'below', nowMs: 0, refusals: 0, crossings: 0 } as Model,
      real: drive(savedSearchMachine),
    }),
    moves: [
      found(0),
      found(9),
      found(10),
      found(50),
      refused,
      refused,
      taken,
      paused,
      resumed,
      changed,
    ],
    agree(model, real) {
      const { value, context } = real.snapshot();
      expect(value).toBe(model.at);
      expect(context.refusals).toBe(model.refusals);
      expect(context.crossings).toBe(model.crossings);
      expect(real.nextTimerMs()).toBeNull();
    },
  });
});
