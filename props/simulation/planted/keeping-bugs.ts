// Mistakes in what a Console keeps: in its memory, in PostgreSQL, in the record of moves.
import type { WheelClock } from '../../../actors/runtime/wheel-clock.ts';
import type { SimulatedStores } from '../world/stores.ts';
import type { PlantedBug } from './planted-bug.ts';
import { CALM } from './settings.ts';

/** Says of every certificate in force that it was replaced just now. */
function touchCertificates({ relational }: SimulatedStores, nowMs: number): void {
  const { certificates } = relational.state;
  for (const [fingerprint, one] of certificates) {
    if (one.status === 'current') certificates.set(fingerprint, { ...one, supersededAtMs: nowMs });
  }
}

export const KEEPING_BUGS: readonly PlantedBug[] = [
  {
    name: 'timers-pile-up',
    mistake: 'Every judgment of a certificate leaves a timer of an hour behind.',
    foundBy: 'bounds',
    options: { ...CALM, kinds: ['network.slow'], faultsPerHour: 120, quietMs: 1_000 },
    pinnedSeed: '1',
    console() {
      let wheel: WheelClock | null = null;
      return {
        wheel(own) {
          wheel = own;
          return own;
        },
        fleet: (fleet) => ({
          ...fleet,
          identities: {
            ...fleet.identities,
            judge(fingerprint, nowMs) {
              wheel?.setTimeout(() => undefined, 3_600_000);
              return fleet.identities.judge(fingerprint, nowMs);
            },
          },
        }),
      };
    },
  },
  {
    name: 'move-not-recorded',
    mistake: 'Every third move of an actor is not recorded.',
    foundBy: 'time-travel',
    options: { ...CALM, kinds: ['network.cut'], faultsPerHour: 120 },
    pinnedSeed: '1',
    console() {
      let moves = 0;
      return {
        analytics: (ports) => ({
          ...ports,
          events: {
            ...ports.events,
            insertTransitions: (rows) =>
              ports.events.insertTransitions(
                rows.filter(() => {
                  moves += 1;
                  return moves % 3 !== 0;
                }),
              ),
          },
        }),
      };
    },
  },
  {
    name: 'event-in-the-registry',
    mistake: 'The newest event of a sensor is written into its row.',
    foundBy: 'no-raw-events',
    options: { ...CALM, quietMs: 5_000 },
    pinnedSeed: '1',
    console() {
      let newest: unknown = null;
      return {
        analytics: (ports) => ({
          ...ports,
          sink: {
            ...ports.sink,
            append(batch) {
              newest = batch.events.at(-1);
              return ports.sink.append(batch);
            },
          },
        }),
        relational: (ports) => ({
          ...ports,
          facts: {
            ...ports.facts,
            write: (row) =>
              ports.facts.write({ ...row, facts: { ...row.facts, resources: { newest } } }),
          },
        }),
      };
    },
  },
  {
    name: 'withdrawn-token-ends-certificates',
    mistake: 'A token that is withdrawn marks the certificates of the whole fleet as replaced.',
    foundBy: 'trust-domains',
    options: { ...CALM, kinds: ['operator.tokens'], faultsPerHour: 200 },
    pinnedSeed: '1',
    console: (_world, stores) => ({
      relational: (ports) => ({
        ...ports,
        sensors: {
          ...ports.sensors,
          async revokeToken(input) {
            const row = await ports.sensors.revokeToken(input);
            touchCertificates(stores, input.nowMs);
            return row;
          },
        },
      }),
    }),
  },
];
