// The policies of a node beside what they are: one number wished, held and refused for each kind of step, and which of the
// steps is under way. decision: D78
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { backoffMs } from '../../machines/sensor/backoff.rules.ts';
import { policyMachine } from '../../machines/sensor/policy.machine.ts';
import { NOTHING_HELD } from '../../machines/sensor/policy.rules.ts';
import type { PolicyAnswer } from '../../machines/wire/policy.ts';
import { type Driven, drive, itsMachineAgrees, type Move, move } from './driver.ts';

const TIMES = { seed: 1, minMs: 1_000, maxMs: 60_000 };
const SLOTS = ['keys', 'switch', 'custom', 'pack'] as const;
type Slot = (typeof SLOTS)[number];
type At = 'reading' | 'settled' | 'keys' | 'fetching' | 'applying' | 'waiting';
type Refused = { readonly value: number; readonly state: 'rejected' | 'failed' };
type Model = {
  at: At;
  wish: Record<Slot, number | null>;
  /** 0 = none. */
  held: Record<Slot, number>;
  refused: Record<Slot, Refused | null>;
  job: { slot: Slot; value: number } | null;
  failures: number;
  elapsedMs: number;
};
type Real = Driven<typeof policyMachine>;
const RUNS: Readonly<Partial<Record<At, string>>> = {
  ...{ reading: 'readHeld', keys: 'takeKeys', fetching: 'fetchSet', applying: 'applySet' },
};

const ID = '11111111-0000-4000-8000-000000000000';
const POLICIES = [{ name: 'a', sha256: '3'.repeat(64) }];
function partsOf(slot: Slot, value: number): PolicyAnswer {
  if (slot === 'keys') {
    const statement = {
      sequence: value,
      new_key_pem: '',
      retired_key_ids: [],
      by_key_id: '',
      signature: '',
    };
    return { signing_key_rotations: [statement] };
  }
  if (slot === 'switch') return { enforcement_policy: { revision: value, mode: 'monitor' } };
  if (slot === 'custom') {
    return {
      custom_policies: { revision: value, path: '', policies: value === 0 ? [] : POLICIES },
    };
  }
  if (value === 0) return { pack_assignment: { assignment_id: ID, removed: true } };
  const pack = { assignment_id: ID, pack_id: ID, version: value, manifest_sha256: '', path: '' };
  return { pack_assignment: { ...pack, mode: 'enforce', namespace_scope: null } };
}

function decide(model: Model): void {
  model.elapsedMs = 0;
  const slot = SLOTS.find((one) => model.wish[one] !== null);
  model.job = slot === undefined ? null : { slot, value: model.wish[slot] ?? 0 };
  if (model.job === null) model.at = 'settled';
  else if (model.job.slot === 'keys') model.at = 'keys';
  else if (model.job.slot === 'switch' || model.job.value === 0) model.at = 'applying';
  else model.at = 'fetching';
}
function finish(model: Model, refused: Refused | null): void {
  const { job } = model;
  model.failures = 0;
  if (job === null || model.wish[job.slot] !== job.value) return;
  model.wish[job.slot] = null;
  model.refused[job.slot] = refused;
}
function again(model: Model, fits: (one: Refused) => boolean): void {
  for (const slot of ['custom', 'pack'] as const) {
    const one = model.refused[slot];
    if (one === null || !fits(one)) continue;
    model.wish[slot] ??= one.value;
    model.refused[slot] = null;
  }
}
function isResting({ at }: Model): boolean {
  return at === 'settled' || at === 'waiting';
}

const tells = fc
  .tuple(fc.constantFrom(...SLOTS), fc.integer({ min: 0, max: 3 }))
  .filter(([slot, value]) => value > 0 || slot === 'pack' || slot === 'custom')
  .map(
    ([slot, value]): Move<Model, Real> => ({
      name: `${slot}(${value})`,
      run(model, real) {
        real.send({ type: 'wish.received', answer: partsOf(slot, value) } as never);
        if (model.refused[slot]?.value !== value) model.refused[slot] = null;
        const isDone = slot !== 'keys' && model.held[slot] === value;
        model.wish[slot] = isDone || model.refused[slot] !== null ? null : value;
        if (isResting(model)) decide(model);
      },
    }),
  );
const ends = fc.boolean().map(
  (isChanged): Move<Model, Real> => ({
    name: `done(${isChanged})`,
    run(model, real) {
      const src = RUNS[model.at];
      if (src === undefined) return;
      const was = model.at;
      const good = {
        ok: true,
        value: was === 'fetching' ? { policies: POLICIES, rollbackTo: [] } : null,
      };
      const outputs = { reading: NOTHING_HELD, keys: { isChanged, refusal: null } };
      real.done(src, was === 'reading' || was === 'keys' ? outputs[was] : good);
      if (was === 'fetching') {
        model.at = 'applying';
        return;
      }
      if (was === 'applying' && model.job !== null) model.held[model.job.slot] = model.job.value;
      if (was !== 'reading') finish(model, null);
      if (was === 'keys' && isChanged) again(model, () => true);
      decide(model);
    },
  }),
);
const refuses = fc.constantFrom('rejected' as const, 'failed' as const).map(
  (state): Move<Model, Real> => ({
    name: `refuse(${state})`,
    run(model, real) {
      const src = RUNS[model.at];
      if (src === undefined || model.at === 'reading') return;
      const refusal = { state, code: 'c', reason: 'r' };
      real.done(src, model.at === 'keys' ? { isChanged: false, refusal } : { ok: false, refusal });
      finish(model, { value: model.job?.value ?? 0, state });
      decide(model);
    },
  }),
);
const fails = move<Model, Real>('fail', (model, real) => {
  const src = RUNS[model.at];
  if (src === undefined) return;
  real.fail(src, new Error('no'));
  if (model.at === 'reading') return decide(model);
  model.at = 'waiting';
  model.elapsedMs = 0;
  model.failures += 1;
});
const changes = move<Model, Real>('another engine', (model, real) => {
  real.send({ type: 'engine.changed' } as never);
  again(model, ({ state }) => state === 'failed');
  model.failures = 0;
  if (isResting(model)) decide(model);
});
const wait = fc.integer({ min: 1, max: 70_000 }).map(
  (ms): Move<Model, Real> => ({
    name: `wait(${ms})`,
    run(model, real) {
      real.advance(ms);
      if (model.at !== 'waiting') return;
      model.elapsedMs += ms;
      if (model.elapsedMs >= backoffMs({ ...TIMES, failures: model.failures })) decide(model);
    },
  }),
);

describe('policy', () => {
  itsMachineAgrees(policyMachine, {
    input: fc.constant(null),
    begin() {
      const none = { keys: null, switch: null, custom: null, pack: null };
      const real = drive(policyMachine, TIMES, 0);
      const model: Model = {
        ...{ at: 'reading', wish: { ...none }, refused: { ...none }, job: null },
        ...{ held: { keys: 0, switch: 0, custom: 0, pack: 0 }, failures: 0, elapsedMs: 0 },
      };
      return { model, real };
    },
    moves: [tells, tells, tells, ends, ends, ends, refuses, fails, changes, wait],
    agree(model, real) {
      const { value, context } = real.snapshot();
      expect(value).toBe(model.at);
      expect(real.running()).toEqual([RUNS[model.at]].filter((one) => one !== undefined));
      expect(context.held.pack?.version ?? 0).toBe(model.held.pack);
      expect(context.held.custom.revision).toBe(model.held.custom);
      expect(context.held.enforcement.revision).toBe(model.held.switch);
      expect(context.failures).toBe(model.failures);
      for (const slot of SLOTS) {
        expect(context.wish[slot] === null).toBe(model.wish[slot] === null);
        expect(context.refused[slot]?.refusal.state).toBe(model.refused[slot]?.state);
      }
    },
  });
});
