// What a live session is sent at once: within its bound, and each topic in turn.
import { afterEach, describe, expect, it } from 'vitest';
import {
  LIVE_BACKPRESSURE_MAX_BYTES,
  LIVE_ITEMS_PER_PATCH_MAX,
  LIVE_PATCH_MAX_BYTES,
} from '../../machines/limits.ts';
import type { StoredEvent } from '../../machines/wire/event.ts';
import { NOW_MS, storedEvent } from '../operator-plane/plumbing/operator-plane.fixture.ts';
import { batchOf, endAll, hubWith } from './live-hub.fixture.ts';

afterEach(endAll);

describe('a patch', () => {
  it('should never bring more at once than may wait for a reader', async () => {
    const { hub, tap, texts, say } = await hubWith(['events:read']);
    say({ subscribe: [{ topic: 'events' }] });
    hub.flush();
    const message = '\u00e9'.repeat(4_096);
    const large = Array.from({ length: LIVE_ITEMS_PER_PATCH_MAX }, (_, i) =>
      storedEvent(i, { message }),
    );

    await tap.sink.append(batchOf(large));
    hub.flush();

    const text = texts.at(-1) ?? '';
    const { patch }: { patch: { items: StoredEvent[]; dropped: number } } = JSON.parse(text);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(LIVE_PATCH_MAX_BYTES);
    expect(patch.items.length).toBeGreaterThan(0);
    expect(patch.items.length + patch.dropped).toBe(large.length);
    expect(patch.items.at(-1)?.event_id).toBe(large.at(-1)?.event_id);
  });

  it('should give each topic its turn where a reader takes one patch at a time', async () => {
    const { fixture, hub, sent, socket, say } = await hubWith(['admin']);
    const ids = [fixture.addSensor(1), fixture.addSensor(2)];
    say({ subscribe: ids.map((id) => ({ topic: 'sensor', id })) });
    hub.flush();
    socket.waits = LIVE_BACKPRESSURE_MAX_BYTES;
    for (let round = 0; round < 2; round += 1) {
      for (const id of ids) {
        fixture.directory.tell(id, { type: 'stream.opened', atMs: NOW_MS });
        fixture.directory.tell(id, { type: 'stream.closed', atMs: NOW_MS, reason: 'x' });
      }
      socket.buffered = 0;
      hub.flush();
    }

    expect(sent.slice(2)).toMatchObject(ids.map((id) => ({ topic: 'sensor', id })));
  });
});
