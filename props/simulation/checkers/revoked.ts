// Revoked means nothing is accepted any more. A Console learns of a revocation from its own transaction or from the
// database, and one that is cut off may go on for REVOCATION_VIEW_MAX_AGE at most: whatever was asked later than that
// after the commit is refused there, and no stream outlives that by more than its next ping. On the node, only this very
// refusal makes the Sensor say `trust_revoked` (I12). The age counts from the last proof that notifications flow, so how a
// connection dies makes no difference; the only slack is one tick, for drift and for what was on its way. What was asked
// before and is answered later was accepted when it was asked. What the database forgot is revoked again by any Console that
// was there all the while. A Console that is paused does nothing, and for its streams the time counts from when it goes on.
// invariant: I3, I12; decision: D171
import { REVOCATION_VIEW_MAX_AGE_MS, WHEEL_TICK_MS } from '../../../machines/limits.ts';
import type { CheckerKind } from './checker.ts';
import { ensure } from './columns.ts';
import { stateOf } from './node-files.ts';

const SLACK_MS = WHEEL_TICK_MS;
/** Within so long a Console that nothing keeps from it knows what was committed. */
const HEARD_MS = 1_000;
const UNHEARD = /^relational\.(away|stall|slow|unsure|notifications|late_answers)/;

export const revoked: CheckerKind = {
  name: 'revoked',
  promise: 'A revoked sensor is refused, at once or within 5 s on a Console cut off (I3, I12).',
  make(fleet, report) {
    const { sensorOf, state } = fleet.stores.relational;
    /** Time in which the world was awake: a suspended host counts no monotonic time. */
    const awake = (ms: number): number => ms - fleet.world.scheduler.sleptMs();
    const revokedAt = new Map<string, number>();
    /** When, in true time; and who was ever revoked, whatever the database forgot. */
    const committedMs = new Map<string, number>();
    const ever = new Set<string>();
    /** Revocations that the database forgot, and a Console that was up all the while. */
    const owed = new Map<string, ReadonlySet<string>>();
    const startedMs = new Map<string, number>();
    /** Somebody may not have heard of a commit. */
    let isHardOfHearing = false;
    /** Open streams of each Console by fingerprint, how many and since when. */
    const streams = new Map<string, Map<string, number>>();
    const streamMaxMs =
      REVOCATION_VIEW_MAX_AGE_MS + fleet.intervals.STREAM_PING_INTERVAL_MS + SLACK_MS;
    /** When a Console that was paused went on. */
    const resumedMs = new Map<string, number>();
    const told = new Set<string>();

    function sinceOf(fingerprint: string | null): number | undefined {
      return revokedAt.get(sensorOf(fingerprint ?? '') ?? '');
    }

    function refuseLate(what: string, fingerprint: string | null, askedAtMs: number): void {
      const atMs = sinceOf(fingerprint);
      if (atMs === undefined || awake(askedAtMs) - atMs <= REVOCATION_VIEW_MAX_AGE_MS + SLACK_MS)
        return;
      report(`${what} of a sensor revoked ${Math.round(awake(askedAtMs) - atMs)} ms before`);
    }

    function count(console: string, fingerprint: string | null, by: number): void {
      const own = ensure(streams, console, () => new Map<string, number>());
      const name = fingerprint ?? '';
      const now = (own.get(name) ?? 0) + by;
      if (now > 0) own.set(name, now);
      else own.delete(name);
    }

    return {
      observe(seen, atMs) {
        switch (seen.kind) {
          case 'sensor.revoked':
            ever.add(seen.sensor);
            if (revokedAt.has(seen.sensor)) break;
            revokedAt.set(seen.sensor, awake(atMs));
            committedMs.set(seen.sensor, atMs);
            break;
          case 'fault':
            if (UNHEARD.test(seen.fault)) isHardOfHearing = true;
            break;
          case 'process.resumed':
            resumedMs.set(seen.host, awake(atMs));
            break;
          case 'process.started':
            startedMs.set(seen.host, atMs);
            break;
          case 'relational.forgot':
            for (const [sensor, ms] of committedMs) {
              if (ms <= seen.sinceMs) continue;
              const knowing = [...startedMs].filter(([, begun]) => begun < ms);
              if (!isHardOfHearing && atMs - ms > HEARD_MS)
                owed.set(sensor, new Set(knowing.map(([host]) => host)));
              revokedAt.delete(sensor);
              committedMs.delete(sensor);
            }
            break;
          case 'request.accepted':
            refuseLate(`${seen.console} accepted ${seen.path}`, seen.fingerprint, seen.askedAtMs);
            break;
          case 'batch.acknowledged':
            refuseLate(`${seen.console} took a batch`, seen.fingerprint, seen.askedAtMs);
            break;
          case 'stream.opened':
            refuseLate(`${seen.console} opened a stream`, seen.fingerprint, seen.askedAtMs);
            count(seen.console, seen.fingerprint, 1);
            break;
          case 'stream.closed':
            count(seen.console, seen.fingerprint, -1);
            break;
          case 'request.refused': {
            const sensor = sensorOf(seen.fingerprint ?? '') ?? '';
            if (seen.code !== 'sensor_revoked' || ever.has(sensor)) break;
            report(`${seen.console} refuses ${seen.fingerprint} as revoked, and nobody revoked it`);
            break;
          }
          case 'process.ended':
            streams.delete(seen.host);
            resumedMs.delete(seen.host);
            startedMs.delete(seen.host);
            for (const [sensor, hosts] of owed) {
              owed.set(sensor, new Set([...hosts].filter((host) => host !== seen.host)));
            }
            break;
        }
      },
      finish() {
        for (const [sensor, hosts] of owed) {
          const isKnown = fleet.consoles.some(({ name }) => hosts.has(name));
          if (!isKnown || state.sensors.get(sensor)?.revokedAtMs !== null) continue;
          report(`${sensor} was revoked, the database forgot it, and ${[...hosts][0]} let it be`);
        }
      },
      probe(atMs) {
        for (const [console, open] of revokedAt.size === 0 ? [] : streams) {
          if (fleet.consoles.some(({ name, isPaused }) => name === console && isPaused())) continue;
          for (const fingerprint of open.keys()) {
            const since = sinceOf(fingerprint) ?? Number.POSITIVE_INFINITY;
            const forMs = awake(atMs) - Math.max(since, resumedMs.get(console) ?? 0);
            if (forMs <= streamMaxMs) continue;
            report(`${console} holds a stream of a sensor revoked ${Math.round(forMs)} ms ago`);
          }
        }
        for (const node of fleet.nodes) {
          const own = stateOf(node);
          if (own?.trust_state !== 'trust_revoked' || told.has(own.sensor_id)) continue;
          told.add(own.sensor_id);
          if (!ever.has(own.sensor_id)) {
            report(`${node.name} says trust_revoked, and nobody revoked it`);
          }
        }
      },
    };
  },
};
