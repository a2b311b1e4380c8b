// The live channel: one WebSocket for the tab, shared by everything that shows something live. Subscriptions are counted,
// said again after a reconnect, and the standing is a store that the pill in the top bar shows.
import { createStore, useSelector } from '@xstate/store-react';
import { useEffect, useRef } from 'react';
import { API, call } from './client.ts';

const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 30_000;
/** A socket that ends sooner was never good; its end does not begin the waits anew. */
const GOOD_AFTER_MS = 5_000;

export type TopicSpec =
  | { readonly topic: 'fleet' | 'actors' | 'rollouts' }
  | { readonly topic: 'sensor'; readonly id: string }
  | { readonly topic: 'events'; readonly query?: Readonly<Record<string, unknown>> };
export type Patch = Readonly<Record<string, unknown>>;
type Listener = (patch: Patch) => void;

type Standing =
  | { readonly is: 'idle' | 'opening' | 'open' | 'paused' }
  | { readonly is: 'waiting'; readonly retryAtMs: number };

export const liveStanding = createStore({
  context: { standing: { is: 'idle' } as Standing },
  on: { moved: (_context, event: { standing: Standing }) => ({ standing: event.standing }) },
});

const topics = new Map<string, { readonly spec: TopicSpec; readonly listeners: Set<Listener> }>();
let socket: WebSocket | null = null;
let retryTimer: ReturnType<typeof setTimeout> | null = null;
let failures = 0;
let openedAtMs = 0;

const move = (standing: Standing) => liveStanding.trigger.moved({ standing });
const standing = () => liveStanding.getSnapshot().context.standing;

function open(): void {
  if (socket !== null || topics.size === 0 || standing().is === 'paused') return;
  if (retryTimer !== null) clearTimeout(retryTimer);
  move({ is: 'opening' });
  const own = new WebSocket(`wss://${location.host}${API}/live`);
  socket = own;
  own.onopen = () => {
    openedAtMs = Date.now();
    move({ is: 'open' });
    say({ subscribe: [...topics.values()].map(({ spec }) => spec) });
  };
  own.onmessage = ({ data }) => hear(String(data));
  own.onclose = () => {
    if (socket !== own) return;
    socket = null;
    if (standing().is === 'paused') return;
    if (topics.size === 0) return move({ is: 'idle' });
    failures = openedAtMs > 0 && Date.now() - openedAtMs > GOOD_AFTER_MS ? 0 : failures + 1;
    openedAtMs = 0;
    const delayMs = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(failures, 5));
    // A session that ended closes the socket, and a socket cannot say why it does not open.
    void call('GET /auth/sessions', {}).catch(() => undefined);
    move({ is: 'waiting', retryAtMs: Date.now() + delayMs });
    retryTimer = setTimeout(open, delayMs);
  };
}

function say(message: object): void {
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
}

function hear(text: string): void {
  const message = JSON.parse(text) as { topic?: string; id?: string; patch?: Patch; error?: Patch };
  if (message.patch === undefined || message.topic === undefined) return;
  for (const { spec, listeners } of topics.values()) {
    const isMeant =
      spec.topic === message.topic && (spec.topic !== 'sensor' || spec.id === message.id);
    if (isMeant) for (const listener of listeners) listener(message.patch);
  }
}

/** Follows a topic until the returned function is called. */
export function follow(spec: TopicSpec, listener: Listener): () => void {
  const key = JSON.stringify(spec);
  const known = topics.get(key);
  if (known === undefined) {
    topics.set(key, { spec, listeners: new Set([listener]) });
    say({ subscribe: [spec] });
  } else known.listeners.add(listener);
  open();
  return () => {
    const topic = topics.get(key);
    topic?.listeners.delete(listener);
    if (topic === undefined || topic.listeners.size > 0) return;
    topics.delete(key);
    say({ unsubscribe: [spec] });
  };
}

/** Stops and takes up again what is live; while paused nothing is asked for. */
export function setPaused(isPaused: boolean): void {
  if (isPaused) {
    move({ is: 'paused' });
    socket?.close();
    if (retryTimer !== null) clearTimeout(retryTimer);
  } else {
    move({ is: 'idle' });
    failures = 0;
    open();
  }
}

/** Tries now instead of at the end of the wait. */
export function reconnectNow(): void {
  failures = 0;
  open();
}

/** Follows a topic while the component is there; null follows nothing. */
export function useTopic(spec: TopicSpec | null, onPatch: Listener): void {
  const latest = useRef(onPatch);
  latest.current = onPatch;
  const key = spec === null ? null : JSON.stringify(spec);
  useEffect(() => {
    if (key === null) return undefined;
    return follow(JSON.parse(key) as TopicSpec, (patch) => latest.current(patch));
  }, [key]);
}

export function useLiveStanding(): Standing {
  return useSelector(liveStanding, ({ context }) => context.standing);
}
