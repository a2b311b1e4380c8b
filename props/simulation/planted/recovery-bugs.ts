// Mistakes that break no promise while trouble lasts, and keep the fleet from getting well again.

import type { PlantedBug } from './planted-bug.ts';
import { CALM } from './settings.ts';

const ONE = { ...CALM, hours: 0.15, quietMs: 60_000, driftPpm: 0 } as const;
const PATIENCE = 5;

export const RECOVERY_BUGS: readonly PlantedBug[] = [
  {
    name: 'gives-up-streaming',
    mistake: 'The Sensor opens no stream any more after five that failed.',
    foundBy: 'liveness',
    options: { ...ONE, kinds: ['network.cut', 'console.kill'], faultsPerHour: 60 },
    pinnedSeed: '1',
    node() {
      let failures = 0;
      return {
        ports: (ports) => ({
          ...ports,
          transport: {
            ...ports.transport,
            async openStream(client, hello, handlers, timeoutMs) {
              if (failures >= PATIENCE) return await new Promise(() => undefined);
              const opening = await ports.transport.openStream(client, hello, handlers, timeoutMs);
              failures = opening.ok ? 0 : failures + 1;
              return opening;
            },
          },
        }),
      };
    },
  },
  {
    name: 'sink-stays-closed',
    mistake: 'The sink never opens again after five batches that it could not store.',
    foundBy: 'liveness',
    options: { ...ONE, quietMs: 20_000, kinds: ['analytics.away'], faultsPerHour: 60 },
    pinnedSeed: '1',
    console() {
      let failures = 0;
      return {
        analytics: (ports) => ({
          ...ports,
          sink: {
            ...ports.sink,
            async append(batch) {
              if (failures >= PATIENCE) return { ok: false, retryAfterMs: 60_000 };
              const outcome = await ports.sink.append(batch);
              failures = outcome.ok ? 0 : failures + 1;
              return outcome;
            },
          },
        }),
      };
    },
  },
];
