// One stream and the hub it belongs to, frame by frame, on a clock that a test moves.
import { setImmediate } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../actors/runtime/silent-logger.ts';
import { DEFAULT_INTERVALS as INTERVALS } from '../../machines/intervals.ts';
import { STREAM_MISSED_PONGS_MAX, STREAM_SOCKETS_PER_SENSOR_MAX } from '../../machines/limits.ts';
import type { IdentityRecord } from '../../storage/ports/fleet/sensor-registry.ts';
import { openStreamConnection } from './stream-connection.ts';
import { createStreamHub } from './stream-hub.ts';

const NOW_MS = Date.parse('2026-01-01T00:00:00.000Z');
const STREAM_ID = '2'.repeat(32);
const SENSOR = 's';
const identity = { sensorId: SENSOR, fingerprint: 'f' } as IdentityRecord;
const A = 'a'.repeat(32);
const B = 'b'.repeat(32);
const hello = (instance: string) => ({
  ...{ type: 'hello', instance_id: instance, boot_id: 'boot', stream_id: STREAM_ID },
  ...{ sensor_version: '1.0.0', capabilities: [] },
});
const EVENTS = {
  ...{ type: 'events', sequence: 4 },
  events: [
    {
      ...{ event_id: '3'.repeat(32), schema_version: 1, event_kind: 'process_exec' },
      ...{ observed_at: '2026-01-01T00:00:00.000Z', severity: 'info', message: 'it ran' },
    },
  ],
};
const PING = { type: 'ping', at: '2026-01-01T00:00:00.000Z' };

let timers: { run: () => void; delayMs: number }[];
let told: unknown[];
let audited: unknown[];
let refusal: string | null;
let outcome: () => Promise<unknown>;
let recheck: (sensorId: string) => void;
let restarted: (sensorId: string) => void;
let ingested: unknown[];
let machines: unknown[];
let hub: ReturnType<typeof createStreamHub>;
let deps: Parameters<typeof openStreamConnection>[0] & Parameters<typeof createStreamHub>[0];

beforeEach(() => {
  [timers, told, audited, ingested, machines] = [[], [], [], [], []];
  refusal = null;
  outcome = async () => ({ ok: true, acknowledged: 4 });
  deps = {
    ...{ intervals: INTERVALS, now: () => NOW_MS, logger: silentLogger },
    cache: {
      judge: () => (refusal === null ? { ok: true, identity } : { ok: false, code: refusal }),
      subscribe: (listener: typeof recheck) => {
        recheck = listener;
        return () => told.push('unfollowed');
      },
    },
    sensors: {
      tell: (...words: unknown[]) => void told.push(words),
      onStart: (listener: typeof restarted) => {
        restarted = listener;
        return () => told.push('untold');
      },
    },
    clock: {
      setTimeout: (run: () => void, delayMs: number) => {
        timers.push({ run, delayMs });
        return timers.at(-1);
      },
      clearTimeout: (timer: (typeof timers)[number]) => {
        timers = timers.filter((one) => one !== timer);
      },
    },
    audit: { append: async (entries: unknown[]) => void audited.push(...entries) },
    ingest: {
      ledgers: { highest: () => 3 },
      ingest: (batch: unknown) => {
        ingested.push(batch);
        return outcome();
      },
    },
    nodeMachines: { take: (...words: unknown[]) => void machines.push(words) },
  } as never;
  hub = createStreamHub(deps);
});

/** A socket and what it was sent and ended with. */
function connect(instanceHeader: string | null = null) {
  const got: unknown[] = [];
  const ended: unknown[] = [];
  const socket = {
    send: (text: string) => got.push(JSON.parse(text)) > 0,
    end: (...why: unknown[]) => void ended.push(why),
  };
  const input = { socket, identity, instanceHeader, address: '10.0.0.1' };
  const connection = openStreamConnection(deps, hub, input);
  const say = (frame: unknown) => connection.receive(JSON.stringify(frame));
  return { connection, got, ended, say };
}
function live(instance = A) {
  const stream = connect();
  stream.say(hello(instance));
  stream.got.length = 0;
  told.length = 0;
  return stream;
}
const delays = () => timers.map(({ delayMs }) => delayMs);
/** The next timer that is due goes off. */
function pass(): void {
  timers.shift()?.run();
}

describe('a stream', () => {
  it('should be welcomed by what is acknowledged, and told to the actor', () => {
    const { got, say, ended } = connect(A);
    expect([delays(), hub.isOpen(SENSOR), hub.count()]).toEqual([
      ...[[INTERVALS.STREAM_OPEN_TIMEOUT_MS], false, 0],
    ]);
    say(hello(A));
    expect(got).toMatchObject([{ type: 'welcome', acknowledged: 3, server_time: PING.at }]);
    expect(told).toEqual([[SENSOR, { type: 'stream.opened', atMs: NOW_MS }]]);
    expect([delays(), hub.isOpen(SENSOR), hub.count(), ended]).toEqual([
      ...[[INTERVALS.STREAM_PING_INTERVAL_MS], true, 1, []],
    ]);
  });

  it.each<[why: string, begun: boolean, frames: unknown[], reason: string]>([
    ['no JSON object', false, ['x'], 'schema_violation'],
    ['nothing', false, [null], 'schema_violation'],
    ['a type that is no word', false, [{ type: { toString: 1 } }], 'schema_violation'],
    ['no type', false, [{}], 'schema_violation'],
    ['a type of the language', false, [{ type: 'toString' }], 'schema_violation'],
    ['a bad frame', false, [{ type: 'hello' }], 'schema_violation'],
    ['data first', false, [EVENTS], 'malformed_request'],
    ['another instance than the upgrade', false, [hello(B)], 'malformed_request'],
    ['a second hello', true, [hello(A)], 'malformed_request'],
  ])('should be refused for %s', (_, begun, frames, reason) => {
    const { say, ended } = connect(A);
    if (begun) say(hello(A));
    for (const frame of frames) say(frame);
    expect(ended).toEqual([[1008, reason]]);
    expect([delays(), hub.isOpen(SENSOR)]).toEqual([[], false]);
    say(EVENTS);
    expect([ended.length, ingested]).toEqual([1, []]);
  });

  it('should end when nothing is said, and on a frame that is no text', () => {
    const silent = connect();
    pass();
    expect(silent.ended).toEqual([[1008, 'timed_out']]);
    const binary = connect();
    binary.connection.receiveBinary();
    expect(binary.ended).toEqual([[1008, 'malformed_body']]);
  });

  it('should end by its goodbye, and be gone when its socket is', () => {
    const polite = live();
    polite.say({ type: 'goodbye' });
    expect(polite.ended).toEqual([[1000, 'goodbye']]);
    polite.connection.closed();
    const closed = (reason: string) => [SENSOR, { type: 'stream.closed', atMs: NOW_MS, reason }];
    expect(told).toEqual([closed('goodbye')]);
    const lost = live();
    lost.connection.closed();
    lost.connection.closed();
    expect([lost.ended, told, delays(), hub.count()]).toEqual([[], [closed('peer_gone')], [], 0]);
    expect(hub.send(SENSOR, { type: 'revoked' })).toBe(false);
  });

  it('should be pinged, and end when as many pings as allowed went unanswered', () => {
    const { got, say, ended } = live();
    pass();
    say({ type: 'pong' });
    got.length = 0;
    for (let round = 0; round < STREAM_MISSED_PONGS_MAX; round += 1) pass();
    expect([got, ended]).toEqual([Array(STREAM_MISSED_PONGS_MAX).fill(PING), []]);
    pass();
    expect([ended, delays()]).toEqual([[[1013, 'pong_missed']], []]);
  });

  it('should be answered by what became of its batch', async () => {
    const { got, say } = live();
    const answers = [
      { ok: true, acknowledged: 4 },
      { ok: false, busy: true, retryAfterMs: 9 },
      { ok: false, busy: false, code: 'sequence_conflict', detail: 'other content' },
    ];
    for (const answer of answers) {
      outcome = async () => answer;
      say(EVENTS);
      await expect.poll(() => got.length).toBe(answers.indexOf(answer) + 1);
    }
    expect(ingested[0]).toEqual({
      ...{ identity, streamId: STREAM_ID, channel: 'stream', sequence: 4 },
      ...{ events: EVENTS.events, receivedAtMs: NOW_MS },
    });
    expect(got).toEqual([
      { type: 'ack', sequence: 4 },
      { type: 'retry_after', ms: 9, sequence: 4 },
      { type: 'refused', sequence: 4, code: 'sequence_conflict', detail: 'other content' },
    ]);
  });

  it('should hear no more of its batch, whatever becomes of it, once it has ended', async () => {
    for (const end of ['resolve', 'reject'] as const) {
      const { got, ended, say } = live();
      const storing = Promise.withResolvers<unknown>();
      outcome = () => storing.promise;
      say(EVENTS);
      say({ type: 'goodbye' });
      storing[end]({ ok: true, acknowledged: 4 });
      await setImmediate();
      expect([got, ended]).toEqual([[], [[1000, 'goodbye']]]);
    }
  });

  it('should end for another try when the program fails', async () => {
    const { say, ended } = live();
    outcome = () => Promise.reject(new Error('broken'));
    say(EVENTS);
    await expect.poll(() => ended).toEqual([[1013, 'internal']]);
  });

  it('should hand over what the node says of its statecharts, where it says it', () => {
    const { say, ended } = live();
    say({ type: 'status', status: {} });
    expect(machines).toEqual([]);
    say({ type: 'status', status: { machines: [] } });
    expect([machines, ended]).toEqual([[[SENSOR, [], NOW_MS]], []]);
  });

  it.each([
    ['sensor_revoked', 1008, [{ type: 'revoked' }]],
    ['certificate_expired', 1008, []],
    ['trust_unavailable', 1013, []],
    ['store_unavailable', 1013, []],
  ])('should end when its identity is judged: %s', (code, closeCode, frames) => {
    for (const judge of [
      (stream: ReturnType<typeof live>) => stream.say({ type: 'pong' }),
      () => pass(),
      () => recheck(SENSOR),
      () => hub.close(SENSOR, code as never),
    ]) {
      refusal = null;
      const stream = live();
      refusal = code;
      judge(stream);
      expect([stream.got, stream.ended]).toEqual([frames, [[closeCode, code]]]);
    }
  });
});

describe('the hub of streams', () => {
  it('should let the same instance replace its stream at once', () => {
    const [first, second] = [live(), connect()];
    second.say(hello(A));
    expect(first.ended).toEqual([[1000, 'replaced']]);
    expect([second.got.length, hub.count(), hub.isOpen(SENSOR)]).toEqual([1, 1, true]);
    expect(hub.send(SENSOR, { type: 'revoked' })).toBe(true);
    expect([first.got, second.got[1]]).toEqual([[], { type: 'revoked' }]);
  });

  it('should let another instance in when the first one says nothing, or is that one', () => {
    const [silent, next] = [live(A), connect()];
    next.say(hello(B));
    expect([silent.got, next.got, delays().at(-1)]).toEqual([
      ...[[PING], [], INTERVALS.STREAM_IDENTITY_CHECK_MS],
    ]);
    timers.at(-1)?.run();
    expect([silent.ended, next.got.length]).toEqual([[[1000, 'replaced']], 1]);
    const third = connect();
    third.say(hello(A));
    next.say({ type: 'pong', instance_id: A });
    expect([next.ended, third.got.length]).toEqual([[[1000, 'replaced']], 1]);
  });

  it('should refuse another instance while the first one answers, and write it down', () => {
    const [holder, clone] = [live(A), connect()];
    clone.say(hello(B));
    holder.say({ type: 'pong' });
    expect([holder.ended, clone.ended]).toEqual([[], [[1008, 'identity_conflict']]]);
    expect(audited).toEqual([
      {
        ...{ atMs: NOW_MS, actor: 'sensor:s', action: 'sensor.stream', target: SENSOR },
        ...{ result: 'identity_conflict', from: '10.0.0.1', detail: {} },
      },
    ]);
    holder.say({ type: 'pong' });
    expect([audited.length, hub.count()]).toEqual([1, 1]);
  });

  it('should take no data from who waits', () => {
    const [holder, waiting] = [live(A), connect()];
    waiting.say(hello(B));
    waiting.say(EVENTS);
    expect([waiting.ended, holder.ended]).toEqual([[[1008, 'malformed_request']], []]);
    expect(ingested).toEqual([]);
  });

  it('should not take the word of who waits for that of the first one', () => {
    const [holder, clone] = [live(A), connect()];
    clone.say(hello(B));
    clone.say({ type: 'pong' });
    expect([holder.ended, clone.got, clone.ended]).toEqual([[], [], []]);
    holder.say({ type: 'pong' });
    expect([holder.ended, clone.ended]).toEqual([[], [[1008, 'identity_conflict']]]);
  });

  it('should leave the first one alone when who waited is gone', () => {
    const [holder, leaving] = [live(A), connect()];
    leaving.say(hello(B));
    leaving.connection.closed();
    expect(delays()).toEqual([INTERVALS.STREAM_PING_INTERVAL_MS]);
    holder.say({ type: 'pong' });
    expect([holder.ended, audited, hub.isOpen(SENSOR)]).toEqual([[], [], true]);
  });

  it('should seat who waits when the first one goes, and forget who waits when it goes', () => {
    const [holder, leaving] = [live(A), connect()];
    leaving.say(hello(B));
    leaving.connection.closed();
    const waiting = connect();
    waiting.say(hello(B));
    const later = connect();
    later.say(hello('c'.repeat(32)));
    expect(waiting.ended).toEqual([[1000, 'replaced']]);
    holder.connection.closed();
    expect([later.got.length, hub.isOpen(SENSOR), hub.count()]).toEqual([1, true, 1]);
  });

  it('should hold so many sockets of one sensor and no more', () => {
    const holder = live();
    const others = Array.from({ length: STREAM_SOCKETS_PER_SENSOR_MAX }, () => connect());
    expect(holder.ended).toEqual([]);
    expect(others.map(({ ended }) => ended)).toEqual([
      [[1013, 'too_many_streams']],
      ...others.slice(1).map(() => []),
    ]);
  });

  it('should tell an actor that starts anew of its stream, and no other', () => {
    live();
    restarted('other');
    expect(told).toEqual([]);
    restarted(SENSOR);
    expect(told).toEqual([[SENSOR, { type: 'stream.opened', atMs: NOW_MS }]]);
  });

  it('should end all when the Console stops, and follow nobody after that', () => {
    const [one, waiting] = [live(), connect()];
    expect(hub.isShutDown()).toBe(false);
    hub.shutDown();
    for (const { ended } of [one, waiting]) expect(ended).toEqual([[1012, 'shutting_down']]);
    expect([hub.isShutDown(), hub.count()]).toEqual([true, 0]);
    told.length = 0;
    hub.dispose();
    expect(told).toEqual(['unfollowed', 'untold']);
  });
});
