// The live channel by example: topics on a hub with a socket of memory, and the handshake on the real listener.
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { LIVE_ITEMS_PER_PATCH_MAX } from '../../machines/limits.ts';
import { ROLE_SCOPES, ROLES, type Role, SCOPES } from '../../machines/trust/roles.rules.ts';
import type { SessionRow } from '../../storage/ports/access/sessions.ts';
import type { UserRow } from '../../storage/ports/access/users.ts';
import { type Listening, listenWithFixture } from '../operator-plane/plumbing/listening.fixture.ts';
import {
  NOW_MS,
  sensorIdOf,
  storedEvent,
} from '../operator-plane/plumbing/operator-plane.fixture.ts';
import { tapSink } from './event-tap.ts';
import { batchOf, check, endAll, ends, hubWith } from './live-hub.fixture.ts';
import { TOPIC_SCOPES } from './subscription.ts';

afterEach(endAll);

describe('a subscription', () => {
  it('should give the present first and then only what changed, coalesced', async () => {
    const { fixture, hub, sent, say } = await hubWith(['admin']);
    const id = fixture.addSensor(1);
    say({ subscribe: [{ topic: 'fleet' }, { topic: 'sensor', id }] });
    hub.flush();
    for (let i = 0; i < 50; i += 1) {
      fixture.directory.tell(id, { type: 'stream.opened', atMs: NOW_MS });
      fixture.directory.tell(id, { type: 'stream.closed', atMs: NOW_MS, reason: 'x' });
    }
    fixture.directory.tell(id, { type: 'stream.opened', atMs: NOW_MS });
    hub.flush();
    hub.flush();

    expect(sent).toHaveLength(4);
    expect(sent[0]).toMatchObject({ topic: 'fleet', patch: { counts: { total: 1, streams: 0 } } });
    expect(sent[1]).toMatchObject({ topic: 'sensor', id, patch: { sensor: { stream: 'closed' } } });
    expect(sent[2]).toMatchObject({
      topic: 'fleet',
      patch: { counts: { streams: 1 }, sensors: [{ sensor_id: id, stream: 'open' }] },
    });
    expect(sent[3]).toMatchObject({ topic: 'sensor', patch: { sensor: { stream: 'open' } } });
  });

  it('should bring stored events that match, bounded, with the number of those left out', async () => {
    const { hub, tap, sent, say } = await hubWith(['events:read']);
    say({ subscribe: [{ topic: 'events', query: { severity: ['high'] } }] });
    hub.flush();
    const many = LIVE_ITEMS_PER_PATCH_MAX + 5;
    const high = Array.from({ length: many }, (_, i) => storedEvent(i, { severity: 'high' }));

    await tap.sink.append(batchOf([...high, storedEvent(999)]));
    hub.flush();

    expect(sent[1]).toMatchObject({ topic: 'events', patch: { dropped: 5 } });
    const patch: { items?: { severity: string; node_name: string }[] } = sent[1]?.patch ?? {};
    const items = patch.items ?? [];
    expect(items).toHaveLength(LIVE_ITEMS_PER_PATCH_MAX);
    expect(items.every((one) => one.severity === 'high' && one.node_name === 'node-0001')).toBe(
      true,
    );
  });

  it('should bring every move of every actor', async () => {
    const { fixture, hub, sent, say } = await hubWith(['system:read']);
    say({ subscribe: [{ topic: 'actors' }] });
    hub.flush();
    fixture.addSensor(1);
    hub.flush();

    expect(sent[1]).toMatchObject({ topic: 'actors', patch: { dropped: 0 } });
    expect(sent[1]?.patch).toHaveProperty('moves[0].kind', 'sensor');
  });

  it.each([
    [{ subscribe: [{ topic: 'events' }] }, 'role_required'],
    [{ subscribe: [{ topic: 'weather' }] }, 'schema_violation'],
    [{ subscribe: [{ topic: 'fleet', extra: 1 }] }, 'schema_violation'],
    [
      {
        subscribe: Array.from({ length: 33 }, (_, i) => ({ topic: 'sensor', id: sensorIdOf(i) })),
      },
      'schema_violation',
    ],
  ])('should refuse %j and stay open', async (message, code) => {
    const { hub, sent, say } = await hubWith(['sensors:read']);

    say(message);
    say({ subscribe: [{ topic: 'fleet' }] });
    hub.flush();

    expect(sent[0]).toMatchObject({ error: { code } });
    expect(sent[1]).toMatchObject({ topic: 'fleet' });
  });

  it('should end by unsubscribing', async () => {
    const { fixture, hub, sent, say } = await hubWith(['admin']);
    say({ subscribe: [{ topic: 'fleet' }] });
    say({ unsubscribe: [{ topic: 'fleet' }] });
    fixture.addSensor(1);
    hub.flush();

    expect(sent).toEqual([]);
  });
});

describe('a session', () => {
  it('should skip a full reader, keep its topics bounded, and close it when it stays full', async () => {
    const { fixture, hub, sent, socket, say, clock } = await hubWith(['admin']);
    say({ subscribe: [{ topic: 'fleet' }] });
    socket.buffered = 10_000_000;
    for (let i = 0; i < LIVE_ITEMS_PER_PATCH_MAX + 10; i += 1) fixture.addSensor(i);
    hub.flush();
    expect(sent).toEqual([]);

    socket.buffered = 0;
    hub.flush();
    expect(sent[0]).toMatchObject({ patch: { truncated: true } });

    socket.buffered = 10_000_000;
    hub.flush();
    clock.ms = 1_000;
    hub.flush();
    expect(socket.ended).toBe('1013 slow reader');
    expect(hub.size()).toBe(0);
  });

  it('should be closed when its key is revoked', async () => {
    const { fixture, hub, socket } = await hubWith(['admin']);
    await check(hub);
    expect(socket.ended).toBe('');
    for (const [hash, row] of fixture.state.keys) {
      fixture.state.keys.set(hash, { ...row, revokedAtMs: NOW_MS });
    }

    await check(hub);

    expect(socket.ended).toBe('1008 credential ended');
  });
});

describe('a person on the live channel', () => {
  const asPerson = async (role: Role) => {
    const made: { userId: string } = { userId: '' };
    const world = await hubWith([], (fixture) => {
      made.userId = fixture.addUser(role);
      return { authorization: undefined, ...fixture.addSession(made.userId) };
    });
    const { state } = world.fixture;
    const changeUser = (patch: Partial<UserRow>) => {
      const row = state.users.get(made.userId);
      if (row !== undefined) state.users.set(made.userId, { ...row, ...patch });
    };
    const changeSession = (patch: Partial<SessionRow>) => {
      for (const [hash, row] of state.sessions) state.sessions.set(hash, { ...row, ...patch });
    };
    return { ...world, changeUser, changeSession };
  };
  const topics = (Object.keys(TOPIC_SCOPES) as (keyof typeof TOPIC_SCOPES)[]).map((topic) =>
    topic === 'sensor' ? { topic, id: sensorIdOf(1) } : { topic },
  );

  it('should hear the topics of its role, each by its own scope, and no other', async () => {
    expect(topics.length).toBeGreaterThan(3);
    for (const role of ROLES) {
      const { say, sent, fixture } = await asPerson(role);
      fixture.addSensor(1);
      for (const spec of topics) {
        sent.length = 0;
        say({ subscribe: [spec] });
        const isHeld = ROLE_SCOPES[role].includes(TOPIC_SCOPES[spec.topic]);
        const isRefused = sent.some(({ error }) => error?.code === 'role_required');
        expect([role, spec.topic, isRefused]).toEqual([role, spec.topic, !isHeld]);
      }
    }
    for (const spec of topics) {
      const others = SCOPES.filter((scope) => scope !== TOPIC_SCOPES[spec.topic]);
      const { say, sent } = await hubWith(others);
      say({ subscribe: [spec] });
      expect(sent.map(({ error }) => error?.code)).toEqual(['role_required']);
    }
  });

  it('should be cut off when the session ends, or the account, or what it stands for', async () => {
    for (const end of [
      ({ changeSession }) => changeSession({ endedAtMs: NOW_MS }),
      ({ changeSession }) => changeSession({ expiresAtMs: NOW_MS }),
      ({ changeSession }) => changeSession({ stage: 'partial' }),
      ({ changeUser }) => changeUser({ status: 'disabled' }),
      ({ fixture }) => fixture.state.users.clear(),
    ] satisfies ((world: Awaited<ReturnType<typeof asPerson>>) => void)[]) {
      const world = await asPerson('admin');
      await check(world.hub);
      expect(world.socket.ended).toBe('');
      end(world);
      await check(world.hub);
      expect(world.socket.ended).toBe('1008 credential ended');
    }
  });
});

describe('the tap', () => {
  it('should tell nothing that was not stored', async () => {
    const tap = tapSink({
      append: async () => ({ ok: false, retryAfterMs: 1 }),
      queuedRows: () => 0,
      close: async () => {},
    });
    let told = 0;
    tap.subscribe(() => {
      told += 1;
    });

    await tap.sink.append(batchOf([storedEvent(1)]));

    expect(told).toBe(0);
  });
});

describe('the handshake', () => {
  async function listening() {
    const live: Listening = await listenWithFixture();
    ends.push(() => live.close());
    const open = (headers: Record<string, string>) =>
      new WebSocket(`${live.url.replace('https', 'wss')}/api/v2/live`, { ca: live.caPem, headers });
    const people = () => {
      const userId = live.fixture.addUser('viewer');
      const session = live.fixture.addSession(userId);
      return { userId, session, half: live.fixture.addSession(userId, 'partial') };
    };
    return { live, open, people, bearer: `Bearer ${live.fixture.addKey(['admin'])}` };
  }

  it('should refuse without a key and from a foreign origin, with a problem', async () => {
    const { live, open, people, bearer } = await listening();
    const statusOf = async (headers: Record<string, string>) => {
      const socket = open(headers);
      socket.on('error', () => {});
      const [, answer] = await once(socket, 'unexpected-response');
      const chunks: Buffer[] = [];
      for await (const chunk of answer) chunks.push(chunk);
      return [answer.statusCode, JSON.parse(Buffer.concat(chunks).toString()).code];
    };

    expect(await statusOf({})).toEqual([401, 'credential_required']);
    expect(await statusOf({ authorization: bearer, origin: 'https://evil.example' })).toEqual([
      403,
      'role_required',
    ]);
    const { userId, session, half } = people();
    const own = { origin: live.url };
    expect(await statusOf({ ...session, origin: 'https://evil.example' })).toEqual([
      ...[403, 'role_required'],
    ]);
    expect(await statusOf(session)).toEqual([403, 'csrf_refused']);
    expect(await statusOf({ ...half, ...own })).toEqual([403, 'second_factor_required']);
    live.fixture.state.users.delete(userId);
    expect(await statusOf({ ...session, ...own })).toEqual([401, 'credential_invalid']);
  });

  it('should open for a person from a page of this Console', async () => {
    const { live, open, people } = await listening();
    const { session } = people();
    const socket = open({ ...session, origin: live.url });
    await once(socket, 'open');
    socket.send(JSON.stringify({ subscribe: [{ topic: 'fleet' }] }));
    const [first] = await once(socket, 'message');
    expect(JSON.parse(String(first))).toMatchObject({ topic: 'fleet' });
    socket.terminate();
  });

  it('should open with a key, send patches by its own beat, and say goodbye at a stop', async () => {
    const { live, open, bearer } = await listening();
    const socket = open({ authorization: bearer, origin: live.url });
    await once(socket, 'open');
    socket.send(JSON.stringify({ subscribe: [{ topic: 'fleet' }] }));
    const [first] = await once(socket, 'message');
    live.fixture.addSensor(1);
    const [second] = await once(socket, 'message');
    const closed = once(socket, 'close');
    live.hub.close();

    expect(JSON.parse(String(first))).toMatchObject({ topic: 'fleet', patch: { sensors: [] } });
    expect(JSON.parse(String(second)).patch.counts.total).toBe(1);
    expect((await closed)[0]).toBe(1_012);
    expect(live.hub.size()).toBe(0);
  });

  it('should forget a session whose client left', async () => {
    const { live, open, bearer } = await listening();
    const socket = open({ authorization: bearer });
    await once(socket, 'open');
    expect(live.hub.size()).toBe(1);

    socket.terminate();

    await expect.poll(() => live.hub.size()).toBe(0);
  });
});
