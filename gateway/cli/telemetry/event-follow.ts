// New events as they become durable: over the live channel while it works, else by asking again. Either way each event
// comes once, since the newest ids are remembered.

import WebSocket from 'ws';
import { COMMAND_WATCH_INTERVAL_MS } from '../../../machines/limits.ts';
import type { StoredEvent } from '../../../machines/wire/event.ts';
import type { Client, Page } from '../plumbing/client.ts';
import { pause } from '../plumbing/command-run.ts';
import { CommandFailure, EXIT } from '../plumbing/exit.ts';

const REMEMBERED_MAX = 10_000;
/** How far back polling looks, for events that arrive late. */
const POLL_OVERLAP = 'now-2m';
const POLL_EVENTS_MAX = 10_000;
const LIVE_OPEN_TIMEOUT_MS = 5_000;
/** From the open channel to the first patch, which a Console sends within a quarter of a second. */
const LIVE_ANSWER_TIMEOUT_MS = 10_000;
/** The native library may cut off a connection in the moment in which it becomes a WebSocket. */
const LIVE_OPEN_TRIES = 3;

export type FollowOptions = {
  readonly client: Client;
  /** Filter of the live channel and of the search. */
  readonly filter: Readonly<Record<string, string | readonly string[]>>;
  readonly onEvent: (event: StoredEvent) => void;
  readonly talk: (line: string) => void;
  readonly signal: AbortSignal;
  /** How long a channel may say nothing before it is given up; the usual time when absent. */
  readonly answerTimeoutMs?: number;
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

/**
 * Prints the latest events, then new ones until stopped. Each round opens the live channel and then reads what was stored
 * meanwhile; a round without the channel is a poll, and the next one tries it again.
 */
export async function followEvents(
  options: FollowOptions & { readonly since?: string | undefined; readonly last: number },
): Promise<void> {
  const { client, filter, signal } = options;
  const isNew = rememberIds();
  const show = (event: StoredEvent) => {
    if (isNew(event.event_id)) options.onEvent(event);
  };
  let isFirst = true;
  let wasLive = true;
  while (!signal.aborted) {
    const waiting: StoredEvent[] = [];
    let isCaughtUp = false;
    const opened = await openLiveSoon({
      ...options,
      // What arrives while the past is read waits its turn.
      onEvent: (event) => (isCaughtUp ? show(event) : void waiting.push(event)),
    });
    try {
      const past = isFirst ? latest(options) : missed(client, filter);
      for (const event of await past) show(event);
      isFirst = false;
    } catch (error) {
      if (isFirst || !isPassing(error)) throw error;
      options.talk(error.message);
    }
    isCaughtUp = true;
    for (const event of waiting) show(event);
    const isLive = 'ended' in opened;
    if (!isLive && wasLive) {
      options.talk(`No live channel, it is ${opened.refused.why}; asking every two seconds.`);
    }
    wasLive = isLive;
    const end = isLive ? await opened.ended : undefined;
    if (signal.aborted) return;
    if (end !== undefined) options.talk(`The live channel is ${end.why}; trying again.`);
    await pause(COMMAND_WATCH_INTERVAL_MS, signal);
  }
}

async function latest(
  options: FollowOptions & { readonly since?: string | undefined; readonly last: number },
): Promise<readonly StoredEvent[]> {
  const from = options.since === undefined ? {} : { from: options.since };
  const query = { ...options.filter, ...from, limit: options.last };
  const { items } = await options.client.get<Page<StoredEvent>>('/api/v2/events', query);
  return [...items].reverse();
}

async function missed(
  client: Client,
  filter: FollowOptions['filter'],
): Promise<readonly StoredEvent[]> {
  const query = { ...filter, from: POLL_OVERLAP, order: 'ascending' };
  const found: StoredEvent[] = [];
  for await (const event of client.all<StoredEvent>('/api/v2/events', query, POLL_EVENTS_MAX)) {
    found.push(event);
  }
  return found;
}

function isPassing(error: unknown): error is CommandFailure {
  if (!(error instanceof CommandFailure)) return false;
  const { exitCode } = error;
  return exitCode !== EXIT.notAuthenticated && exitCode !== EXIT.usage;
}

/** `isCut`: it was open, and ended. */
type End = { readonly isCut: boolean; readonly why: string };
type Live = { readonly ended: Promise<End> };
type NotLive = { readonly refused: End };

/** Opens the live channel; one that is cut off before it says anything is opened again at once. */
async function openLiveSoon(options: Parameters<typeof openLive>[0]): Promise<Live | NotLive> {
  let opened = await openLive(options);
  for (let tries = 1; tries < LIVE_OPEN_TRIES; tries += 1) {
    if ('ended' in opened || !opened.refused.isCut || options.signal.aborted) break;
    opened = await openLive(options);
  }
  return opened;
}

/** Opens the live channel and subscribes, or says why it cannot be had. */
function openLive(options: FollowOptions): Promise<Live | NotLive> {
  const { url, token, ca } = options.client.connection;
  const socket = new WebSocket(`${url.replace(/^https/, 'wss')}/api/v2/live`, {
    headers: { authorization: `Bearer ${token}` },
    handshakeTimeout: LIVE_OPEN_TIMEOUT_MS,
    perMessageDeflate: false,
    ...(ca === null ? {} : { ca }),
  });
  const cut = () => socket.terminate();
  options.signal.addEventListener('abort', cut, { once: true });
  socket.once('close', () => options.signal.removeEventListener('abort', cut));
  const ended = new Promise<End>((resolve) => {
    socket.on('close', (code, reason) => {
      resolve({ isCut: true, why: `closed (${code} ${reason})` });
    });
    socket.on('error', (error) => resolve({ isCut: false, why: `gone (${error.message})` }));
  });
  return new Promise((resolve) => {
    const patience = setTimeout(
      () => {
        resolve({ refused: { isCut: false, why: 'silent' } });
        cut();
      },
      options.answerTimeoutMs ?? LIVE_OPEN_TIMEOUT_MS + LIVE_ANSWER_TIMEOUT_MS,
    );
    socket.once('close', () => clearTimeout(patience));
    socket.on('open', () => {
      socket.send(JSON.stringify({ subscribe: [{ topic: 'events', query: options.filter }] }));
    });
    socket.on('message', (data) => {
      const { patch, error } = parsePatch(String(data));
      if (error !== undefined) {
        resolve({ refused: { isCut: false, why: `refused (${JSON.stringify(error)})` } });
        socket.close();
      }
      if (patch === undefined) return;
      // The first patch says that the subscription stands.
      clearTimeout(patience);
      resolve({ ended });
      if (patch.dropped > 0)
        options.talk(`${patch.dropped} events came too fast and are not shown`);
      for (const event of patch.items) options.onEvent(event);
    });
    void ended.then((refused) => resolve({ refused }));
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
