// Mistakes about what people set, import and protect themselves with: it is forgotten, counts twice, or counts for nothing.
import type { LicenseRow } from '../../../storage/ports/license/license-store.ts';
import type { SettingRow } from '../../../storage/ports/settings/settings-store.ts';
import type { SimulatedRelationalPorts } from '../world/stores-relational.ts';
import { losingAlerts } from './lost-alerts.ts';
import type { PlantedBug } from './planted-bug.ts';
import { CALM, LONG_LIVES } from './settings.ts';

/** Three people at one Console; slow networks keep the world from sleeping. */
const BUSY = {
  ...CALM,
  people: 3,
  hours: 0.5,
  kinds: ['network.slow'],
  intervals: { ...LONG_LIVES, SEEN_WRITE_INTERVAL_MS: 5_000 },
} as const;
/** The same, and the Console is killed now and then. */
const KILLED = { ...BUSY, kinds: ['console.kill'], faultsPerHour: 20 } as const;

const withRelational =
  (change: (ports: SimulatedRelationalPorts) => Partial<SimulatedRelationalPorts>) => () => ({
    relational: (ports: SimulatedRelationalPorts) => ({ ...ports, ...change(ports) }),
  });

export const PEOPLE_BUGS: readonly PlantedBug[] = [
  {
    name: 'role-change-keeps-sessions',
    mistake: 'Another role leaves the sessions alive that the old one had.',
    foundBy: 'closed-out',
    options: BUSY,
    pinnedSeed: '4',
    console(_, stores) {
      stores.relational.keepSessions();
      return {};
    },
  },
  {
    name: 'factor-is-not-asked',
    mistake:
      'A login does not look whether the account has a second factor, and the store does not judge it again.',
    foundBy: 'second-factor',
    options: BUSY,
    pinnedSeed: '1',
    console: withRelational(({ users, sessions }) => ({
      sessions: { ...sessions, create: (row) => sessions.create(row) },
      users: {
        ...users,
        async findByEmail(email) {
          const user = await users.findByEmail(email);
          return user === null ? null : { ...user, mfa: { ...user.mfa, state: 'off' } };
        },
      },
    })),
  },
  {
    name: 'codes-count-twice',
    mistake: 'A code counts as long as its time is not over, however often it is shown.',
    foundBy: 'second-factor',
    options: { ...BUSY, hours: 2 },
    pinnedSeed: '2',
    console: withRelational(({ users, secondFactors }) => ({
      secondFactors: { ...secondFactors, acceptTotpStep: async () => true },
      users: {
        ...users,
        async get(userId) {
          const user = await users.get(userId);
          return user === null ? null : { ...user, mfa: { ...user.mfa, lastStep: 0 } };
        },
      },
    })),
  },
  {
    name: 'half-is-whole',
    mistake: 'A session that waits for its second factor does what a whole one does.',
    foundBy: 'second-factor',
    options: BUSY,
    pinnedSeed: '1',
    console: withRelational(({ sessions, users }) => ({
      sessions: {
        ...sessions,
        async findByHash(hash) {
          const row = await sessions.findByHash(hash);
          return row === null ? null : { ...row, stage: 'full' };
        },
      },
      users,
    })),
  },
  {
    name: 'settings-in-memory',
    mistake: 'A Console keeps a changed setting in its memory, and nowhere else.',
    foundBy: 'kept-settings',
    options: KILLED,
    pinnedSeed: '2',
    console: withRelational(({ settings }) => {
      const own = new Map<string, SettingRow>();
      return {
        settings: {
          list: async () => {
            const stored = await settings.list();
            return [
              ...new Map([...stored.map((row) => [row.name, row] as const), ...own]).values(),
            ];
          },
          async put({ values, revisions, nowMs, actor: changedBy }) {
            const rows = Object.entries(values).map(([name, value]) => {
              const revision = (revisions[name] ?? 0) + 1;
              return { name, value, revision, changedAtMs: nowMs, changedBy };
            });
            for (const row of rows) own.set(row.name, row);
            return { ok: true, rows };
          },
        },
      };
    }),
  },
  {
    name: 'license-in-memory',
    mistake: 'An imported license is in force until the Console starts again.',
    foundBy: 'counted-license',
    options: KILLED,
    pinnedSeed: '1',
    console: withRelational(({ license }) => {
      let own: LicenseRow | null = null;
      return {
        license: {
          observe: async (seen) => own ?? license.observe(seen),
          async put({ envelope, revision, nowMs, seenMs, actor }) {
            const stored = { envelope, importedAtMs: nowMs, importedBy: actor };
            own = { revision: revision + 1, license: stored, seenMs };
            return own;
          },
        },
      };
    }),
  },
  {
    name: 'license-ends-untold',
    mistake: 'A license that comes to its end has no alert.',
    foundBy: 'license-told',
    options: { ...BUSY, people: 1, hours: 1.5 },
    pinnedSeed: '3',
    console: losingAlerts('license_expiring'),
  },
  {
    name: 'license-limits-nobody',
    mistake: 'Enrollment does not ask the license for its number.',
    foundBy: 'counted-license',
    options: { ...BUSY, sensors: 3, hours: 1.5, kinds: ['operator.recreate'], faultsPerHour: 60 },
    pinnedSeed: '1',
    console: withRelational(({ sensors }) => ({
      sensors: { ...sensors, enroll: (input) => sensors.enroll({ ...input, nodesAllowed: null }) },
    })),
  },
  {
    name: 'acts-audited-twice',
    mistake: 'A change of settings is written into the audit log by the store and by its caller.',
    foundBy: 'audited-acts',
    options: BUSY,
    pinnedSeed: '2',
    console: withRelational(({ settings, audit }) => ({
      settings: {
        ...settings,
        async put(input) {
          const { actor, nowMs: atMs, from, values } = input;
          const target = Object.keys(values).join();
          const what = { action: 'settings.change', target, result: 'ok', detail: {} } as const;
          await audit.append([{ atMs, actor, from, ...what }]);
          return settings.put(input);
        },
      },
    })),
  },
  {
    name: 'acts-unaudited',
    mistake: 'What a Console writes into the audit log by itself never comes there.',
    foundBy: 'audited-acts',
    options: { ...BUSY, hours: 2 },
    pinnedSeed: '1',
    console: withRelational(({ audit }) => ({
      audit: { ...audit, append: async () => undefined },
    })),
  },
];
