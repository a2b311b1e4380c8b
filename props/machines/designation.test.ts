// A Console is never designated past its proof, always tries again, and always steps down before its session can end.
// decision: D60
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type DesignationEvent,
  designationMachine,
} from '../../machines/console/runtime/designation.machine.ts';
import { isProven } from '../../machines/console/runtime/designation.rules.ts';
import {
  DESIGNATION_ANSWER_MS,
  DESIGNATION_PROVE_MS,
  DESIGNATION_SESSION_IDLE_MS,
  DESIGNATION_SILENCE_MS,
  DESIGNATION_STAND_TIMEOUT_MS,
  DESIGNATION_TRY_MS,
} from '../../machines/console/runtime/loop-limits.ts';
import { DATABASE_TIMEOUT_MS } from '../../machines/limits.ts';
import { drive } from '../models/driver.ts';
import { describeMachineLaws } from './laws.ts';

/** What is promised: loops stop so soon after the lock is lost, and another Console runs them so soon. */
const STOPPED_MS = 5_000;
const TAKEN_OVER_MS = 15_000;

describeMachineLaws({
  name: 'designation',
  machine: designationMachine,
  input: fc.constant(undefined),
  events: fc.oneof(
    { weight: 5, arbitrary: fc.constant({ type: 'lock.lost', reason: 'the connection ended' }) },
    { weight: 1, arbitrary: fc.constant({ type: 'designation.stop' }) },
  ),
  outputs: {
    stand: fc.option(fc.integer({ min: 1 })),
    prove: fc.constant(undefined),
  },
});

const LOST: DesignationEvent = { type: 'lock.lost', reason: 'gone' };

const designated = () => {
  const machine = drive(designationMachine);
  machine.done('stand', 7);
  machine.takeEffects();
  return machine;
};

describe('designation', () => {
  it('always begins duty with the lock and its epoch, and ends it with the tenure', () => {
    const machine = drive(designationMachine);
    machine.done('stand', 7);
    expect(machine.takeEffects().map(({ type }) => type)).toEqual(['beginDuty']);
    expect(machine.snapshot().context).toEqual({ epoch: 7, tenures: 1 });
    machine.send(LOST);
    expect(machine.takeEffects().map(({ type }) => type)).toEqual(['endDuty', 'tellLost']);
    expect(machine.nextTimerMs()).toBe(DESIGNATION_TRY_MS);
  });

  it('never keeps duty longer than the silence after the last proof', () => {
    const machine = designated();
    machine.advance(DESIGNATION_SILENCE_MS - 1);
    expect(machine.snapshot().hasTag('designated')).toBe(true);
    machine.advance(1);
    expect(machine.snapshot().hasTag('designated')).toBe(false);
  });

  it('always ends duty at its stop, and never tries again', () => {
    const machine = designated();
    machine.send({ type: 'designation.stop' });
    expect(machine.takeEffects().map(({ type }) => type)).toEqual(['endDuty']);
    expect(machine.nextTimerMs()).toBe(null);
  });

  it('always tries again when the lock is held elsewhere, the database is away or says nothing', () => {
    const machine = drive(designationMachine);
    machine.done('stand', null);
    machine.advance(DESIGNATION_TRY_MS);
    machine.fail('stand');
    machine.advance(DESIGNATION_TRY_MS);
    expect(machine.running()).toEqual(['stand']);
    machine.advance(DESIGNATION_STAND_TIMEOUT_MS + DESIGNATION_TRY_MS);
    expect(machine.running()).toEqual(['stand']);
  });
});

describe('designation: rules', () => {
  it('always counts a proof for less than the silence, and none as none', () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat({ max: 10_000 }), (atMs, agoMs) => {
        expect(isProven(atMs, atMs + agoMs)).toBe(agoMs < DESIGNATION_SILENCE_MS);
      }),
    );
    expect(isProven(null, 0)).toBe(false);
  });

  it('always leaves time between the step down of one and the session end that lets another begin', () => {
    expect(DESIGNATION_SILENCE_MS).toBe(DESIGNATION_PROVE_MS + DESIGNATION_ANSWER_MS);
    expect(DESIGNATION_SILENCE_MS).toBeLessThan(STOPPED_MS);
    expect(STOPPED_MS).toBeLessThan(DESIGNATION_SESSION_IDLE_MS);
    expect(DESIGNATION_TRY_MS + DESIGNATION_STAND_TIMEOUT_MS).toBeLessThan(
      DESIGNATION_SESSION_IDLE_MS,
    );
    // A transaction of the frozen one may hold the fence as long as the database lets it.
    const takenOverMs =
      Math.max(DESIGNATION_SESSION_IDLE_MS, DATABASE_TIMEOUT_MS) +
      DESIGNATION_TRY_MS +
      DESIGNATION_STAND_TIMEOUT_MS;
    expect(takenOverMs).toBeLessThan(TAKEN_OVER_MS);
  });
});
