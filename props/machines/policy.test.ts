// The laws of a node's policies: whatever is wished, refused or away, what is held changes only by a step that was applied,
// and no version comes back that the highest one does not name. decision: D78
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type PolicySnapshot,
  packStandingOf,
  policyMachine,
} from '../../machines/sensor/policy.machine.ts';
import {
  type AssignedPack,
  canRemember,
  type Held,
  heldAfter,
  NOTHING_HELD,
  type PolicyJob,
  wishAfter,
} from '../../machines/sensor/policy.rules.ts';
import type { PolicyAnswer } from '../../machines/wire/policy.ts';
import { describeMachineLaws } from './laws.ts';
import { initialTransition, transition } from './moves.ts';

const ID = (digit: string) => `${digit.repeat(8)}-0000-4000-8000-000000000000`;
const SHA = (digit: string) => digit.repeat(64);
const packOf = (version: number, more: Partial<AssignedPack> = {}): AssignedPack => ({
  assignment_id: ID('a'),
  pack_id: ID('1'),
  version,
  manifest_sha256: SHA(String(version % 10)),
  mode: 'enforce',
  namespace_scope: null,
  path: '/',
  ...more,
});
const pack = fc.record({
  assignment_id: fc.constantFrom(ID('a'), ID('b')),
  pack_id: fc.constantFrom(ID('1'), ID('2')),
  version: fc.integer({ min: 1, max: 5 }),
  manifest_sha256: fc.constantFrom(SHA('1'), SHA('2')),
  mode: fc.constantFrom('enforce' as const, 'monitor' as const),
  namespace_scope: fc.constant(null),
  path: fc.constant('/'),
});
const policies = fc.array(
  fc.record({ name: fc.constantFrom('a', 'b'), sha256: fc.constant(SHA('3')) }),
  {
    maxLength: 2,
  },
);
const rotation = fc.record({
  sequence: fc.integer({ min: 1, max: 3 }),
  new_key_pem: fc.constant('x'),
  retired_key_ids: fc.constant<string[]>([]),
  by_key_id: fc.constant('0'.repeat(16)),
  signature: fc.constant('s'),
});
const answer: fc.Arbitrary<PolicyAnswer> = fc.record(
  {
    pack_assignment: fc.oneof(
      pack,
      fc.record({ assignment_id: fc.constant(ID('a')), removed: fc.constant(true as const) }),
    ),
    enforcement_policy: fc.record({
      revision: fc.integer({ min: 0, max: 3 }),
      mode: fc.constantFrom('enforce' as const, 'monitor' as const, 'off' as const),
    }),
    custom_policies: fc.record({
      revision: fc.integer({ min: 0, max: 3 }),
      path: fc.constant('/'),
      policies,
    }),
    signing_key_rotations: fc.array(rotation, { maxLength: 2 }),
  },
  { requiredKeys: [] },
);
const refusal = fc.record({
  state: fc.constantFrom('rejected' as const, 'failed' as const),
  code: fc.constantFrom('engine_cannot', 'signature_invalid'),
  reason: fc.constant('r'),
});
const result = <T>(value: fc.Arbitrary<T>) =>
  fc.oneof(
    fc.record({ ok: fc.constant(true as const), value }),
    fc.record({ ok: fc.constant(false as const), refusal }),
  );
const fetched = fc.record({
  policies,
  rollbackTo: fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 2 }),
});
const events = fc.oneof(
  fc.record({ type: fc.constant('wish.received' as const), answer }),
  fc.record({ type: fc.constant('engine.changed' as const) }),
);
const input = fc.record({
  seed: fc.integer(),
  minMs: fc.constant(1_000),
  maxMs: fc.constant(60_000),
});

describeMachineLaws({
  name: 'policy',
  machine: policyMachine,
  input,
  events,
  outputs: {
    readHeld: fc.constant(NOTHING_HELD),
    takeKeys: fc.record({ isChanged: fc.boolean(), refusal: fc.option(refusal) }),
    fetchSet: result(fetched),
    applySet: result(fc.constant(null)),
  },
});

type Event = { readonly type: string; readonly [key: string]: unknown };
const step = (snapshot: PolicySnapshot, event: Event) =>
  transition(policyMachine, snapshot, event as never)[0];
const done = (src: string, output: unknown): Event => ({
  type: `xstate.done.actor.${src}`,
  output,
});
const error = (src: string, reason: string): Event => ({
  type: `xstate.error.actor.${src}`,
  error: new Error(reason),
});
const begin = (held: Held = NOTHING_HELD) =>
  step(
    initialTransition(policyMachine, { seed: 1, minMs: 1_000, maxMs: 60_000 })[0],
    done('readHeld', held),
  );
const told = (snapshot: PolicySnapshot, given: PolicyAnswer) =>
  step(snapshot, { type: 'wish.received', answer: given });
const GOOD = { ok: true, value: { policies: [{ name: 'a', sha256: SHA('3') }], rollbackTo: [] } };
const APPLIED = { ok: true, value: null };
const bad = (code: string, state = 'rejected') => ({
  ok: false,
  refusal: { state, code, reason: 'because' },
});

describe('the policies of a node', () => {
  it('should be verified, then in force, then held; and until then what was before', () => {
    const first = told(begin(), { pack_assignment: packOf(1) });
    expect([first.value, packStandingOf(first).state]).toEqual(['fetching', 'verifying']);
    expect(first.context.held).toEqual(NOTHING_HELD);
    const applying = step(first, done('fetchSet', GOOD));
    expect([applying.value, packStandingOf(applying).state]).toEqual(['applying', 'applying']);
    expect(applying.context.held).toEqual(NOTHING_HELD);
    const held = step(applying, done('applySet', APPLIED));
    expect(held.value).toBe('settled');
    expect(held.context.held.pack).toMatchObject({ version: 1, policies: [{ name: 'a' }] });
    expect(packStandingOf(held)).toEqual({ job: null, state: null });
  });

  it('should take keys before what they sign, and try again what lacked them', () => {
    const all = told(begin(), {
      pack_assignment: packOf(1),
      custom_policies: { revision: 1, path: '/', policies: [{ name: 'c', sha256: SHA('4') }] },
      enforcement_policy: { revision: 1, mode: 'monitor' },
      signing_key_rotations: [
        { sequence: 1, new_key_pem: 'k', retired_key_ids: [], by_key_id: '0', signature: 's' },
      ],
    });
    expect(all.value).toBe('keys');
    const switching = step(all, done('takeKeys', { isChanged: true, refusal: null }));
    expect([switching.value, switching.context.job?.kind]).toEqual(['applying', 'switch']);
    const custom = step(switching, done('applySet', APPLIED));
    expect([custom.value, custom.context.job?.kind]).toEqual(['fetching', 'custom']);
    const packs = step(custom, done('fetchSet', bad('signature_invalid')));
    expect([packs.value, packs.context.job?.kind]).toEqual(['fetching', 'pack']);
    const refused = step(packs, done('fetchSet', bad('signature_invalid')));
    expect(packStandingOf(refused)).toMatchObject({ state: 'rejected', code: 'signature_invalid' });
    const keys = told(refused, {
      signing_key_rotations: [
        { sequence: 2, new_key_pem: 'l', retired_key_ids: [], by_key_id: '0', signature: 's' },
      ],
    });
    const again = step(keys, done('takeKeys', { isChanged: true, refusal: null }));
    expect([again.value, again.context.job?.kind]).toEqual(['fetching', 'custom']);
    expect(packStandingOf(again).state).toBe('pending');
  });

  it('should keep what is held through every refusal, say why, and not try it again for being told again', () => {
    const before = heldAfter(NOTHING_HELD, { kind: 'pack', pack: packOf(1) }, GOOD.value);
    fc.assert(
      fc.property(
        fc.array(events, { maxLength: 20 }),
        fc.array(refusal, { minLength: 40 }),
        (sent, why) => {
          let snapshot = begin(before);
          for (const event of sent) {
            snapshot = step(snapshot, event as Event);
            for (let steps = 0; !snapshot.hasTag('settled') && steps < 10; steps += 1) {
              const output = { ok: false, refusal: why[steps] };
              const src = { keys: 'takeKeys', fetching: 'fetchSet', applying: 'applySet' }[
                String(snapshot.value) as 'keys'
              ];
              const given = src === 'takeKeys' ? { isChanged: false, refusal: why[steps] } : output;
              snapshot = step(snapshot, done(src, given));
            }
            expect(snapshot.context.held).toEqual(before);
          }
        },
      ),
    );
    const refused = step(
      told(begin(before), { pack_assignment: packOf(2) }),
      done('fetchSet', bad('x')),
    );
    expect(packStandingOf(refused)).toMatchObject({
      state: 'rejected',
      code: 'x',
      job: { pack: { version: 2 } },
    });
    expect(told(refused, { pack_assignment: packOf(2) }).value).toBe('settled');
    expect(told(refused, { pack_assignment: packOf(3) }).value).toBe('fetching');
    expect(packStandingOf(told(refused, { pack_assignment: packOf(1) })).state).toBeNull();
  });

  it('should try again what an engine could not do when another engine runs, and nothing else', () => {
    const could = step(told(begin(), { pack_assignment: packOf(1) }), done('fetchSet', GOOD));
    const cannot = step(could, done('applySet', bad('engine_cannot', 'failed')));
    expect(packStandingOf(cannot)).toMatchObject({ state: 'failed', code: 'engine_cannot' });
    expect(step(cannot, { type: 'engine.changed' }).value).toBe('fetching');
    const forged = step(told(begin(), { pack_assignment: packOf(1) }), done('fetchSet', bad('no')));
    expect(step(forged, { type: 'engine.changed' }).value).toBe('settled');
  });

  it('should wait longer after every failure, and not at all for another wish', () => {
    let waiting = step(told(begin(), { pack_assignment: packOf(1) }), error('fetchSet', 'away'));
    expect(packStandingOf(waiting)).toMatchObject({ state: 'pending', reason: 'away' });
    waiting = step(waiting, { type: 'xstate.after.retryMs.policy.waiting' });
    waiting = step(waiting, error('fetchSet', 'away'));
    expect([waiting.value, waiting.context.failures]).toEqual(['waiting', 2]);
    const other = told(waiting, { pack_assignment: packOf(2) });
    expect([other.value, other.context.job]).toMatchObject(['fetching', { pack: { version: 2 } }]);
  });

  it('should finish a step under way, and then take the wish that came meanwhile', () => {
    const first = step(told(begin(), { pack_assignment: packOf(1) }), done('fetchSet', GOOD));
    const other = told(first, { pack_assignment: packOf(2) });
    expect(other.value).toBe('applying');
    const next = step(other, done('applySet', APPLIED));
    expect([next.value, next.context.held.pack?.version, next.context.job]).toMatchObject([
      'fetching',
      1,
      { pack: { version: 2 } },
    ]);
    const gone = told(first, {
      pack_assignment: { assignment_id: ID('a'), removed: true },
    });
    // Nothing is held yet, so nothing is to be removed; when it is held, the Console says so again.
    expect(gone.context.wish.pack).toBeNull();
  });
});

describe('what a node holds', () => {
  it('should never forget the highest version of a pack, whatever is applied or removed', () => {
    const job = fc.oneof(
      pack.map((one): PolicyJob => ({ kind: 'pack', pack: one })),
      fc.constant<PolicyJob>({ kind: 'removal', assignmentId: ID('a') }),
    );
    fc.assert(
      fc.property(fc.array(job, { maxLength: 30 }), (jobs) => {
        let held = NOTHING_HELD;
        const highest: Record<string, number> = {};
        for (const one of jobs) {
          held = heldAfter(held, one, { policies: [], rollbackTo: [] });
          if (one.kind !== 'pack') continue;
          highest[one.pack.pack_id] = Math.max(highest[one.pack.pack_id] ?? 0, one.pack.version);
        }
        const known = Object.entries(held.highest).map(([id, { version }]) => [id, version]);
        expect(Object.fromEntries(known)).toEqual(highest);
      }),
    );
  });

  it('should remember a bounded number of packs, and refuse rather than forget', () => {
    const highest = Object.fromEntries(
      Array.from({ length: 128 }, (_, at) => [
        String(at),
        { version: 1, manifest_sha256: SHA('1'), rollback_to: [] },
      ]),
    );
    expect([canRemember(highest, '5'), canRemember(highest, 'new')]).toEqual([true, false]);
  });

  it('should take nothing for a step that is held already', () => {
    const held = heldAfter(NOTHING_HELD, { kind: 'pack', pack: packOf(1) }, GOOD.value);
    const none = { keys: null, switch: null, custom: null, pack: null };
    const known = { held, refused: none };
    expect(wishAfter(none, [{ kind: 'pack', pack: packOf(1) }], known)).toEqual(none);
    const other = packOf(1, { mode: 'monitor' });
    expect(wishAfter(none, [{ kind: 'pack', pack: other }], known).pack).toEqual({
      kind: 'pack',
      pack: other,
    });
  });
});
