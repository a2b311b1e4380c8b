// The Sensor's root beside one word: it forwards exactly while it runs, collects while it waits for a token, and only a
// revocation leads to `revoked`. invariant: I12
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import type { EnrollmentAttempt } from '../../machines/sensor/enrollment.rules.ts';
import { nodeMachine } from '../../machines/sensor/node.machine.ts';
import { EXIT, type Prepared } from '../../machines/sensor/node.rules.ts';
import { type Driven, drive, itsMachineAgrees, type Move, move, timeMoves } from './driver.ts';

const TOKEN_CHECK_MS = 5_000;
const STOP_TIMEOUT_MS = 10_000;
type At =
  | 'preparing'
  | 'enrolling'
  | 'running'
  | 'looking'
  | 'sleeping'
  | 'exchanging'
  | 'revoked'
  | 'failing'
  | 'stopping'
  | 'stopped'
  | 'failed';
type Model = {
  at: At;
  exitCode: number;
  elapsedMs: number;
  isForwarding: boolean;
  wasToldRevoked: boolean;
};
type Real = Driven<typeof nodeMachine>;

const RUNS: Readonly<Record<At, readonly string[]>> = {
  preparing: ['prepare'],
  enrolling: ['enroll'],
  running: ['startCollecting'],
  looking: ['lookForToken', 'startCollecting'],
  sleeping: ['startCollecting'],
  exchanging: ['enroll', 'startCollecting'],
  revoked: [],
  failing: ['stopEverything'],
  stopping: ['stopEverything'],
  stopped: [],
  failed: [],
};
const WAITING: readonly At[] = ['looking', 'sleeping', 'exchanging'];
const ENDING: readonly At[] = ['failing', 'stopping', 'stopped', 'failed'];
function go(model: Model, at: At, exitCode: number = model.exitCode): void {
  Object.assign(model, { at, exitCode, elapsedMs: 0 });
}
const runs = (model: Model, src: string) => RUNS[model.at].includes(src);

const found: fc.Arbitrary<Prepared> = fc.record({
  identity: fc.constantFrom(
    'none',
    'whole',
    'whole',
    'whole',
    'forgotten',
    'expired',
    'expired',
    'revoked',
    'broken',
  ),
  hasToken: fc.boolean(),
  isReenrollment: fc.boolean(),
  reason: fc.constant('because'),
});
function firstStep({ identity, hasToken, isReenrollment }: Prepared): At {
  const goesOn = {
    none: hasToken,
    broken: hasToken,
    expired: hasToken,
    forgotten: hasToken,
    whole: hasToken && isReenrollment,
    revoked: hasToken && !isReenrollment,
  }[identity];
  if (goesOn) return 'enrolling';
  if (identity === 'whole' || identity === 'forgotten') return 'running';
  if (identity === 'expired') return 'looking';
  return identity === 'revoked' ? 'revoked' : 'failing';
}
const prepared = found.map(
  (what): Move<Model, Real> => ({
    name: `found(${JSON.stringify(what)})`,
    run(model, real) {
      real.done('prepare', what);
      if (model.at !== 'preparing') return;
      const at = firstStep(what);
      go(model, at, at === 'failing' ? EXIT.refusedByState : EXIT.ok);
    },
  }),
);
const attempt: fc.Arbitrary<EnrollmentAttempt | undefined> = fc.constantFrom(
  { kind: 'enrolled', sensorId: 's', notAfterMs: 1 } as const,
  { kind: 'enrolled', sensorId: 's', notAfterMs: 1 } as const,
  { kind: 'refused', code: 'token_invalid', detail: 'no' } as const,
  { kind: 'retry', reason: 'busy', retryAfterMs: null } as const,
  undefined,
);
const enrolled = attempt.map(
  (outcome): Move<Model, Real> => ({
    name: `enroll(${outcome?.kind})`,
    run(model, real) {
      real.done('enroll', outcome);
      if (!runs(model, 'enroll')) return;
      if (outcome?.kind === 'enrolled') go(model, 'running');
      else if (model.at === 'exchanging') go(model, 'sleeping');
      else
        go(model, 'failing', outcome?.kind === 'refused' ? EXIT.refusedByState : EXIT.unreachable);
    },
  }),
);
const token = fc.constantFrom(true, false, undefined).map(
  (has): Move<Model, Real> => ({
    name: `token(${has})`,
    run(model, real) {
      real.done('lookForToken', has);
      if (model.at === 'looking') go(model, has === true ? 'exchanging' : 'sleeping');
    },
  }),
);
const ends = fc.constantFrom('startCollecting', 'stopEverything').map(
  (src): Move<Model, Real> => ({
    name: `done(${src})`,
    run(model, real) {
      const isAsked = runs(model, 'stopEverything') && src === 'stopEverything';
      real.done(src);
      if (isAsked) go(model, model.at === 'failing' ? 'failed' : 'stopped');
    },
  }),
);
const breaks = fc
  .constantFrom('prepare', 'enroll', 'lookForToken', 'startCollecting', 'stopEverything')
  .map(
    (src): Move<Model, Real> => ({
      name: `break(${src})`,
      // Collecting that began stays begun: its start cannot fail any more.
      run(model, real) {
        const isRunning = real.running().includes(src);
        real.fail(src);
        if (!isRunning) return;
        if (src === 'stopEverything') go(model, model.at === 'failing' ? 'failed' : 'stopped');
        else if (src === 'startCollecting') go(model, 'failing', EXIT.failed);
        else if (WAITING.includes(model.at)) go(model, 'sleeping');
        else go(model, 'failing', EXIT.failed);
      },
    }),
  );
const expire = move<Model, Real>('certificate.expired', (model, real) => {
  real.send({ type: 'certificate.expired' });
  if (model.at === 'running') go(model, 'looking');
});
const valid = move<Model, Real>('certificate.valid', (model, real) => {
  real.send({ type: 'certificate.valid' });
  // A token that is being exchanged is not left half way.
  if (model.at === 'looking' || model.at === 'sleeping') go(model, 'running');
});
const revoke = move<Model, Real>('sensor.revoked', (model, real) => {
  real.send({ type: 'sensor.revoked' });
  if (model.at === 'running' || WAITING.includes(model.at)) go(model, 'revoked');
});
const stop = move<Model, Real>('stop.requested', (model, real) => {
  real.send({ type: 'stop.requested' });
  if (!ENDING.includes(model.at)) go(model, 'stopping');
});
const time = timeMoves<Model, typeof nodeMachine>((model, { ms, isDue }) => {
  model.elapsedMs += ms;
  if (!isDue) return;
  if (model.at === 'sleeping') go(model, 'looking');
  else go(model, model.at === 'failing' ? 'failed' : 'stopped');
});

describe('node', () => {
  itsMachineAgrees(nodeMachine, {
    input: fc.constant({ tokenCheckMs: TOKEN_CHECK_MS, stopTimeoutMs: STOP_TIMEOUT_MS }),
    begin: (input) => ({
      model: {
        at: 'preparing',
        exitCode: EXIT.ok,
        elapsedMs: 0,
        isForwarding: false,
        wasToldRevoked: false,
      } as Model,
      real: drive(nodeMachine, input),
    }),
    moves: [
      prepared,
      prepared,
      prepared,
      enrolled,
      enrolled,
      token,
      token,
      ends,
      expire,
      expire,
      valid,
      time,
      fc.oneof(
        { weight: 1, arbitrary: fc.oneof(breaks, revoke, stop) },
        { weight: 3, arbitrary: expire },
      ),
    ],
    runs: 300,
    agree(model, real) {
      const snapshot = real.snapshot();
      const isWaiting = WAITING.includes(model.at);
      expect(snapshot.value).toEqual(isWaiting ? { awaiting_reenrollment: model.at } : model.at);
      expect(snapshot.hasTag('forwards')).toBe(model.at === 'running');
      expect(snapshot.hasTag('collects')).toBe(model.at === 'running' || isWaiting);
      // What collects is started once a state and runs on; its start may have ended.
      const wanted = RUNS[model.at].filter((src) => src !== 'startCollecting');
      expect(real.running().filter((src) => src !== 'startCollecting')).toEqual(wanted);
      expect(RUNS[model.at]).toEqual(expect.arrayContaining([...real.running()]));
      for (const { type } of real.takeEffects()) {
        if (type === 'startForwarding') {
          expect(model.isForwarding).toBe(false);
          model.isForwarding = true;
        } else if (type === 'stopForwarding') model.isForwarding = false;
        else if (type === 'rememberRevoked') model.wasToldRevoked = true;
      }
      expect(model.isForwarding).toBe(model.at === 'running');
      if (model.at === 'revoked') expect(model.wasToldRevoked).toBe(true);
      if (!snapshot.output) return;
      expect(snapshot.output.exitCode).toBe(model.exitCode);
    },
  });
});
