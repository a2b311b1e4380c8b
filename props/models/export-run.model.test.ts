// An export run beside a small model: where it is, how many parts are copied, and which may lie there. decision: D157
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { exportRunMachine } from '../../machines/console/exports/export-run.machine.ts';
import { EXPORT_GIVE_UP_MS, EXPORT_PART_ROWS_MAX } from '../../machines/limits.ts';
import { type Driven, drive, itsMachineAgrees, move } from './driver.ts';

const STEP_MS = 4 * 24 * 3_600_000;
type At = 'waiting' | 'counting' | 'copying' | 'sealing' | 'done' | 'dead';
type Model = {
  at: At;
  nowMs: number;
  untilMs: number;
  parts: number | null;
  copied: number;
  highest: number;
};
type Real = Driven<typeof exportRunMachine>;
const works = ({ at }: Model): boolean => at === 'counting' || at === 'copying' || at === 'sealing';

const claimed = move<Model, Real>('claimed', (model, real) => {
  model.nowMs += STEP_MS;
  real.send({ type: 'run.claimed', atMs: model.nowMs } as never);
  if (model.at !== 'waiting') return;
  if (model.parts === null) model.at = 'counting';
  else model.at = model.copied >= model.parts ? 'sealing' : 'copying';
});
const counted = (parts: number) =>
  move<Model, Real>(`counted ${parts}`, (model, real) => {
    const rows = parts * EXPORT_PART_ROWS_MAX;
    const tally = { rows, distinct: rows, hashSum: '0' };
    real.send({ type: 'day.counted', atMs: model.nowMs, tally } as never);
    if (model.at !== 'counting') return;
    const wasEmpty = model.highest === 0;
    Object.assign(model, { parts, copied: 0, highest: Math.max(model.highest, parts) });
    if (parts > 0) model.at = 'copying';
    else model.at = wasEmpty ? 'done' : 'sealing';
  });
const copied = move<Model, Real>('copied', (model, real) => {
  real.send({ type: 'part.copied', atMs: model.nowMs } as never);
  if (model.at !== 'copying') return;
  model.copied += 1;
  if (model.copied >= (model.parts ?? 0)) model.at = 'sealing';
});
const sealed = move<Model, Real>('sealed', (model, real) => {
  real.send({ type: 'run.sealed', atMs: model.nowMs } as never);
  if (model.at !== 'sealing') return;
  model.at = 'done';
  model.highest = model.parts ?? 0;
});
const differ = move<Model, Real>('differ', (model, real) => {
  const { nowMs: atMs } = model;
  real.send({ type: 'totals.differ', atMs, reason: 'differs', chance: 0 } as never);
  if (model.at === 'sealing') Object.assign(model, { at: 'waiting', parts: null, copied: 0 });
});
const failed = move<Model, Real>('failed', (model, real) => {
  real.send({ type: 'step.failed', atMs: model.nowMs, reason: 'away', chance: 0 } as never);
  if (works(model)) model.at = model.nowMs >= model.untilMs ? 'dead' : 'waiting';
});
const lost = move<Model, Real>('lost', (model, real) => {
  real.send({ type: 'run.lost', atMs: model.nowMs } as never);
  if (works(model)) model.at = 'waiting';
});
const ordered = move<Model, Real>('ordered', (model, real) => {
  real.send({ type: 'run.ordered', atMs: model.nowMs } as never);
  if (works(model)) return;
  const untilMs = model.nowMs + EXPORT_GIVE_UP_MS;
  Object.assign(model, { at: 'waiting', parts: null, copied: 0, untilMs });
});

describe('an export run', () => {
  itsMachineAgrees(exportRunMachine, {
    input: fc.constant({ nowMs: 0 }),
    begin: () => ({
      model: {
        ...{ at: 'waiting', nowMs: 0, untilMs: EXPORT_GIVE_UP_MS },
        ...{ parts: null, copied: 0, highest: 0 },
      } as Model,
      real: drive(exportRunMachine, { nowMs: 0 }),
    }),
    moves: [
      ...[claimed, claimed, counted(0), counted(1), counted(3), copied, copied, sealed, differ],
      ...[failed, lost, ordered],
    ],
    agree(model, real) {
      const { value, context } = real.snapshot();
      expect(value).toBe(model.at);
      expect(context.parts).toBe(model.parts);
      expect(context.copied).toBe(model.copied);
      expect(context.highestPart).toBe(model.highest);
      expect(context.giveUpAtMs).toBe(model.untilMs);
      expect(real.nextTimerMs()).toBeNull();
    },
  });
});
