// No acknowledged event is lost: when an acknowledgment leaves a Console, every event it covers is durable in the event
// store, under the very number it names. There is no excuse: an acknowledgment lets the node forget its copy. A store that
// forgets what it had confirmed takes these events and no others: what is there is there, and what comes after is stored.
// Two nodes under one identity may each store something under one number, and each is confirmed what it stored. invariant: I1; decision: D6, D25, D172
import type { BatchSeen } from '../world/observation.ts';
import type { CheckerKind } from './checker.ts';
import { type Column, createColumn, createKeyColumn, digestOf, ensure } from './columns.ts';

type Name = Omit<BatchSeen, 'events'>;

function otherOf({ sensor, stream, channel, sequence }: Name, content: number): string {
  return `${sensor}/${stream}/${channel}/${sequence} ${content}`;
}

export const acknowledgedIsDurable: CheckerKind = {
  name: 'acknowledged-is-durable',
  promise:
    'Nothing is acknowledged before it is durable, and nothing durable disappears but what the store itself forgot (I1).',
  make(fleet, report) {
    const { analytics, relational } = fleet.stores;
    const stored = createKeyColumn();
    const acknowledged = createKeyColumn();
    const forgotten = createKeyColumn();
    const contents = new Map<string, Column>();
    /** Sensors that two nodes are. */
    const copied = new Set<string>();
    /** What they stored under numbers that held something else already. */
    const others = new Set<string>();

    function contentOf({ sensor, stream, channel, sequence }: Name): number {
      return contents.get(`${sensor}/${stream}/${channel}`)?.get(sequence) ?? 0;
    }

    function keep(batch: BatchSeen): void {
      const { sensor, stream, channel, sequence, events } = batch;
      for (const key of events) stored.set(key, 1);
      const column = ensure(contents, `${sensor}/${stream}/${channel}`, createColumn);
      const [known, content] = [column.get(sequence), digestOf(events)];
      if (known === 0) column.set(sequence, content);
      else if (known !== content && copied.has(sensor)) others.add(otherOf(batch, content));
    }

    function judge(fingerprint: string | null, batch: Omit<BatchSeen, 'sensor'>): void {
      const name = `${batch.stream}/${batch.channel}/${batch.sequence}`;
      const lost = batch.events.filter((key) => key !== '' && stored.get(key) === 0);
      for (const key of batch.events) acknowledged.set(key, 1);
      if (lost.length > 0) {
        report(`${name} is acknowledged and not durable: ${lost.slice(0, 5).join(' ')}`);
        return;
      }
      const sensor = relational.sensorOf(fingerprint ?? '') ?? '';
      const content = contentOf({ ...batch, sensor });
      if (content === 0)
        report(`${name} is acknowledged, but sensor ${sensor} stored no such batch`);
      else {
        const told = digestOf(batch.events);
        if (content === told || others.has(otherOf({ ...batch, sensor }, told))) return;
        report(`${name} is acknowledged, but it is stored with other events`);
      }
    }

    return {
      observe(observation) {
        if (observation.kind === 'node.copied') copied.add(observation.sensor);
        if (observation.kind === 'events.stored') for (const one of observation.batches) keep(one);
        if (observation.kind === 'events.forgotten') {
          for (const key of observation.events) forgotten.set(key, 1);
        }
        if (observation.kind === 'batch.acknowledged') {
          judge(observation.fingerprint, observation.batch);
        }
      },
      finish() {
        const there = createKeyColumn();
        for (const batch of analytics.rows.batches()) {
          for (const event of batch.events) there.set(event.process?.exec_id ?? '', 1);
        }
        for (const node of acknowledged.nodes()) {
          for (const [key] of acknowledged.keysOf(node)) {
            if (there.get(key) + forgotten.get(key) === 0)
              report(`${key} was acknowledged and is gone at the end`);
          }
        }
      },
    };
  },
};
