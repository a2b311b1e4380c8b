// Mistakes in what the Console shows of the fleet, and in what it keeps of it.
import type { Intervals } from '../../../machines/limits.ts';
import type { ConsoleTampering } from '../world/console-host.ts';
import type { PlantedBug } from './planted-bug.ts';
import { CALM, SHORT_LIVES } from './settings.ts';

const ONE = { ...CALM, hours: 0.15, quietMs: 60_000 } as const;
/** Nodes fall silent for longer than the window of staleness. */
const SILENT = {
  ...ONE,
  kinds: ['node.stop', 'network.cut'],
  faultsPerHour: 60,
} as const;

function changeIntervals(change: (intervals: Intervals) => Partial<Intervals>): ConsoleTampering {
  return { intervals: (intervals) => ({ ...intervals, ...change(intervals) }) };
}

export const PICTURE_BUGS: readonly PlantedBug[] = [
  {
    name: 'stale-a-second-late',
    mistake: 'A silent sensor turns stale one second after its window.',
    foundBy: 'staleness',
    options: SILENT,
    pinnedSeed: '1',
    console: () =>
      changeIntervals(({ STALENESS_WINDOW_MS }) => ({
        STALENESS_WINDOW_MS: STALENESS_WINDOW_MS + 1_000,
      })),
  },
  {
    name: 'stale-a-second-early',
    mistake: 'A silent sensor turns stale one second before its window is over.',
    foundBy: 'staleness',
    options: SILENT,
    pinnedSeed: '1',
    console: () =>
      changeIntervals(({ STALENESS_WINDOW_MS }) => ({
        STALENESS_WINDOW_MS: STALENESS_WINDOW_MS - 1_000,
      })),
  },
  {
    name: 'errors-forgotten',
    mistake: 'An error of trust or connection stops to count after a tenth of its window.',
    foundBy: 'health-rule',
    options: { ...SILENT, kinds: ['network.cut'] },
    pinnedSeed: '2',
    console: () =>
      changeIntervals(({ TRUST_ERROR_WINDOW_MS }) => ({
        TRUST_ERROR_WINDOW_MS: TRUST_ERROR_WINDOW_MS / 10,
      })),
  },
  {
    name: 'renewal-shown-late',
    mistake: 'The health tells of a recommended renewal twenty seconds too late.',
    foundBy: 'health-rule',
    options: { ...SILENT, hours: 0.25, kinds: ['disk.read_only'], intervals: SHORT_LIVES },
    pinnedSeed: '1',
    console: () =>
      changeIntervals(({ RENEWAL_RECOMMENDED_MS }) => ({
        RENEWAL_RECOMMENDED_MS: RENEWAL_RECOMMENDED_MS - 20_000,
      })),
  },
  {
    name: 'revoked-looks-well',
    mistake: 'A revoked sensor is shown as healthy.',
    foundBy: 'health-rule',
    options: { ...SILENT, kinds: ['operator.revoke'] },
    pinnedSeed: '1',
    console: () => ({
      fleet: (fleet) => ({
        ...fleet,
        sensors: {
          ...fleet.sensors,
          view(sensorId, nowMs) {
            const view = fleet.sensors.view(sensorId, nowMs);
            return view?.health === 'revoked' ? { ...view, health: 'healthy' } : view;
          },
        },
      }),
    }),
  },
  {
    name: 'revocation-lost-at-restart',
    mistake: 'The actors of a Console that starts do not hear which sensors are revoked.',
    foundBy: 'rebuilt-from-facts',
    options: { ...SILENT, kinds: ['operator.revoke', 'console.kill'], faultsPerHour: 120 },
    pinnedSeed: '1',
    console: () => ({
      relational: (ports) => ({
        ...ports,
        sensors: {
          ...ports.sensors,
          loadSensors: async () =>
            (await ports.sensors.loadSensors()).map((row) => ({ ...row, revokedAtMs: null })),
        },
      }),
    }),
  },
];
