// A hub of live sessions with a socket of memory, over the operator plane of an example.
import type { RuntimeEvent } from '../../machines/wire/event.ts';
import type { EventBatch } from '../../storage/ports/telemetry/event-store.ts';
import type { Credentials } from '../access/admitter.ts';
import {
  createFixture,
  type Fixture,
  NOW_MS,
  sensorIdOf,
} from '../operator-plane/plumbing/operator-plane.fixture.ts';
import { processTime } from '../process/time.ts';
import { tapSink } from './event-tap.ts';
import { createLiveHub, type LiveHub } from './live-hub.ts';

/** What a test began. */
export const ends: (() => unknown)[] = [];
/** Ends what was begun, the last first. */
export async function endAll(): Promise<void> {
  for (const end of ends.splice(0).reverse()) await end();
}

/** Stored events of the first sensor. */
export function batchOf(events: readonly RuntimeEvent[]): EventBatch {
  return {
    sensorId: sensorIdOf(1),
    nodeName: 'node-0001',
    streamId: '0'.repeat(32),
    channel: 'stream',
    sequence: 1,
    digest: '',
    receivedAtMs: NOW_MS,
    events,
  };
}

/** Looks at the credentials of all sessions. */
export const check = (hub: LiveHub) => hub.loop.run({ signal: new AbortController().signal });

const withKey = (scopes: readonly string[]) => (fixture: Fixture) => ({
  ...{ authorization: `Bearer ${fixture.addKey(scopes)}`, cookie: undefined },
});

/** A session of a key with these scopes, and what it was sent. */
export async function hubWith(
  scopes: readonly string[],
  credentialsIn: (fixture: Fixture) => Pick<Credentials, 'authorization' | 'cookie'> = withKey(
    scopes,
  ),
) {
  const fixture: Fixture = await createFixture();
  const tap = tapSink({
    append: async () => ({ ok: true }),
    queuedRows: () => 0,
    close: async () => {},
  });
  const clock = { ms: 0 };
  const hub: LiveHub = createLiveHub({
    fleet: fixture.fleet,
    feed: fixture.feed,
    events: tap,
    admitter: fixture.admitter,
    now: () => clock.ms,
    timers: processTime,
    slowReaderMs: 1_000,
  });
  ends.push(
    () => fixture.close(),
    () => hub.close(),
  );
  const { result } = await fixture.admitter.admit({
    ...credentialsIn(fixture),
    address: '127.0.0.1',
  });
  if (!result.ok) throw new Error(result.detail);
  const sent: { topic?: string; patch?: object; error?: { code: string } }[] = [];
  const texts: string[] = [];
  /** `waits`: so many bytes are there after each patch. */
  const socket = { buffered: 0, ended: '', waits: 0 };
  const session = hub.open(
    {
      send(text) {
        texts.push(text);
        sent.push(JSON.parse(text));
        socket.buffered += socket.waits;
      },
      bufferedBytes: () => socket.buffered,
      end: (code, reason) => {
        socket.ended = `${code} ${reason}`;
      },
    },
    result.operator,
  );
  const say = (message: unknown) => session.onMessage(JSON.stringify(message));
  return { fixture, hub, tap, sent, texts, socket, say, clock };
}
