// What a run is made of, all drawn from its seed (swarm testing: a run that has everything at once finds less than many
// runs that each have a few things). Every option is printed, and any of them can be given instead.
import { DEFAULT_INTERVALS, resolveIntervals } from '../../machines/intervals.ts';
import type { Intervals } from '../../machines/limits.ts';
import { BASELINE_BINARIES_MAX } from '../../machines/pipeline-limits.ts';
import { FAULT_KINDS, type FaultKind, RARE_KINDS } from './faults/kinds.ts';
import { drawSubjectKinds, type Ranges, SUBJECT_OF, SUBJECTS, subjectOf } from './subjects.ts';
import { createRandom, type Random } from './world/random.ts';

export const PROFILES = ['smoke', 'nightly', 'storm', 'long', 'deliveries', ...SUBJECTS] as const;
export type Profile = (typeof PROFILES)[number];

export type Options = {
  readonly seed: string;
  readonly profile: Profile;
  readonly sensors: number;
  readonly consoles: number;
  /** Who operate: they log in, work, and are changed by each other. */
  readonly people: number;
  /** Whether somebody keeps alert rules and saved searches, and works on the alerts. */
  readonly keepers: number;
  /** Whether somebody cuts nodes off and lets them go. */
  readonly wardens: number;
  /** Whether somebody publishes policies; with one, engines carry them out. */
  readonly publishers: number;
  /** Receivers of webhooks; with any, things are found that have to be told. The profile `deliveries` has them. */
  readonly receivers: number;
  /** Simulated time with faults; healing comes after it. */
  readonly hours: number;
  /** Accidents an hour, over the whole fleet. */
  readonly faultsPerHour: number;
  /** Kinds of accidents this run has. */
  readonly kinds: readonly FaultKind[];
  readonly intervals: Intervals;
  readonly spoolEventsMax: number;
  /** Mean time between events of a quiet node. */
  readonly quietMs: number;
  /** Programs with habits beside the usual few; with any a node has sockets, too. */
  readonly programs: number;
  /** Programs whose habits a node knows at once. */
  readonly binariesMax: number;
  /** Clocks run this much too fast or slow at most. */
  readonly driftPpm: number;
  /** Clocks are this much off at most from the start. */
  readonly skewMs: number;
};

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const SHORT_HOURS_MAX = 2;
/** Share of runs in which something rare happens at all, for each such thing. */
const RARE_CHANCE = 0.05;

/** A part of the nights is short and rough: renewals, starts and accidents meet that seldom do. */
const ROUGH_CHANCE = 0.4;
const ROUGH: Ranges = {
  sensors: [1, 2],
  hours: [0.08, 0.3],
  faultsPerHour: [20, 150],
  lifetimes: [1, 0.0005, 0.0005, 0.0002],
  eager: 0.5,
};
const RANGES: Readonly<Record<Profile, Ranges>> = {
  smoke: { sensors: [1, 3], hours: [0.3, 2], faultsPerHour: [4, 20], lifetimes: [1, 0.01, 0.001] },
  nightly: { sensors: [1, 3], hours: [4, 36], faultsPerHour: [0.05, 0.5], lifetimes: [1, 1, 0.02] },
  storm: { sensors: [10, 40], hours: [0.2, 0.5], faultsPerHour: [100, 600], lifetimes: [0.001] },
  deliveries: {
    sensors: [1, 2],
    hours: [0.1, 0.4],
    faultsPerHour: [10, 120],
    lifetimes: [1, 0.01],
  },
  long: { sensors: [2, 5], hours: [240, 720], faultsPerHour: [0.02, 0.1], lifetimes: [1, 0.2] },
  renewals: SUBJECT_OF.renewals.ranges,
  identities: SUBJECT_OF.identities.ranges,
  strangers: SUBJECT_OF.strangers.ranges,
  replicas: SUBJECT_OF.replicas.ranges,
  restores: SUBJECT_OF.restores.ranges,
  busy: SUBJECT_OF.busy.ranges,
};

/** Draws the options of a seed; what is given stands. */
export function drawOptions(
  seed: string,
  profile: Profile,
  given: Partial<Omit<Options, 'seed' | 'profile' | 'intervals'>> = {},
): Options {
  const random = createRandom(`${seed}/options`);
  const isRough = profile === 'nightly' && random.fork('rough').chance(ROUGH_CHANCE);
  const ranges = isRough ? ROUGH : RANGES[profile];
  const subject = subjectOf(profile);
  const own = random.fork('subject');
  const spread = ([least, most]: readonly [number, number]): number =>
    least * (most / least) ** random.next();
  const drawn = {
    sensors: random.between(...ranges.sensors),
    consoles: random.chance(0.3) ? 2 : 1,
    people: random.fork('people').pick([0, 1, 2, 3]),
    // Short runs are many, and a keeper costs a third more: it has pinned runs of its own.
    keepers: profile === 'smoke' ? 0 : random.fork('keepers').pick([0, 1]),
    wardens: random.fork('wardens').pick([0, 1]),
    publishers: random.fork('publishers').pick([0, 1]),
    // They cost more than all else, so that a profile of its own has them.
    receivers: profile === 'deliveries' ? random.fork('receivers').pick([1, 2, 4, 8, 25]) : 0,
    hours: round(spread(ranges.hours)),
    faultsPerHour: round(spread(ranges.faultsPerHour)),
    kinds: [...drawKinds(random.fork('kinds')), ...drawRare(random)],
    intervals: drawIntervals(random.fork('intervals'), ranges, subject?.intervals(own) ?? {}),
    spoolEventsMax: random.pick([20, 60, 200, 1_000, 100_000]),
    programs: random.fork('programs').pick([0, 4, 12, 40]),
    binariesMax: random.fork('binaries').pick([8, 24, BASELINE_BINARIES_MAX]),
    quietMs: random.pick([10_000, MINUTE_MS, 5 * MINUTE_MS, 20 * MINUTE_MS]),
    driftPpm: random.pick([0, 20, 200]),
    skewMs: random.pick([0, 500, 30_000]),
  };
  const about =
    subject === null ? {} : { ...subject.options(own), kinds: drawSubjectKinds(own, subject) };
  return { ...drawn, ...about, ...given, seed, profile };
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

function drawKinds(random: Random): readonly FaultKind[] {
  if (random.chance(0.05)) return [];
  const share = random.pick([0.15, 0.4, 1]);
  const drawn = FAULT_KINDS.filter(() => random.chance(share));
  return drawn.length === 0 ? [random.pick(FAULT_KINDS)] : drawn;
}

function drawRare(random: Random): readonly FaultKind[] {
  return RARE_KINDS.filter((kind) => random.fork(kind).chance(RARE_CHANCE));
}

function drawIntervals(
  random: Random,
  { lifetimes, hours, eager = 0 }: Ranges,
  about: Partial<Intervals>,
): Intervals {
  const heartbeatMs = random.pick([5_000, 15_000, 15_000, 30_000]);
  const lifetime = random.pick(lifetimes);
  const isEager = random.fork('eager').chance(eager);
  const recommendedMs = isEager
    ? 0.9 * DEFAULT_INTERVALS.CLIENT_CERTIFICATE_TTL_MS
    : DEFAULT_INTERVALS.RENEWAL_RECOMMENDED_MS;
  const scaled = (ms: number): number => Math.max(1_000, Math.round(ms * lifetime));
  const resolved = resolveIntervals({
    HEARTBEAT_INTERVAL_MS: heartbeatMs,
    HEARTBEAT_TIMEOUT_MS: Math.min(heartbeatMs, DEFAULT_INTERVALS.HEARTBEAT_TIMEOUT_MS),
    STREAM_TICK_MS: random.pick([500, 2_000, 2_000, 4_000]),
    STREAM_PING_INTERVAL_MS: random.pick([10_000, 15_000]),
    CLIENT_CERTIFICATE_TTL_MS: scaled(DEFAULT_INTERVALS.CLIENT_CERTIFICATE_TTL_MS),
    RENEWAL_RECOMMENDED_MS: scaled(recommendedMs),
    RENEWAL_DUE_MS: scaled(DEFAULT_INTERVALS.RENEWAL_DUE_MS),
    PREVIOUS_CERTIFICATE_OVERLAP_MS: scaled(DEFAULT_INTERVALS.PREVIOUS_CERTIFICATE_OVERLAP_MS),
    ...drawSessions(random.fork('sessions')),
    ...drawHabits(random.fork('habits'), hours[1]),
    ...about,
  });
  if (!resolved.ok) throw new Error(resolved.mistakes.join('; '));
  return resolved.intervals;
}

function drawSessions(random: Random): Partial<Intervals> {
  const idleMs = random.pick([2 * MINUTE_MS, 10 * MINUTE_MS, DEFAULT_INTERVALS.SESSION_IDLE_MS]);
  return {
    SESSION_IDLE_MS: idleMs,
    SESSION_ABSOLUTE_MS: idleMs * random.pick([1, 2, 12]),
    SEEN_WRITE_INTERVAL_MS: random.pick([5_000, MINUTE_MS]),
  };
}

/** A run of minutes sees habits that are learned, saved and told only when all of that goes faster. */
function drawHabits(random: Random, hoursMax: number): Partial<Intervals> {
  const isFast = random.chance(0.6);
  const warmUpMs = random.pick([MINUTE_MS, 10 * MINUTE_MS]);
  const [tellMs, inventoryMs] = [random.pick([20_000, 30_000]), random.pick([20_000, 40_000])];
  if (!isFast) return {};
  if (hoursMax > SHORT_HOURS_MAX) {
    return { BASELINE_WARM_UP_MS: HOUR_MS, BASELINE_TELL_INTERVAL_MS: 20 * MINUTE_MS };
  }
  return {
    BASELINE_WARM_UP_MS: warmUpMs,
    BASELINE_SAVE_INTERVAL_MS: 20_000,
    BASELINE_TELL_INTERVAL_MS: tellMs,
    INVENTORY_INTERVAL_MS: inventoryMs,
    INVENTORY_REPEAT_MS: 2 * inventoryMs,
  };
}

/** One line for people. */
export function describeOptions(options: Options): string {
  const { intervals, kinds, ...rest } = options;
  const plain = Object.entries(rest).map(([name, value]) => `${name}=${value}`);
  const changed = Object.entries(intervals)
    .filter(([name, value]) => DEFAULT_INTERVALS[name as keyof Intervals] !== value)
    .map(([name, value]) => `${name}=${value}`);
  return [...plain, `kinds=${kinds.join(',') || 'none'}`, ...changed].join(' ');
}

/** The length of a run with faults. */
export function lengthMs(options: Options): number {
  return Math.round(options.hours * HOUR_MS);
}
