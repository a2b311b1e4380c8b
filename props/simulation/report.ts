// The report of a run for people: what it was, what happened in it, what it came through, and how to have it again.
import type { MachineCoverage, PlaceCount } from './coverage.ts';
import { describeOptions, type Options } from './options.ts';
import type { RunResult } from './run.ts';

export type Reported = {
  readonly options: Options;
  readonly result: RunResult;
  readonly coverage: readonly MachineCoverage[];
  /** Processor time the run took. */
  readonly cpuSeconds: number;
  /** The command that runs it again. */
  readonly replay: string;
};

const HOUR_MS = 3_600_000;

/** The whole report. `isLong` names every place that was not visited, and why. */
export function textReport(reported: Reported, isLong = false): string {
  const { options, result, coverage, replay } = reported;
  const lines = [
    describeOptions(options),
    '',
    ...paceLines(reported),
    '',
    `accidents: ${describeCounts(result.faults)}`,
    `observed: ${describeCounts(result.observations)}`,
    '',
    ...coverageLines(coverage, isLong),
    '',
    ...verdictLines(result),
    `log ${result.hash}`,
    `again: ${replay}`,
  ];
  return lines.join('\n');
}

function paceLines({ options, result, cpuSeconds }: Reported): readonly string[] {
  const sleptMs = result.fleet.world.scheduler.sleptMs();
  const events = result.observations['events.stored'] ?? 0;
  const seconds = Math.max(cpuSeconds, 0.001);
  return [
    `simulated ${hours(result.simulatedMs)} of ${options.sensors} sensors, ${hours(sleptMs)} of it asleep; ` +
      `${result.steps} steps, ${result.fleet.world.log.size()} observations, ${events} writes of events`,
    `${seconds.toFixed(1)} s of processor time: ${Math.round(result.steps / seconds)} steps a second, ` +
      `${Math.round((result.sensorHours / seconds) * 60)} sensor-hours a minute and core`,
  ];
}

function hours(ms: number): string {
  return ms >= 48 * HOUR_MS
    ? `${(ms / HOUR_MS / 24).toFixed(1)} d`
    : `${(ms / HOUR_MS).toFixed(2)} h`;
}

function describeCounts(counts: Readonly<Record<string, number>>): string {
  const sorted = Object.entries(counts).sort(([, one], [, other]) => other - one);
  return sorted.map(([name, count]) => `${name} ${count}`).join(', ') || 'none';
}

/** One line a machine; the long form names what was not visited. */
export function coverageLines(
  coverage: readonly MachineCoverage[],
  isLong: boolean,
): readonly string[] {
  const lines = ['machine            states visited      transitions visited'];
  for (const { machine, states, transitions } of coverage) {
    lines.push(
      `${machine.padEnd(18)} ${describePlaces(states).padEnd(19)} ${describePlaces(transitions)}`,
    );
    if (!isLong) continue;
    for (const count of [states, transitions]) lines.push(...placeLines(count));
  }
  const open = coverage.reduce(
    (sum, { states, transitions }) => sum + openOf(states) + openOf(transitions),
    0,
  );
  lines.push(`${open} places were neither visited by this run nor excused`);
  return lines;
}

function describePlaces({ visited, total, excused }: PlaceCount): string {
  return `${visited} of ${total}${excused.length > 0 ? ` (+${excused.length})` : ''}`;
}

function openOf({ unexplained, wronglyExcused }: PlaceCount): number {
  return unexplained.length + wronglyExcused.length;
}

function placeLines({ unexplained, excused, wronglyExcused }: PlaceCount): readonly string[] {
  return [
    ...unexplained.map(({ place, detail }) => `    not visited: ${place} ${detail}`),
    ...wronglyExcused.map((place) => `    visited though excused: ${place}`),
    ...excused.map(({ place, reason }) => `    cannot be visited: ${place}: ${reason}`),
  ];
}

/** How it ended, with every broken promise. */
function verdictLines({ outcome, violations, crashes, simulatedMs }: RunResult): readonly string[] {
  if (outcome === 'held') return [`held: every promise was kept for ${hours(simulatedMs)}`];
  return [
    ...crashes.map((crash) => `CRASH ${crash}`),
    ...violations.map(
      ({ kind, checker, atMs, detail }) =>
        `VIOLATION (${kind}) of ${checker} at ${(atMs / 1_000).toFixed(3)} s: ${detail}`,
    ),
  ];
}
