// The order within a channel: a number names one content for ever, and the events of a channel rise as the engine wrote
// them. Excuses, because the promise itself has them: an event that is stored again, be it in one batch, is no part of the
// order (it is removed by its id); and a loss of power can make the Sensor read its export from the oldest file again or
// lose what a failed sync left in its journal, so what was written before one may come once more, at any place after it,
// and batches before and after one are not compared. Nor are those of two nodes under one identity, which number in one
// channel; two Consoles may take one number from each of them, and so may one whose store forgot the first, or stored it
// long after it had said nothing, so that nobody was told that it was taken. invariant: I6; decision: D6, D13, D172
import type { BatchSeen } from '../world/observation.ts';
import type { CheckerKind } from './checker.ts';
import {
  type Column,
  createColumn,
  createKeyColumn,
  digestOf,
  ensure,
  nodeOfKey,
} from './columns.ts';

type Channel = {
  readonly content: Column;
  /** Place of the first and last new event of a batch in the order of the engine, by number. */
  readonly first: Column;
  readonly last: Column;
  highest: number;
  /** Only batches above this number are compared. */
  floor: number;
};

const NEIGHBOURS_MAX = 64;

export const channelOrder: CheckerKind = {
  name: 'channel-order',
  promise: 'A number of a channel names one content, and its events come in order (I6).',
  make(fleet, report) {
    const channels = new Map<string, Channel>();
    const byNode = new Map<string, Set<Channel>>();
    const places = createKeyColumn();
    const counts = new Map<string, number>();
    /** Sensors that two nodes are. */
    const copied = new Set<string>();
    let isForgetful = false;
    /** Numbers that were acknowledged. */
    const taken = new Set<string>();
    const stored = createKeyColumn();
    /** How many events a node had written when its power went the last time. */
    const beforeLoss = new Map<string, number>();

    function take({ stream, channel, sequence }: Omit<BatchSeen, 'sensor'>): void {
      taken.add(`${stream}/${channel}/${sequence}`);
    }

    function write(node: string, events: readonly string[]): void {
      let count = counts.get(node) ?? 0;
      for (const key of events) {
        count += 1;
        places.set(key, count);
      }
      counts.set(node, count);
    }

    function keep(batch: BatchSeen): void {
      const name = `${batch.sensor}/${batch.stream}/${batch.channel}`;
      const channel = ensure(channels, name, () => ({
        content: createColumn(),
        first: createColumn(),
        last: createColumn(),
        highest: 0,
        floor: 0,
      }));
      ensure(byNode, nodeOfKey(batch.events[0] ?? ''), () => new Set<Channel>()).add(channel);
      const { sequence, events } = batch;
      const content = digestOf(events);
      const known = channel.content.get(sequence);
      if (known !== 0) {
        if (known === content) return;
        const isFirstTaken = taken.has(`${batch.stream}/${batch.channel}/${sequence}`);
        const isShared = isForgetful || fleet.consoles.length > 1 || !isFirstTaken;
        if (!copied.has(batch.sensor) || !isShared)
          report(`${name}/${sequence} is stored with two contents`);
        return;
      }
      channel.content.set(sequence, content);
      if (!copied.has(batch.sensor)) order(name, channel, batch);
      channel.highest = Math.max(channel.highest, sequence);
      for (const key of events) stored.set(key, 1);
    }

    function order(name: string, channel: Channel, { sequence, events }: BatchSeen): void {
      const written = [...new Set(events)]
        .filter((key) => stored.get(key) === 0)
        .map((key) => places.get(key));
      if (written.some((place) => place === 0)) return;
      const floor = beforeLoss.get(nodeOfKey(events[0] ?? '')) ?? 0;
      const fresh = written.filter((place) => place > floor);
      const [first] = fresh;
      const last = fresh.at(-1);
      if (first === undefined || last === undefined || sequence <= channel.floor) return;
      if (fresh.some((place, at) => at > 0 && place < (fresh[at - 1] ?? 0))) {
        report(`${name}/${sequence} holds its events out of order`);
      }
      channel.first.set(sequence, first);
      channel.last.set(sequence, last);
      const lowest = Math.max(channel.floor + 1, sequence - NEIGHBOURS_MAX, 1);
      for (let at = sequence - 1; at >= lowest; at -= 1) {
        const before = channel.last.get(at);
        if (before === 0) continue;
        if (before >= first) report(`${name}/${sequence} holds older events than ${at}`);
        break;
      }
      const top = Math.min(channel.highest, sequence + NEIGHBOURS_MAX);
      for (let at = sequence + 1; at <= top; at += 1) {
        const behind = channel.first.get(at);
        if (behind === 0) continue;
        if (behind <= last) report(`${name}/${sequence} holds newer events than ${at}`);
        break;
      }
    }

    return {
      observe(observation) {
        if (observation.kind === 'node.copied') copied.add(observation.sensor);
        if (observation.kind === 'events.forgotten') isForgetful = true;
        if (observation.kind === 'batch.acknowledged') take(observation.batch);
        if (observation.kind === 'engine.wrote') write(observation.node, observation.events);
        if (observation.kind === 'events.stored') for (const one of observation.batches) keep(one);
        if (observation.kind === 'process.ended' && observation.how === 'power_lost') {
          for (const one of byNode.get(observation.host) ?? []) one.floor = one.highest;
          beforeLoss.set(observation.host, counts.get(observation.host) ?? 0);
        }
      },
    };
  },
};
