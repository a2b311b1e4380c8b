// Mistakes that show when PostgreSQL forgets what it had confirmed.
import type { SettingRow } from '../../../storage/ports/settings/settings-store.ts';
import type { PlantedBug } from './planted-bug.ts';
import { CALM } from './settings.ts';
import { changePosts } from './tampered-transport.ts';

const FAILING_OVER = { ...CALM, kinds: ['relational.failover'], hours: 0.5 } as const;
const RESTORED = { ...CALM, kinds: ['relational.restore'] } as const;

export const FAILOVER_BUGS: readonly PlantedBug[] = [
  {
    name: 'settings-never-go-back',
    mistake: 'A Console takes no setting of a lower revision than it knows.',
    foundBy: 'kept-settings',
    options: { ...FAILING_OVER, people: 3 },
    pinnedSeed: '2',
    console() {
      return {
        relational(ports) {
          const highest = new Map<string, SettingRow>();
          return {
            ...ports,
            settings: {
              ...ports.settings,
              async list() {
                for (const row of await ports.settings.list()) {
                  const known = highest.get(row.name)?.revision ?? 0;
                  if (row.revision >= known) highest.set(row.name, row);
                }
                return [...highest.values()];
              },
            },
          };
        },
      };
    },
  },
  {
    name: 'forgotten-revocation-stays',
    mistake: 'A revocation that the database forgot is never told again.',
    foundBy: 'revoked',
    options: {
      ...{ ...FAILING_OVER, sensors: 2, faultsPerHour: 200, hours: 0.25 },
      kinds: ['relational.failover', 'operator.revoke'],
    },
    pinnedSeed: '2',
    console: () => ({
      relational: (ports) => ({
        ...ports,
        sensors: {
          ...ports.sensors,
          revoke: (input) =>
            input.actor === 'console'
              ? ports.sensors.getSensor(input.sensorId)
              : ports.sensors.revoke(input),
        },
      }),
    }),
  },
  {
    name: 'file-wins-over-restored',
    mistake:
      'A Console keeps settings beside its database, and they win over a backup that was restored.',
    foundBy: 'kept-settings',
    options: { ...RESTORED, people: 3, hours: 0.3 },
    pinnedSeed: '2',
    console() {
      const file = new Map<string, SettingRow>();
      return {
        relational: (ports) => ({
          ...ports,
          settings: {
            ...ports.settings,
            async list() {
              for (const row of await ports.settings.list()) {
                const known = file.get(row.name)?.revision ?? 0;
                if (row.revision >= known) file.set(row.name, row);
              }
              return [...file.values()];
            },
          },
        }),
      };
    },
  },
  {
    name: 'forgotten-identity-is-kept',
    mistake: 'A Sensor that the Console forgot takes no token for a new identity.',
    foundBy: 'liveness',
    options: { ...RESTORED, hours: 0.02 },
    pinnedSeed: '1',
    node: () =>
      changePosts(() => (answer) => {
        const isForgotten =
          !answer.ok && answer.kind === 'refused' && answer.code === 'certificate_unknown';
        return isForgotten ? { ...answer, code: 'forbidden' } : answer;
      }),
  },
];
