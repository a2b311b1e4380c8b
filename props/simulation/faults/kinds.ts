// The accidents of the world by name. What each does stands in the file of its part.
export const FAULT_KINDS = [
  'network.cut',
  'network.one_way',
  'network.lossy',
  'network.slow',
  'network.replay',
  'network.reset',
  'network.slow_reader',
  'node.kill',
  'node.power_loss',
  'node.kill_at_call',
  'node.stop',
  'node.stop_at_start',
  'node.bad_start',
  'node.start_ahead',
  'node.stop_stuck',
  'node.clock_jump',
  'disk.full',
  'disk.read_only',
  'disk.fail_sync',
  'disk.slow',
  'disk.hang',
  'disk.unreadable',
  'disk.unreadable_backlog',
  'engine.crash',
  'engine.hang',
  'engine.flood',
  'engine.garbage',
  'engine.rotate',
  'engine.refuse',
  'engine.unkillable',
  'console.kill',
  'console.power_loss',
  'console.kill_at_call',
  'console.stop',
  'console.clock_jump',
  'console.clock_set_at_renewal',
  'relational.away',
  'relational.stall',
  'relational.slow',
  'relational.unsure',
  'relational.notifications',
  'analytics.away',
  'analytics.stall',
  'analytics.slow',
  'analytics.unsure',
  'operator.revoke',
  'operator.reenroll',
  'operator.recreate',
  'operator.tokens',
  'operator.wrong_token',
  'operator.revoke_twice',
  'operator.revoke_at_reenrollment',
  'relational.late_answers',
  'console.stop_while_sealing',
  'engine.upgrade',
  'engine.bad_upgrade',
  'network.partition',
  'network.version_skew',
  'analytics.forget',
  'node.clone',
  'console.new_root',
  'node.pause',
  'console.pause',
] as const;
/**
 * Accidents that happen once in a long while. Each is drawn by itself, so that a run is otherwise what it was before there
 * was such a thing.
 */
export const RARE_KINDS = ['relational.failover', 'relational.restore'] as const;
export type RareKind = (typeof RARE_KINDS)[number];
export type FaultKind = (typeof FAULT_KINDS)[number] | RareKind;

/** Those after which PostgreSQL is what it was earlier. */
export const FORGETTING: ReadonlySet<FaultKind> = new Set<FaultKind>(RARE_KINDS);

/** Whether it is drawn by itself. */
export function isRare(kind: FaultKind): kind is RareKind {
  return (RARE_KINDS as readonly FaultKind[]).includes(kind);
}

/** One accident of a run's plan. The whole plan is drawn before the run, so that a part of it can be left out. */
export type PlannedFault = {
  readonly id: number;
  readonly kind: FaultKind;
  readonly atMs: number;
  readonly durationMs: number;
  /** Which of the hosts it meets, as a number below 1. */
  readonly target: number;
  /** How bad, as a number below 1; each kind reads it in its own way. */
  readonly severity: number;
};

/** Starts an accident and gives back what ends it. */
export type FaultEffect = (fault: PlannedFault) => () => void;
