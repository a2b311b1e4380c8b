// What only rises never falls: the counters of a Sensor within one life (events read, normalised, sent, lost), the count
// of dropped events within one stream of the spool, and the numbers of new batches, which a Console closes its gaps
// around. Excuses: a new life counts from zero; a status file may still be the one of the life before until the new life
// has written its own. A channel may keep gaps only while a fault is on: when the fleet is well, what has a number is
// stored. Several Consoles each close the gaps of what came to them, so one of them knows the highest number; one that
// began after its store forgot what it had confirmed knows only what is left, and the Sensor numbers on. invariant: I6
import type { CheckerKind } from './checker.ts';
import { statusOf } from './node-files.ts';

const RISING = [
  'read',
  'normalized',
  'dropped',
  'spooled',
  'sent_stream',
  'sent_heartbeat',
  'discarded',
] as const;

export const monotone: CheckerKind = {
  name: 'monotone',
  promise: 'Counters of a life never fall, and numbers of a channel leave no gap behind (I6).',
  make(fleet, report) {
    const seen = new Map<string, Readonly<Record<string, number>>>();
    /** The status file that the last life of a node left. */
    const left = new Map<string, string>();
    const highest = new Map<string, number>();
    const sensorIds = new Set<string>();
    let hasForgotten = false;

    function noteLeft(host: string): void {
      seen.delete(host);
      const node = fleet.nodes.find(({ name }) => name === host);
      if (node !== undefined) left.set(host, JSON.stringify(statusOf(node)));
    }

    return {
      observe(observation) {
        if (observation.kind === 'process.started' || observation.kind === 'process.ended') {
          noteLeft(observation.host);
        }
        if (observation.kind === 'sensor.enrolled') sensorIds.add(observation.sensor);
        if (observation.kind === 'events.forgotten') hasForgotten = true;
        if (observation.kind !== 'batch.acknowledged') return;
        const { stream, channel, sequence } = observation.batch;
        const name = `${stream}/${channel}`;
        highest.set(name, Math.max(highest.get(name) ?? 0, sequence));
      },
      probe() {
        for (const node of fleet.nodes) {
          const status = node.isUp() ? statusOf(node) : null;
          // A life shows its own file once it says something other than what the last life left.
          if (status === null || status.state === 'stopped') continue;
          if (left.get(node.name) === JSON.stringify(status)) continue;
          const before = seen.get(node.name);
          seen.set(node.name, { ...status.pipeline, read: status.pipeline['read'] ?? 0 });
          if (before === undefined) continue;
          const fallen = RISING.find((one) => (status.pipeline[one] ?? 0) < (before[one] ?? 0));
          if (fallen === undefined || status.pipeline['read'] === 0) continue;
          report(
            `${node.name}: ${fallen} fell from ${before[fallen]} to ${status.pipeline[fallen]}`,
          );
        }
      },
      finish() {
        const ledgers = fleet.consoles.flatMap((host) => host.running()?.side.ingest.ledgers ?? []);
        if (hasForgotten || ledgers.length < fleet.consoles.length) return;
        for (const [name, sequence] of highest) {
          const [streamId = '', channel] = name.split('/');
          if (channel !== 'stream' && channel !== 'heartbeat' && channel !== 'batch') continue;
          // A node that was enrolled anew goes on with its stream under another sensor, which PostgreSQL may forget.
          const known = Math.max(
            0,
            ...[...sensorIds].flatMap((sensorId) =>
              ledgers.map((one) => one.highest({ sensorId, streamId, channel })),
            ),
          );
          if (known > 0 && known < sequence) {
            report(`${name} went back from ${sequence} to ${known}`);
          }
        }
      },
    };
  },
};
