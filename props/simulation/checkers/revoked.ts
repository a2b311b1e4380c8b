// Revoked means nothing is accepted any more. A Console learns of a revocation from its own transaction or from the
// database, and one that is cut off may go on for REVOCATION_VIEW_MAX_AGE at most: whatever was asked later than that
// after the commit is refused there, and no stream outlives that by more than its next ping. On the node, only this very
// refusal makes the Sensor say `trust_revoked` (I12). The age counts from the last proof that notifications flow, so how a
// connection dies makes no difference; the only slack is one tick, for drift and for what was on its way. What was asked
// before and is answered later was accepted when it was asked. invariant: I3, I12
import { REVOCATION_VIEW_MAX_AGE_MS, WHEEL_TICK_MS } from '../../../machines/limits.ts';
import type { CheckerKind } from './checker.ts';
import { ensure } from './columns.ts';
import { stateOf } from './node-files.ts';

const SLACK_MS = WHEEL_TICK_MS;

export const revoked: CheckerKind = {
  name: 'revoked',
  promise: 'A revoked sensor is refused, at once or within 5 s on a Console cut off (I3, I12).',
  make(fleet, report) {
    const { certificates, sensors } = fleet.stores.relational.state;
    /** Time in which the world was awake: a suspended host counts no monotonic time. */
    const awake = (ms: number): number => ms - fleet.world.scheduler.sleptMs();
    const revokedAt = new Map<string, number>();
    /** Open streams of each Console by fingerprint, how many and since when. */
    const streams = new Map<string, Map<string, number>>();
    const streamMaxMs =
      REVOCATION_VIEW_MAX_AGE_MS + fleet.intervals.STREAM_PING_INTERVAL_MS + SLACK_MS;
    const told = new Set<string>();

    function sinceOf(fingerprint: string | null): number | undefined {
      return revokedAt.get(certificates.get(fingerprint ?? '')?.sensorId ?? '');
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
            if (!revokedAt.has(seen.sensor)) revokedAt.set(seen.sensor, awake(atMs));
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
            if (seen.code !== 'sensor_revoked' || sinceOf(seen.fingerprint) !== undefined) break;
            report(`${seen.console} refuses ${seen.fingerprint} as revoked, and nobody revoked it`);
            break;
          }
          case 'process.ended':
            streams.delete(seen.host);
            break;
        }
      },
      probe(atMs) {
        for (const [console, open] of revokedAt.size === 0 ? [] : streams) {
          for (const fingerprint of open.keys()) {
            const since = sinceOf(fingerprint) ?? Number.POSITIVE_INFINITY;
            const forMs = awake(atMs) - since;
            if (forMs <= streamMaxMs) continue;
            report(`${console} holds a stream of a sensor revoked ${Math.round(forMs)} ms ago`);
          }
        }
        for (const node of fleet.nodes) {
          const state = stateOf(node);
          if (state?.trust_state !== 'trust_revoked' || told.has(state.sensor_id)) continue;
          told.add(state.sensor_id);
          if (sensors.get(state.sensor_id)?.revokedAtMs === null) {
            report(`${node.name} says trust_revoked, and nobody revoked it`);
          }
        }
      },
    };
  },
};
