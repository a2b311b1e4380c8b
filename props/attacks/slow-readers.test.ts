// Readers that read nothing while the Console has much to say. What waits for them is bounded; who stays behind is closed
// and finds everything when it comes back. The operators' live channel has the same bound, proven in
// gateway/live/live.test.ts. invariant: I10
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { STREAM_BACKPRESSURE_MAX_BYTES } from '../../machines/limits.ts';
import { type ConsoleUnderTest, removeSharedKeys, startConsole } from './console.fixture.ts';
import { eventOf, heartbeatBody, PATIENT, type TestStream } from './peer.ts';

const READERS = 8;
const MIB = 1_048_576;
const ONE = '1'.repeat(32);
const PUSH = { type: 'refused', sequence: 1, code: 'x', detail: 'y'.repeat(10_000) } as const;
let console: ConsoleUnderTest;

beforeAll(async () => {
  // Pings would end a silent reader first.
  console = await startConsole({ intervals: { STREAM_PING_INTERVAL_MS: 60_000 } });
});
afterAll(async () => {
  await console.stop();
  await removeSharedKeys();
});

/** Stops reading from the socket below, so that the kernel's buffers fill. */
function stopReading(stream: TestStream): void {
  (stream.socket as unknown as { _socket: { pause(): void } })._socket.pause();
}

describe('attack 25: streams that are not read during a storm of pushes', () => {
  it('should be closed at the bound, one by one, and cost no more memory than the bound', async () => {
    const opened: { readonly sensorId: string; readonly stream: TestStream }[] = [];
    for (let n = 0; n < READERS; n += 1) {
      const identity = await console.enroll(`slow-${n}`);
      const stream = await console.openStream(identity);
      stream.hello(ONE);
      await stream.next('welcome');
      stopReading(stream);
      opened.push({ sensorId: identity.sensorId, stream });
    }
    const good = await console.enroll('good');
    const before = process.memoryUsage.rss();
    for (const { sensorId } of opened) {
      let pushes = 0;
      while (pushes < 10_000 && console.streams.send(sensorId, PUSH)) pushes += 1;
      // The kernel takes some megabytes of its own before anything waits here.
      expect(pushes).toBeLessThan(10_000);
      await expect.poll(() => console.streams.isOpen(sensorId), PATIENT).toBe(false);
      const beat = await console.ask(good, '/sensors/heartbeat', heartbeatBody(0, []));
      expect(beat.status).toBe(200);
    }
    const grown = process.memoryUsage.rss() - before;
    expect(grown).toBeLessThan(READERS * STREAM_BACKPRESSURE_MAX_BYTES + 64 * MIB);
    for (const { sensorId, stream } of opened) {
      expect(console.fleet.liveView.get(sensorId)?.stream).toBe('closed');
      stream.socket.terminate();
    }
    expect(console.streams.count()).toBe(0);
  });

  it('should miss nothing that is acknowledged: what was sent before comes again after', async () => {
    const identity = await console.enroll('back');
    const { sensorId } = identity;
    const stream = await console.openStream(identity);
    stream.hello(ONE);
    await stream.next('welcome');
    stopReading(stream);
    stream.send({ type: 'events', sequence: 1, events: [eventOf(1)] });
    await expect.poll(() => console.batchesOf(sensorId).length, PATIENT).toBe(1);
    while (console.streams.send(sensorId, PUSH));
    await expect.poll(() => console.streams.isOpen(sensorId), PATIENT).toBe(false);
    stream.socket.terminate();
    const again = await console.openStream(identity);
    again.hello(ONE);
    // The acknowledgment that was never read is in the greeting.
    expect(await again.next('welcome')).toMatchObject({ acknowledged: 1 });
    again.send({ type: 'events', sequence: 1, events: [eventOf(1)] });
    expect(await again.next('ack')).toEqual({ type: 'ack', sequence: 1 });
    expect(console.batchesOf(sensorId)).toHaveLength(1);
    expect(console.streams.send(sensorId, { type: 'refresh', what: ['policy'] })).toBe(true);
    expect(await again.next('refresh')).toEqual({ type: 'refresh', what: ['policy'] });
    again.socket.terminate();
  });
});
