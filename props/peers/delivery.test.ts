// Delivery when the Console or the disk says no: nothing is lost and nothing goes out under a number twice with another
// content. invariant: I1, I6; decision: D6, D13
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { diskFiles, type Files } from '../../sensor/state-directory/file-port.ts';
import { makeSensor, type RunningSensor } from './running-sensor.ts';

let sensor: RunningSensor;
beforeEach(async () => {
  sensor = await makeSensor();
});
afterEach(() => sensor.close());
const seen = (): Set<string> => new Set(sensor.peer.batches.flatMap(({ ids }) => ids));

describe('delivery of a running Sensor', () => {
  it('should open its stream before its first heartbeat', async () => {
    const { peer } = sensor;
    let wasOpen: boolean | null = null;
    peer.rule = ({ path }) => {
      if (path === '/sensors/heartbeat') wasOpen ??= peer.sockets().length > 0;
      return 'serve';
    };
    await sensor.start();
    await peer.until('a heartbeat', () => sensor.beats().length > 0);
    expect(wasOpen).toBe(true);
  });

  it('should tell within a second that the engine runs, whatever the interval is', async () => {
    await sensor.close();
    sensor = await makeSensor({ HEARTBEAT_INTERVAL_MS: 15_000, HEARTBEAT_TIMEOUT_MS: 5_000 });
    const { peer } = sensor;
    await sensor.start();
    const states = (): unknown[] =>
      sensor.beats().map((beat) => (beat['engine'] as Record<string, unknown>)['state']);
    // Before the next ordinary one is due.
    await peer.until('a running engine', () => states().at(-1) === 'running', 14_000);
    expect(sensor.beats().length).toBeLessThan(6);
  });

  it('should send a batch again under a new number when its number is in conflict', async () => {
    const { peer } = sensor;
    peer.refusesBatch = ({ sequence }) => (sequence === 1 ? 'sequence_conflict' : null);
    await sensor.start();
    await sensor.addLines(0, 20);
    const streamed = () => peer.batches.filter(({ channel }) => channel === 'stream');
    const first = () => streamed().find(({ sequence }) => sequence === 1);
    await peer.until('the batch under another number', () => {
      const ids = first()?.ids.join();
      return streamed().some((batch) => batch.sequence > 1 && batch.ids.join() === ids);
    });
    await peer.until('all of it', () => sensor.idsOf(0, 20).every((id) => seen().has(id)));
    const numbers = streamed().map(({ sequence }) => sequence);
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
  });

  it('should send an open batch again although the Console holds a higher number', async () => {
    const { peer } = sensor;
    peer.acknowledges = false;
    await sensor.start();
    await sensor.addLines(0, 20);
    const streamed = () => peer.batches.filter(({ channel }) => channel === 'stream');
    await peer.until('a batch', () => streamed().length > 0);
    const [first] = streamed();
    // Another node under this identity went on in the channel.
    peer.highest = 9;
    peer.rule = ({ path }) => (path === '/sensors/events' ? 'lose' : 'serve');
    for (const socket of peer.sockets()) socket.terminate();
    await peer.until('the same batch', () => streamed().length > 1);
    expect(streamed()[1]).toMatchObject({ sequence: first?.sequence, ids: first?.ids });
  });

  it('should send whole sections again when the Console asks for them', async () => {
    const { peer } = sensor;
    await sensor.start();
    const inventories = () =>
      peer.requests
        .filter(({ path }) => path === '/sensors/inventory')
        .map(({ json }) => json['sections'] as Record<string, { base_hash?: string; items?: [] }>)
        .filter((sections) => Object.keys(sections).length > 0);
    await peer.until('the first inventory', () => inventories().length > 0);
    const asked = new Set<string>();
    peer.needsFull = (sections) => {
      const deltas = Object.keys(sections).filter((name) => sections[name]?.base_hash);
      for (const name of deltas) asked.add(name);
      return deltas;
    };
    // A new stream is another connection, so at least one section has changed.
    const old = peer.sockets();
    for (const socket of old) socket.terminate();
    await peer.until('a new stream', () => peer.sockets().some((one) => !old.includes(one)));
    peer.sendAll({ type: 'refresh', what: ['inventory'] });
    await peer.until('a delta', () => asked.size > 0);
    const name = [...asked][0] ?? '';
    await peer.until('it whole', () => inventories().at(-1)?.[name]?.items !== undefined);
  });

  it('should lose nothing when the disk is full for a while', async () => {
    const { peer } = sensor;
    const disk = fullableDisk();
    await sensor.start({ files: disk.files });
    await peer.until('a stream', () => peer.sockets().length > 0 && sensor.beats().length > 0);
    disk.isFull = true;
    await sensor.addLines(0, 30);
    await disk.hasRefused();
    const ids = sensor.idsOf(0, 30);
    expect(ids.some((id) => seen().has(id))).toBe(false);
    disk.isFull = false;
    await peer.until('every event', () => ids.every((id) => seen().has(id)));
  });
});

// A disk that takes no byte more into the spool while it is full, and leaves a torn piece behind as a real one does.
function fullableDisk() {
  const refused = Promise.withResolvers<void>();
  const state = { isFull: false };
  const files: Files = {
    ...diskFiles,
    async open(path, how, mode) {
      const file = await diskFiles.open(path, how, mode);
      if (!path.includes('events.jsonl')) return file;
      return {
        ...file,
        async append(bytes) {
          if (!state.isFull) return file.append(bytes);
          await file.append(bytes.subarray(0, Math.floor(bytes.length / 2)));
          refused.resolve();
          throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
        },
      };
    },
  };
  return Object.assign(state, { files, hasRefused: () => refused.promise });
}
