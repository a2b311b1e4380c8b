// New events as they become durable: over the live channel while it works, else by asking again. Either way each event
// comes once, since the newest ids are remembered.

import WebSocket from 'ws';
import { COMMAND_WATCH_INTERVAL_MS } from '../../machines/limits.ts';
import type { StoredEvent } from '../../machines/wire/event.ts';
import type { Client, Query } from './client.ts';
import { pause } from './command-run.ts';
import { CommandFailure } from './exit.ts';

const REMEMBERED_MAX = 10_000;
/** How far back polling looks, for events that arrive late. */
const POLL_OVERLAP = 'now-2m';
const LIVE_OPEN_TIMEOUT_MS = 5_000;

export type FollowOptions = {
  readonly client: Client;
  /** Filter of the live channel and of the search. */
  readonly filter: Readonly<Record<string, string | readonly string[]>>;
  readonly onEvent: (event: StoredEvent) => void;
  readonly talk: (line: string) => void;
  readonly signal: AbortSignal;
};

/** A function that says whether an id is new, with bounded memory. */
export function rememberIds(max: number = REMEMBERED_MAX): (id: string) => boolean {
  const ids = new Set<string>();
  return (id) => {
    if (ids.has(id)) return false;
    ids.add(id);
    if (ids.size > max) {
      const [oldest] = ids;
      if (oldest !== undefined) ids.delete(oldest);
    }
    return true;
  };
}

/** Prints the latest events, then new ones until stopped. */
export async function followEvents(
  options: FollowOptions & { readonly since?: string | undefined; readonly last: number },
): Promise<void> {
  const isNew = rememberIds();
  const show = (event: StoredEvent) => {
    if (isNew(event.event_id)) options.onEvent(event);
  };
  const waiting: StoredEvent[] = [];
  let isCaughtUp = false;
  const live = await openLive({
    ...options,
    // What arrives while the past is read waits its turn.
    onEvent: (event) => (isCaughtUp ? show(event) : void waiting.push(event)),
  });
  const past: Query = {
    ...options.filter,
    limit: options.last,
    ...(options.since === undefined ? {} : { from: options.since }),
  };
  const { items } = await options.client.get<{ items: StoredEvent[] }>('/api/v2/events', past);
  for (const event of [...items].reverse()) show(event);
  isCaughtUp = true;
  for (const event of waiting) show(event);
  const why = live === null ? 'not available' : await live.ended;
  if (options.signal.aborted) return;
  options.talk(`The live channel is ${why}; asking again every two seconds.`);
  await poll({ ...options, onEvent: show });
}

async function poll(options: FollowOptions): Promise<void> {
  while (!options.signal.aborted) {
    try {
      const query = { ...options.filter, from: POLL_OVERLAP, order: 'ascending' };
      for await (const event of options.client.all<StoredEvent>('/api/v2/events', query, 10_000)) {
        options.onEvent(event);
      }
    } catch (error) {
      if (!(error instanceof CommandFailure) || error.exitCode === 4) throw error;
      options.talk(error.message);
    }
    await pause(COMMAND_WATCH_INTERVAL_MS, options.signal);
  }
}

type Live = { readonly ended: Promise<string> };

/** Opens the live channel and subscribes; null when it cannot be had. */
function openLive(options: FollowOptions): Promise<Live | null> {
  const { url, token, ca } = options.client.connection;
  const socket = new WebSocket(`${url.replace(/^https/, 'wss')}/api/v2/live`, {
    headers: { authorization: `Bearer ${token}` },
    handshakeTimeout: LIVE_OPEN_TIMEOUT_MS,
    perMessageDeflate: false,
    ...(ca === null ? {} : { ca }),
  });
  options.signal.addEventListener('abort', () => socket.terminate(), { once: true });
  const ended = new Promise<string>((resolve) => {
    socket.on('close', (code, reason) => resolve(`closed (${code} ${reason})`));
    socket.on('error', (error) => resolve(`gone (${error.message})`));
  });
  return new Promise((resolve) => {
    socket.on('open', () => {
      socket.send(JSON.stringify({ subscribe: [{ topic: 'events', query: options.filter }] }));
    });
    socket.on('message', (data) => {
      const { patch, error } = parsePatch(String(data));
      if (error !== undefined) socket.close();
      if (patch === undefined) return;
      // The first patch says that the subscription stands.
      resolve({ ended });
      if (patch.dropped > 0)
        options.talk(`${patch.dropped} events came too fast and are not shown`);
      for (const event of patch.items) options.onEvent(event);
    });
    ended.then(() => resolve(null)).catch(() => resolve(null));
  });
}

type Patch = { readonly items: readonly StoredEvent[]; readonly dropped: number };

function parsePatch(text: string): { readonly patch?: Patch; readonly error?: unknown } {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
