// The sealer beside a small model: one question at a time, a wait after each, a checkpoint when due. decision: D35
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { auditSealerMachine } from '../../machines/console/audit/audit-sealer.machine.ts';
import {
  AUDIT_CHECKPOINT_INTERVAL_MS,
  AUDIT_SEAL_BACKOFF_MAX_MS,
  AUDIT_SEAL_BACKOFF_MIN_MS,
  AUDIT_SEAL_BATCH_ROWS,
  AUDIT_SEAL_INTERVAL_MS,
  AUDIT_SEAL_TIMEOUT_MS,
} from '../../machines/limits.ts';
import { type Driven, drive, itsMachineAgrees, type Move, move, timeMoves } from './driver.ts';

type At = 'waiting' | 'sealing' | 'signing' | 'backing-off' | 'stopped';
type Model = { at: At; failures: number; hasMore: boolean; elapsedMs: number };
type Real = Driven<typeof auditSealerMachine>;

const RUNS: Readonly<Record<At, readonly string[]>> = {
  waiting: [],
  sealing: ['sealRows'],
  signing: ['signHead'],
  'backing-off': [],
  stopped: [],
};
function go(model: Model, at: At): void {
  model.at = at;
  model.elapsedMs = 0;
}
function fail(model: Model): void {
  model.failures += 1;
  go(model, 'backing-off');
}
const retryMs = ({ failures }: Model) =>
  Math.min(AUDIT_SEAL_BACKOFF_MAX_MS, AUDIT_SEAL_BACKOFF_MIN_MS * 2 ** (failures - 1));

const sealed = fc.record({ isDue: fc.boolean(), hasMore: fc.boolean() }).map(
  ({ isDue, hasMore }): Move<Model, Real> => ({
    name: `sealed(${isDue ? 'due' : 'early'}, ${hasMore ? 'more' : 'all'})`,
    run(model, real) {
      const agoMs = isDue ? AUDIT_CHECKPOINT_INTERVAL_MS : 0;
      real.done('sealRows', {
        isBusy: false,
        atMs: agoMs,
        sealed: hasMore ? AUDIT_SEAL_BATCH_ROWS : 1,
        headSequence: 9,
        checkpoint: { sequence: 8, atMs: 0 },
      });
      if (model.at !== 'sealing') return;
      model.failures = 0;
      model.hasMore = hasMore;
      go(model, isDue ? 'signing' : hasMore ? 'sealing' : 'waiting');
    },
  }),
);
const busy = move<Model, Real>('busy', (model, real) => {
  real.done('sealRows', { isBusy: true });
  if (model.at !== 'sealing') return;
  model.failures = 0;
  model.hasMore = false;
  go(model, 'waiting');
});
const signed = move<Model, Real>('signed', (model, real) => {
  real.done('signHead');
  if (model.at === 'signing') go(model, model.hasMore ? 'sealing' : 'waiting');
});
const breaks = fc.constantFrom('sealRows', 'signHead').map(
  (src): Move<Model, Real> => ({
    name: `break(${src})`,
    run(model, real) {
      real.fail(src);
      if (RUNS[model.at].includes(src)) fail(model);
    },
  }),
);
const stop = move<Model, Real>('sealer.stop', (model, real) => {
  real.send({ type: 'sealer.stop' });
  if (model.at !== 'stopped') go(model, 'stopped');
});
const time = timeMoves<Model, typeof auditSealerMachine>((model, { ms, isDue }) => {
  model.elapsedMs += ms;
  if (!isDue) return;
  if (model.at === 'sealing' || model.at === 'signing') fail(model);
  else if (model.at !== 'stopped') go(model, 'sealing');
});

describe('audit sealer', () => {
  itsMachineAgrees(auditSealerMachine, {
    input: fc.constant(undefined),
    begin: () => ({
      model: { at: 'sealing', failures: 0, hasMore: false, elapsedMs: 0 } as Model,
      real: drive(auditSealerMachine),
    }),
    moves: [
      sealed,
      sealed,
      signed,
      breaks,
      fc.oneof({ weight: 1, arbitrary: stop }, { weight: 9, arbitrary: busy }),
      time,
      time,
    ],
    agree(model, real) {
      expect(real.snapshot().value).toBe(model.at);
      expect(real.snapshot().context).toMatchObject({
        failures: model.failures,
        hasMore: model.hasMore,
      });
      expect(real.running()).toEqual(RUNS[model.at]);
      const leftMs = {
        waiting: AUDIT_SEAL_INTERVAL_MS,
        sealing: AUDIT_SEAL_TIMEOUT_MS,
        signing: AUDIT_SEAL_TIMEOUT_MS,
        'backing-off': retryMs(model),
        stopped: null,
      }[model.at];
      expect(real.nextTimerMs()).toBe(leftMs === null ? null : leftMs - model.elapsedMs);
    },
  });
});
