// A token makes at most one identity, whatever the order of presentations, withdrawal and time. invariant: I2
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ENROLLMENT_TOKEN_TTL_MS } from '../../machines/limits.ts';
import {
  enrollmentTokenMachine,
  type TokenEmitted,
  type TokenEvent,
  type TokenInput,
} from '../models/machines/enrollment-token.machine.ts';
import { describeMachineLaws } from './laws.ts';
import { initialTransition, transition } from './moves.ts';

const START_MS = 1_800_000_000_000;
const END_MS = START_MS + ENROLLMENT_TOKEN_TTL_MS;
const EXPIRY = { type: 'xstate.after.lifetimeMs.enrollment-token.usable' } as const;
const token: TokenInput = { tokenId: 'token', createdAtMs: START_MS, expiresAtMs: END_MS };

const atMs = fc.integer({ min: START_MS, max: END_MS + 60_000 });
const presented = fc.record({
  type: fc.constant('token.presented' as const),
  atMs,
  keyDigest: fc.constantFrom('key-a', 'key-b', 'key-c'),
});
const revoked = fc.record({ type: fc.constant('token.revoked' as const), atMs });
const events: fc.Arbitrary<TokenEvent> = fc.oneof(
  { weight: 8, arbitrary: presented },
  { weight: 1, arbitrary: revoked },
);

describeMachineLaws({
  name: 'enrollment-token',
  machine: enrollmentTokenMachine,
  input: fc.constant(token),
  events,
});

type Emitted = { readonly type: string; readonly params: { readonly event: TokenEmitted } };

/** Runs events through the machine and collects what it told, with the state each event led to. */
function run(steps: readonly (TokenEvent | typeof EXPIRY)[]) {
  let [snapshot] = initialTransition(enrollmentTokenMachine, token);
  const told: TokenEmitted[] = [];
  for (const step of steps) {
    const [next, effects] = transition(enrollmentTokenMachine, snapshot, step as TokenEvent);
    for (const effect of effects as readonly unknown[] as readonly Emitted[]) {
      if (effect.type === 'xstate.emit') told.push(effect.params.event);
    }
    snapshot = next;
  }
  return { state: snapshot.value, told };
}

describe('enrollment token', () => {
  it('is consumed at most once under any interleaving', () => {
    const steps = fc.array(fc.oneof(events, fc.constant(EXPIRY)), { maxLength: 40 });
    fc.assert(
      fc.property(steps, (some) => {
        const { told } = run(some);
        const granted = told.filter((one) => one.type === 'identity.granted');
        expect(granted.length).toBeLessThanOrEqual(1);
        for (const one of told) {
          if (one.type === 'identity.repeated') expect(one.keyDigest).toBe(granted[0]?.keyDigest);
        }
      }),
    );
  });

  it('always grants the first key inside the lifetime and never one after it', () => {
    fc.assert(
      fc.property(presented, (first) => {
        const { told } = run([first]);
        if (first.atMs < END_MS) expect(told[0]?.type).toBe('identity.granted');
        else expect(told).toEqual([{ type: 'token.refused', code: 'token_expired' }]);
      }),
    );
  });

  it('always answers the same key again and never another one', () => {
    const first = { type: 'token.presented', atMs: START_MS, keyDigest: 'key-a' } as const;
    const { told } = run([first, first, { ...first, keyDigest: 'key-b' }]);
    expect(told.map((one) => one.type)).toEqual([
      'identity.granted',
      'identity.repeated',
      'token.refused',
    ]);
    expect(told[2]).toEqual({ type: 'token.refused', code: 'token_consumed' });
    expect(run([first, { ...first, atMs: END_MS }]).told[1]).toEqual({
      type: 'token.refused',
      code: 'token_expired',
    });
  });

  it('never wakes up again once it is expired or revoked', () => {
    const first = { type: 'token.presented', atMs: START_MS, keyDigest: 'key-a' } as const;
    expect(run([EXPIRY, first])).toEqual({ state: 'expired', told: [] });
    expect(run([{ type: 'token.revoked', atMs: START_MS }, first])).toEqual({
      state: 'revoked',
      told: [],
    });
  });
});
