// A Console that dies around the write of a batch: what it acknowledged is stored, and once. The stores are the reference
// fakes behind the real listener. invariant: I1; decision: D6, D25
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { removeSharedKeys, startConsole } from './console.fixture.ts';
import { codeOf, eventsBody, type Identity, type KeyPair, makeKeys, nth } from './peer.ts';
import { openStores } from './stores.fixture.ts';

/** What the store does with one batch before the Console is gone. */
const DEATHS_AT = ['stall', 'fail', 'fail_after', 'work'] as const;
const step = fc.record({ deathAt: fc.constantFrom(...DEATHS_AT), batches: fc.nat(3) });

/** Declares the property over so many fleets, each of which dies up to three times. */
export function describeDeaths(deaths: number): void {
  let keys: readonly KeyPair[];
  beforeAll(async () => {
    keys = await makeKeys(2);
  });
  afterAll(removeSharedKeys);

  it('should have every acknowledged batch, and each once, whatever it died of', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 3 }), async (lives) => {
        const stores = await openStores();
        const acknowledged = new Set<number>();
        let own: Identity | null = null;
        let next = 1;
        for (const { deathAt, batches } of lives) {
          const living = await startConsole({ stores });
          own ??= await living.enroll('node', nth(keys, 0));
          const sender = own;
          const send = (n: number) => living.ask(sender, '/sensors/events', eventsBody(n, [n]));
          // What was not acknowledged in the life before comes again first, under its number.
          const last = next + batches;
          for (let n = 1; n <= last; n += 1) {
            const answer = await send(n);
            expect(answer.body).toEqual({ acknowledged_sequence: n });
            acknowledged.add(n);
          }
          next = last + 1;
          await stores.events.setMode(deathAt);
          const dying = send(next).then(
            (answer) => answer.status,
            () => 'lost' as const,
          );
          // The answer of a store that stalls never comes; the Console is stopped with the write in its hands.
          if (deathAt !== 'stall' && (await dying) === 202) acknowledged.add(next);
          await living.stop();
          await stores.events.setMode('work');
        }
        const heir = await startConsole({ stores });
        const held = own;
        if (held === null) throw new Error('nobody enrolled');
        for (let n = 1; n <= next; n += 1) {
          const answer = await heir.ask(held, '/sensors/events', eventsBody(n, [n]));
          expect(answer.body).toEqual({ acknowledged_sequence: n });
          // What the lives before acknowledged is not written a second time.
          const again = heir.batchesOf(held.sensorId).some((one) => one.sequence === n);
          if (acknowledged.has(n)) expect([n, again]).toEqual([n, false]);
        }
        const other = await heir.ask(held, '/sensors/events', eventsBody(1, [999]));
        expect(codeOf(other)).toEqual([409, 'sequence_conflict']);
        const { sensorId } = held;
        expect(await stores.events.events.countDistinct({ sensorId })).toBe(next);
        await heir.stop();
      }),
      { numRuns: deaths },
    );
  });
}
