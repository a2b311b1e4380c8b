// Profiles that are about something: short runs in which one thing happens all the time, with the few accidents that bear on
// it, where a night has a little of everything. What ordinary seeds meet once in hundreds these meet in a few.
import { DEFAULT_INTERVALS } from '../../machines/intervals.ts';
import type { Intervals } from '../../machines/limits.ts';
import { BASELINE_BINARIES_MAX } from '../../machines/pipeline-limits.ts';
import type { FaultKind } from './faults/kinds.ts';
import type { Random } from './world/random.ts';

/**
 * - renewals: certificates that live for minutes, requests that are played again, disks that refuse the new one
 * - identities: nodes that come and go, are enrolled again and revoked, with tokens that end soon
 * - strangers: nodes that are copied, and roots of the authority that change, with little else
 * - replicas: several Consoles over a database that stalls, is slow or says nothing, and people who work on all of them
 * - restores: a database that comes back as it was earlier, under people who changed something since
 * - busy: nodes with much to tell and little room, engines that fail, rules that count all of it
 */
export const SUBJECTS = [
  'renewals',
  'identities',
  'strangers',
  'replicas',
  'restores',
  'busy',
] as const;
export type SubjectName = (typeof SUBJECTS)[number];

export type Ranges = {
  readonly sensors: readonly [number, number];
  readonly hours: readonly [number, number];
  readonly faultsPerHour: readonly [number, number];
  /** How much shorter than in production certificates live. */
  readonly lifetimes: readonly number[];
  /** Share of runs in which a certificate is renewed when a tenth of its life has passed. */
  readonly eager?: number;
};

/** What such a profile draws in place of what ordinary ones do. */
export type Subject = {
  readonly ranges: Ranges;
  /** The accidents that bear on it; each run has a part of them. */
  readonly kinds: readonly FaultKind[];
  /** Each run has one of these groups beside. */
  readonly always?: readonly (readonly FaultKind[])[];
  readonly options: (random: Random) => SubjectOptions;
  readonly intervals: (random: Random) => Partial<Intervals>;
};
type SubjectOptions = Partial<
  Readonly<
    Record<
      | ('consoles' | 'people' | 'keepers' | 'wardens' | 'publishers')
      | ('spoolEventsMax' | 'quietMs' | 'programs' | 'binariesMax'),
      number
    >
  >
>;

const MINUTE_MS = 60_000;
/** So much of what bears on it a run has. */
const SHARES = [0.1, 0.3, 0.7] as const;
const NOBODY = { people: 0, keepers: 0, wardens: 0, publishers: 0 } as const;

export const SUBJECT_OF: Readonly<Record<SubjectName, Subject>> = {
  renewals: {
    ranges: { sensors: [1, 2], hours: [0.2, 0.4], faultsPerHour: [120, 400], lifetimes: [1] },
    kinds: [
      ...(['network.replay', 'network.cut', 'network.reset', 'disk.read_only'] as const),
      ...(['disk.full', 'console.kill', 'node.kill', 'console.clock_set_at_renewal'] as const),
      ...(['operator.reenroll', 'operator.tokens'] as const),
    ],
    always: [['network.replay'], ['network.replay'], ['disk.read_only', 'disk.full']],
    options: (random) => ({ ...NOBODY, quietMs: random.pick([10_000, MINUTE_MS]) }),
    intervals: lifetimesOfMinutes,
  },
  identities: {
    ranges: { sensors: [1, 2], hours: [0.15, 0.4], faultsPerHour: [20, 400], lifetimes: [1] },
    kinds: [
      ...(['operator.revoke', 'operator.reenroll', 'operator.recreate'] as const),
      ...(['operator.tokens', 'operator.wrong_token', 'operator.revoke_at_reenrollment'] as const),
      ...(['network.cut', 'network.replay', 'network.reset', 'node.kill'] as const),
      ...(['console.kill', 'console.clock_jump'] as const),
    ],
    always: [['operator.revoke'], ['operator.recreate'], ['console.clock_jump', 'network.reset']],
    options: (random) => ({ ...NOBODY, quietMs: random.pick([2_000, 10_000, MINUTE_MS]) }),
    intervals: (random) => ({
      ...lifetimesOfMinutes(random),
      ENROLLMENT_TOKEN_TTL_MS: random.pick([
        10_000,
        10_000,
        DEFAULT_INTERVALS.ENROLLMENT_TOKEN_TTL_MS,
      ]),
    }),
  },
  strangers: {
    ranges: { sensors: [1, 2], hours: [0.4, 0.6], faultsPerHour: [8, 30], lifetimes: [1] },
    kinds: [
      ...(['node.kill', 'node.stop', 'console.kill', 'network.cut', 'network.reset'] as const),
      ...(['relational.away', 'analytics.away'] as const),
    ],
    always: [['node.clone'], ['console.new_root'], ['node.clone', 'console.new_root']],
    options: (random) => ({
      ...{
        ...NOBODY,
        consoles: random.pick([1, 1, 1, 1, 2]),
        quietMs: random.pick([10_000, MINUTE_MS]),
      },
    }),
    intervals: lifetimesOfMinutes,
  },
  replicas: {
    ranges: {
      ...{ sensors: [1, 2], hours: [0.1, 0.25], faultsPerHour: [60, 400] },
      ...{ lifetimes: [1, 0.0001], eager: 0.5 },
    },
    kinds: [
      ...(['relational.away', 'relational.stall', 'relational.slow', 'relational.unsure'] as const),
      ...(['relational.notifications', 'relational.late_answers', 'operator.revoke'] as const),
      ...(['console.kill', 'console.stop', 'console.kill_at_call', 'console.pause'] as const),
      ...(['console.power_loss', 'network.slow'] as const),
    ],
    always: [
      ['operator.revoke', 'relational.notifications'],
      ['relational.slow', 'console.kill'],
      ['relational.stall', 'relational.unsure'],
    ],
    options: (random) => ({
      ...{ ...NOBODY, consoles: random.pick([2, 2, 3]), people: random.pick([0, 3]) },
    }),
    intervals: () => ({}),
  },
  restores: {
    ranges: { sensors: [1, 2], hours: [0.15, 0.5], faultsPerHour: [20, 200], lifetimes: [1] },
    kinds: [
      ...(['operator.revoke', 'operator.reenroll', 'operator.tokens', 'console.kill'] as const),
      ...(['console.stop', 'node.kill', 'network.cut'] as const),
    ],
    always: [
      ['relational.failover'],
      ['relational.restore'],
      ['relational.failover', 'relational.restore'],
    ],
    options: (random) => ({
      ...{ ...NOBODY, consoles: random.pick([1, 2]), people: random.pick([1, 3]) },
      ...{ wardens: random.pick([0, 0, 1]), publishers: random.pick([0, 0, 1]) },
    }),
    intervals: () => ({}),
  },
  busy: {
    ranges: { sensors: [1, 2], hours: [0.08, 0.2], faultsPerHour: [60, 600], lifetimes: [1] },
    kinds: [
      ...(['engine.crash', 'engine.hang', 'engine.flood', 'engine.rotate'] as const),
      ...(['engine.upgrade', 'engine.bad_upgrade', 'disk.hang', 'disk.full'] as const),
      ...(['network.cut', 'network.reset', 'network.slow', 'node.kill', 'node.stop'] as const),
      ...(['analytics.away', 'analytics.unsure', 'analytics.slow'] as const),
    ],
    options: (random) => ({
      ...{ ...NOBODY, keepers: random.pick([0, 1]), programs: random.pick([0, 12, 40]) },
      ...{ binariesMax: random.pick([8, BASELINE_BINARIES_MAX]) },
      ...{
        spoolEventsMax: random.pick([20, 60, 100_000]),
        quietMs: random.pick([500, 1_000, 3_000]),
      },
    }),
    intervals: quickHabits,
  },
};

/** The subject of a profile; null for an ordinary one. */
export function subjectOf(profile: string): Subject | null {
  const name = SUBJECTS.find((one) => one === profile);
  return name === undefined ? null : SUBJECT_OF[name];
}

/** A part of the accidents that bear on it. */
export function drawSubjectKinds(random: Random, { kinds, always = [[]] }: Subject): FaultKind[] {
  const share = random.pick(SHARES);
  const some = kinds.filter(() => random.chance(share));
  const drawn = [...(some.length === 0 ? [random.pick(kinds)] : some), ...random.pick(always)];
  return [...new Set(drawn)];
}

/** A renewal every few minutes. */
function lifetimesOfMinutes(random: Random): Partial<Intervals> {
  const lifetimeMs = random.pick([4, 4, 10]) * MINUTE_MS;
  return {
    CLIENT_CERTIFICATE_TTL_MS: lifetimeMs,
    RENEWAL_RECOMMENDED_MS: lifetimeMs / 2,
    RENEWAL_DUE_MS: lifetimeMs / 4,
    PREVIOUS_CERTIFICATE_OVERLAP_MS: random.pick([20_000, MINUTE_MS]),
  };
}

function quickHabits(): Partial<Intervals> {
  return {
    BASELINE_WARM_UP_MS: MINUTE_MS,
    BASELINE_SAVE_INTERVAL_MS: 20_000,
    BASELINE_TELL_INTERVAL_MS: 20_000,
    INVENTORY_INTERVAL_MS: 20_000,
    INVENTORY_REPEAT_MS: 40_000,
  };
}
