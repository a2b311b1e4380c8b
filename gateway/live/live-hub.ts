// All live sessions: one subscription to fleet, actors and events for all of them, one beat that sends at most four
// patches a second per topic, and a loop that looks whether each credential is still good. A reader that does not keep
// up is first skipped (its topics go on coalescing) and then closed. invariant: I10
import { processLoop, type UpkeepLoop } from '../../actors/loops/loop.ts';
import type { InspectionFeed } from '../../actors/runtime/inspection-feed.ts';
import { type Refusal, refuse } from '../../machines/errors.ts';
import {
  LIVE_BACKPRESSURE_MAX_BYTES,
  LIVE_KEY_CHECK_INTERVAL_MS,
  LIVE_PATCHES_PER_SECOND,
  LIVE_SLOW_READER_MS,
  LIVE_SUBSCRIPTIONS_MAX,
} from '../../machines/limits.ts';
import type { StoredEvent } from '../../machines/wire/event.ts';
import type { Timers } from '../../storage/ports/plumbing/clock.ts';
import type { EventBatch } from '../../storage/ports/telemetry/event-store.ts';
import type { Admitter } from '../access/admitter.ts';
import { hasScope, type Operator } from '../access/operator.ts';
import type { FleetView } from '../operator-plane/plumbing/deps.ts';
import { conditionIn } from '../operator-plane/telemetry/event-query.ts';
import type { EventTap } from './event-tap.ts';
import { patchText } from './patch-text.ts';
import { parseLiveRequest, TOPIC_SCOPES, type TopicSpec, topicKey } from './subscription.ts';
import { createTopic, type Topic } from './topic.ts';

export const CLOSE_POLICY = 1_008;
export const CLOSE_RESTART = 1_012;
export const CLOSE_TRY_LATER = 1_013;

/** What the hub needs of a socket. */
export type LiveSocket = {
  send(text: string): void;
  bufferedBytes(): number;
  end(code: number, reason: string): void;
};

export type LiveSession = { onMessage(text: string): void; onClose(): void };

export type LiveHub = {
  open(socket: LiveSocket, operator: Operator): LiveSession;
  size(): number;
  /** Sends what waits, on every session. Called by the hub's own beat. */
  flush(): void;
  /** Closes the sessions whose credential ended. */
  readonly loop: UpkeepLoop;
  close(): void;
};

export type LiveHubDeps = {
  readonly fleet: FleetView;
  readonly feed: Pick<InspectionFeed, 'subscribe'>;
  readonly events: Pick<EventTap, 'subscribe'>;
  readonly admitter: Pick<Admitter, 'renew'>;
  readonly now: () => number;
  readonly timers: Pick<Timers, 'setTimeout' | 'clearTimeout'>;
  readonly slowReaderMs?: number;
};

type Session = {
  readonly socket: LiveSocket;
  operator: Operator;
  readonly topics: Map<string, Topic>;
  fullSinceMs: number | null;
};

/** Makes a hub; `close` ends its beat and sessions. */
export function createLiveHub(deps: LiveHubDeps): LiveHub {
  const sessions = new Set<Session>();
  const { slowReaderMs = LIVE_SLOW_READER_MS } = deps;
  const eachTopic = (tell: (topic: Topic) => void) => {
    for (const session of sessions) for (const topic of session.topics.values()) tell(topic);
  };
  const stops = [
    deps.fleet.subscribe((entry) => eachTopic((topic) => topic.onFleet(entry))),
    deps.feed.subscribe((move) => eachTopic((topic) => topic.onMove(move))),
    deps.events.subscribe((batch) => {
      if (sessions.size === 0) return;
      for (const event of storedEventsOf(batch)) eachTopic((topic) => topic.onEvent(event));
    }),
  ];

  function end(session: Session, code: number, reason: string): void {
    sessions.delete(session);
    keepTime();
    session.socket.end(code, reason);
  }

  function flushOne(session: Session): void {
    if (isFull(session)) {
      session.fullSinceMs ??= deps.now();
      if (deps.now() - session.fullSinceMs >= slowReaderMs) {
        end(session, CLOSE_TRY_LATER, 'slow reader');
      }
      return;
    }
    session.fullSinceMs = null;
    sendPatches(session, () => sessions.has(session));
  }

  function flush(): void {
    for (const session of [...sessions]) flushOne(session);
  }

  async function checkCredentials(): Promise<void> {
    const byHash = Map.groupBy(sessions, ({ operator }) => operator.hash.toString('hex'));
    for (const group of byHash.values()) {
      const [first] = group;
      if (first === undefined) continue;
      const operator = await deps.admitter.renew(first.operator);
      for (const session of group) {
        if (!sessions.has(session)) continue;
        if (operator === null || !mayKeep(operator, session)) {
          end(session, CLOSE_POLICY, 'credential ended');
        } else session.operator = operator;
      }
    }
  }

  let beat: unknown = null;

  // Nobody listens most of the time, and then nothing ticks.
  function keepTime(): void {
    if (sessions.size > 0 === (beat !== null)) return;
    if (sessions.size === 0) {
      deps.timers.clearTimeout(beat);
      beat = null;
      return;
    }
    beat = deps.timers.setTimeout(() => {
      beat = null;
      flush();
      keepTime();
    }, 1_000 / LIVE_PATCHES_PER_SECOND);
  }

  return {
    open(socket, operator) {
      const session: Session = { socket, operator, topics: new Map(), fullSinceMs: null };
      sessions.add(session);
      keepTime();
      return {
        onMessage(text) {
          const refusal = obey(session, text, deps.fleet);
          if (refusal !== null) socket.send(JSON.stringify({ error: errorFrame(refusal) }));
        },
        onClose() {
          sessions.delete(session);
          keepTime();
        },
      };
    },
    size: () => sessions.size,
    flush,
    loop: processLoop('live-credentials', LIVE_KEY_CHECK_INTERVAL_MS, checkCredentials),
    close() {
      for (const stop of stops) stop();
      for (const session of [...sessions]) end(session, CLOSE_RESTART, 'the Console is stopping');
    },
  };
}

function isFull({ socket }: Session): boolean {
  return socket.bufferedBytes() > LIVE_BACKPRESSURE_MAX_BYTES / 4;
}

/** What waits; those that were sent stand last, so that all have their turn where little fits. */
function sendPatches(session: Session, isOpen: () => boolean): void {
  for (const [key, topic] of [...session.topics]) {
    if (isFull(session) || !isOpen()) return;
    const patch = topic.take();
    if (patch === null) continue;
    session.topics.delete(key);
    session.topics.set(key, topic);
    session.socket.send(patchText(addressOf(topic.spec), patch));
  }
}

// The role behind a credential may have changed since: a channel that shows more than it allows now is over.
function mayKeep(operator: Operator, { topics }: Session): boolean {
  if (operator.stage !== 'full') return false;
  return [...topics.values()].every(({ spec }) => hasScope(operator, TOPIC_SCOPES[spec.topic]));
}

function obey(session: Session, text: string, fleet: FleetView): Refusal | null {
  const parsed = parseLiveRequest(text);
  if (!parsed.ok) return parsed;
  const { subscribe = [], unsubscribe = [] } = parsed.value;
  for (const spec of subscribe) {
    const scope = TOPIC_SCOPES[spec.topic];
    if (!hasScope(session.operator, scope)) {
      return refuse('role_required', `The topic ${spec.topic} needs the scope ${scope}.`);
    }
    const read = conditionIn(spec.topic === 'events' ? spec.query?.q : undefined, '/subscribe');
    if (!read.ok) return read;
  }
  for (const spec of unsubscribe) session.topics.delete(topicKey(spec));
  for (const spec of subscribe) {
    if (session.topics.has(topicKey(spec))) continue;
    if (session.topics.size >= LIVE_SUBSCRIPTIONS_MAX) {
      return refuse('rate_limited', `A session holds ${LIVE_SUBSCRIPTIONS_MAX} topics at most.`);
    }
    session.topics.set(topicKey(spec), createTopic(spec, fleet));
  }
  return null;
}

function addressOf(spec: TopicSpec) {
  if (spec.topic === 'sensor') return { topic: spec.topic, id: spec.id };
  return spec.topic === 'events' ? { topic: spec.topic, query: spec.query ?? {} } : spec;
}

function errorFrame({ code, detail, errors }: Refusal) {
  return { code, detail, ...(errors === undefined ? {} : { errors }) };
}

function storedEventsOf(batch: EventBatch): readonly StoredEvent[] {
  const received_at = new Date(batch.receivedAtMs).toISOString();
  return batch.events.map((event) => ({
    ...event,
    sensor_id: batch.sensorId,
    node_name: batch.nodeName,
    received_at,
  }));
}
