import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type ContainmentSnapshot,
  containmentMachine,
  containmentReportOf,
} from '../../machines/sensor/containment.machine.ts';
import {
  isIpv4,
  isIpv6,
  isNewer,
  readBackOf,
  refusalOfPassage,
  refusalOfReadBack,
  ruleCounts,
  rulesetOf,
} from '../../machines/sensor/containment.rules.ts';
import { createSimulatedFilter } from '../simulation/world/packet-filter.ts';
import { describeMachineLaws } from './laws.ts';
import { initialTransition, transition } from './moves.ts';

const order = fc.record({
  orderId: fc.constantFrom('1', '2', '3', '4'),
  wanted: fc.constantFrom('contained' as const, 'released' as const),
  reason: fc.string(),
  untilMs: fc.option(fc.integer({ min: 0, max: 1_000_000 })),
});
const input = fc.record({
  order: fc.option(order),
  sinceMs: fc.constant(0),
  repaired: fc.constant(0),
  isCarriedOut: fc.boolean(),
  checkMs: fc.constant(15_000),
});
const atMs = fc.integer({ min: 0, max: 1_000_000 });

describeMachineLaws({
  name: 'containment',
  machine: containmentMachine,
  input,
  events: fc.record({ type: fc.constant('order.received'), order, atMs }),
  outputs: {
    readClock: atMs,
    applyRules: atMs,
    liftRules: atMs,
    checkRules: fc.record({ atMs, wasRepaired: fc.boolean() }),
  },
});

const step = (snapshot: ContainmentSnapshot, event: { type: string; [key: string]: unknown }) =>
  transition(containmentMachine, snapshot, event as never)[0];
const done = (src: string, output: unknown) => ({ type: `xstate.done.actor.${src}`, output });
const begin = (
  wanted: 'contained' | 'released' | null,
  untilMs: number | null = null,
  isCarriedOut = false,
) =>
  initialTransition(containmentMachine, {
    order: wanted === null ? null : { orderId: '1', wanted, reason: '', untilMs },
    ...{ sinceMs: 0, repaired: 0, isCarriedOut, checkMs: 15_000 },
  })[0];
const released = (snapshot: ContainmentSnapshot) => step(snapshot, done('liftRules', 200));
const look = (snapshot: ContainmentSnapshot) =>
  step(snapshot, { type: 'xstate.after.checkMs.containment.released' });

describe('containment of a node', () => {
  it('should never be lifted by a start: a kept order comes into force again, whatever the clock does', () => {
    for (const clock of [
      done('readClock', 5),
      { type: 'xstate.error.actor.readClock', error: 1 },
    ]) {
      const started = step(begin('contained'), clock);
      expect(started.value).toBe('containing');
      expect(step(started, done('applyRules', 6)).hasTag('settled')).toBe(true);
    }
    expect(step(begin('contained', 5), done('readClock', 5)).value).toBe('releasing');
    expect(step(begin('contained', 6), done('readClock', 5)).value).toBe('containing');
    expect(step(begin('released'), done('readClock', 5)).value).toBe('releasing');
    expect(step(begin(null), done('readClock', 5)).value).toBe('released');
  });

  it('should end by the clock as it is then: one that was set back meanwhile lets nobody go early', () => {
    const held = step(step(begin('contained', 100), done('readClock', 5)), done('applyRules', 90));
    const due = step(held, { type: 'xstate.after.untilEndMs.containment.contained.holding' });
    expect(containmentReportOf(due).state).toBe('contained');

    expect(step(due, done('readClock', 40)).value).toEqual({ contained: 'holding' });
    expect(step(due, done('readClock', 100)).value).toBe('releasing');
    const unread = step(due, { type: 'xstate.error.actor.readClock', error: 1 });
    expect(unread.value).toEqual({ contained: 'holding' });
  });

  it('should carry out an order that was over by a wrong clock once the clock is right', () => {
    const order = { orderId: '2', wanted: 'contained' as const, reason: '', untilMs: 100 };
    const heard = step(begin(null), done('readClock', 5));
    const free = released(step(heard, { type: 'order.received', order, atMs: 150 }));
    expect(containmentReportOf(free)).toMatchObject({ order_id: '2', state: 'released' });

    expect(step(look(free), done('readClock', 165)).value).toBe('released');
    const unread = step(look(free), { type: 'xstate.error.actor.readClock', error: 1 });
    expect(unread.value).toBe('released');
    const right = step(look(free), done('readClock', 99));
    expect(right.value).toBe('containing');
    const holds = containmentReportOf(step(right, done('applyRules', 99)));
    expect(holds).toMatchObject({ state: 'contained', since: new Date(99).toISOString() });
  });

  it('should not take up again what came to its end, though the clock is set back', () => {
    const held = step(step(begin('contained', 100), done('readClock', 5)), done('applyRules', 100));
    expect(held.value).toBe('releasing');
    const free = released(held);
    expect(look(free).value).toBe('released');
    expect(free.context.order?.hasEnded).toBe(true);
    // A crash while the rules were lifted, or the end while no Sensor ran.
    const restarted = step(begin('contained', 100, true), done('readClock', 100));
    expect(look(released(restarted)).value).toBe('released');
    const never = step(begin('contained', 100), done('readClock', 100));
    expect(look(released(never)).value).toBe('reviewing');
  });

  it('should say that it failed, and why, until it is better', () => {
    const started = step(begin('contained'), done('readClock', 5));
    const failed = step(started, { type: 'xstate.error.actor.applyRules', error: new Error('no') });
    expect(containmentReportOf(failed)).toMatchObject({ state: 'failed', failure: 'no' });
    const again = step(failed, { type: 'xstate.after.checkMs.containment.failed' });
    expect(containmentReportOf(again)).toMatchObject({ state: 'failed', failure: 'no' });
    const tried = step(again, done('readClock', 9));
    expect(tried.value).toBe('containing');
    const good = containmentReportOf(step(tried, done('applyRules', 10)));
    expect(good).toMatchObject({ order_id: '1', state: 'contained', method: 'nftables' });
    expect(good).not.toHaveProperty('failure');
  });

  it('never takes an order that is not newer', () => {
    fc.assert(
      fc.property(order, order, (has, next) => {
        const snapshot = step(
          initialTransition(containmentMachine, {
            ...{ order: has, sinceMs: 0, repaired: 0, isCarriedOut: false, checkMs: 15_000 },
          })[0],
          { type: 'order.received', order: next, atMs: 0 },
        );
        const taken = isNewer(next, has) ? next : has;
        expect(snapshot.context.order).toEqual(taken);
      }),
    );
  });
});

const port = fc.integer({ min: 1, max: 65_535 });
const address = fc.oneof(
  fc.ipV4().filter((one) => !/^(127\.|0\.0\.0\.0)/.test(one)),
  fc.ipV6().filter((one) => isIpv6(one) && one !== '::1' && one !== '::'),
);
const passage = fc.record({
  peers: fc.array(fc.record({ address, port }), { minLength: 1, maxLength: 5 }),
  resolvers: fc.array(address, { maxLength: 3 }),
});

describe('the rules', () => {
  it('should always drop what is not named: every rule names a peer, a resolver, or what a link needs', () => {
    fc.assert(
      fc.property(passage, (given) => {
        const lines = rulesetOf(given)
          .split('\n')
          .map((one) => one.trim());
        expect(lines.filter((one) => one.endsWith('policy drop;')).length).toBe(3);
        const named = [...given.peers.map((one) => one.address), ...given.resolvers];
        for (const line of lines.filter((one) => one.endsWith('accept'))) {
          const isLocal = /^[io]if "lo" accept$/.test(line);
          const isLink = /sport (67|68|546|547) |nd-neighbor-solicit/.test(line);
          const address_ = / (?:saddr|daddr) (\S+) (?!udp sport 54)/.exec(` ${line}`)?.[1];
          expect([line, isLocal || isLink || named.includes(address_ ?? '')]).toEqual([line, true]);
          if (!isLocal && !isLink && line.startsWith('ct'))
            expect(line).toContain('ct direction reply');
        }
      }),
    );
  });

  it('never hold a text that is no address or port', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.constantFrom(
            '1.2.3.4; drop',
            'fe80::1%eth0',
            '1.2.3',
            '::1',
            '127.0.0.1',
            '1.2.3.4\n}',
          ),
        ),
        fc.integer(),
        (text, number) => {
          const bad = { peers: [{ address: text, port: number }], resolvers: [] };
          const isGood = (isIpv4(text) || isIpv6(text)) && number > 0 && number < 65_536;
          if (isGood) return;
          expect(refusalOfPassage(bad)).not.toBeNull();
          expect(() => rulesetOf(bad)).toThrow();
        },
      ),
    );
    expect(refusalOfPassage({ peers: [], resolvers: [] })).not.toBeNull();
  });

  it('should find again what was written, and see every rule that is gone', async () => {
    await fc.assert(
      fc.asyncProperty(passage, fc.nat(), async (given, pick) => {
        const filter = createSimulatedFilter().filterFor({
          call: async (_: string, effect: () => unknown) => effect(),
        } as never);
        await filter.apply(rulesetOf(given));
        const found = (await filter.read()) as { nftables: { rule?: unknown }[] };
        expect(refusalOfReadBack(found, given)).toBeNull();
        const counts = Object.values(ruleCounts(given)).reduce((sum, one) => sum + one, 0);
        expect(found.nftables.filter(({ rule }) => rule !== undefined).length).toBe(counts);
        const at = pick % found.nftables.length;
        const less = { nftables: found.nftables.filter((_, index) => index !== at) };
        expect(readBackOf(less)).not.toBe(readBackOf(found));
        const moved = JSON.parse(
          JSON.stringify(found).replaceAll('"prio":0', '"prio":0,"handle":7'),
        );
        expect(readBackOf(moved)).toBe(readBackOf(found));
      }),
      { numRuns: 30 },
    );
    expect(readBackOf(null)).toBeNull();
    expect(readBackOf({ nftables: [{ metainfo: {} }] })).toBeNull();
  });
});
