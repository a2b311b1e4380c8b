// The network between nodes and Consoles, at the level of connections: bytes arrive in order or not at all, a cut holds
// them back until it heals (the sender repeats), a host without power says nothing, a killed process hangs up. What is
// above (TLS, HTTP, WebSocket) is in `transport.ts` and `edge.ts`.
import type { Random } from './random.ts';
import type { Scheduler } from './scheduler.ts';

export type Side = 'client' | 'server';

/** The way between one node and the Consoles. A fault plan turns the switches; `heal` sets them back. */
export type Link = {
  latencyMs: number;
  jitterMs: number;
  /** Share of messages whose first copy is lost; the sender repeats after a while. */
  loss: number;
  /** Nothing passes: both ways, or only one. */
  cut: 'none' | 'both' | 'up' | 'down';
  /** Who speaks a later version, with words that the other does not know. */
  newer: 'nobody' | 'sensor' | 'console';
  /** Nothing passes between this node and one Console, while it reaches the others; '' for none. */
  without: string;
  /** Share of requests that a middlebox sends a second time, later, on a connection of its own. */
  replay: number;
  /** Share of requests whose connection is reset before the answer arrives. */
  reset: number;
  /** The client reads nothing: what the server sends piles up. */
  slowReader: boolean;
};

export type ConnectionEnd = {
  /** Called once when the other side hung up, or the connection was reset or given up. */
  onClosed: (reason: string) => void;
};

/** How the process of each side comes to hear something. */
export type Hearing = Readonly<Record<Side, { hear(run: () => void): void }>>;
const ALWAYS_AWAKE: Hearing = {
  client: { hear: (run) => run() },
  server: { hear: (run) => run() },
};

export type Connection = {
  readonly node: string;
  readonly console: string;
  readonly id: number;
  /** Sends; `deliver` runs at the other side if it is still there. */
  send(from: Side, bytes: number, deliver: () => void): void;
  /** Hangs up in order behind what was sent. `silently`: the other side is not told (power loss). */
  close(from: Side, reason: string, how?: 'told' | 'silently'): void;
  /** The client reads what has arrived. */
  read(): void;
  isOpen(side: Side): boolean;
  /** Bytes sent by the server that the client has not read. */
  unread(): number;
  setEnd(side: Side, end: ConnectionEnd): void;
};

export type Network = {
  link(node: string): Link;
  heal(node: string): void;
  /** Whoever is paused hears what has arrived when it goes on; its kernel takes it meanwhile. */
  connect(node: string, console: string, hearing?: Hearing): Connection;
  /** Whether a message could pass now, to or from this Console. */
  isPassable(node: string, from: Side, console: string): boolean;
  /** Runs when a message could pass, at once if it can; to or from one Console, or to whatever is there. */
  whenPassable(node: string, from: Side, run: () => void, console?: string): void;
  /** One way, in milliseconds. */
  travelMs(node: string): number;
  /** Ends every connection of a host: told (its kernel hangs up) or silently (no power). */
  endHost(host: string, how: 'told' | 'silently'): void;
  openConnections(): number;
};

/** A way that nothing disturbs. */
export const CALM_LINK: Readonly<Link> = {
  latencyMs: 2,
  jitterMs: 3,
  loss: 0,
  cut: 'none',
  without: '',
  newer: 'nobody',
  replay: 0,
  reset: 0,
  slowReader: false,
};
const REPEAT_AFTER_MS = 200;
const REPEATS_MAX = 6;

type Held = { readonly from: Side; readonly console: string; readonly run: () => void };
type LinkState = { readonly link: Link; held: Held[] };

/** Makes a network without faults. */
export function createNetwork(scheduler: Scheduler, random: Random): Network {
  const links = new Map<string, LinkState>();
  const connections = new Set<Connection>();
  let nextId = 1;

  function stateOf(node: string): LinkState {
    const known = links.get(node);
    if (known !== undefined) return known;
    const made = { link: { ...CALM_LINK }, held: [] };
    links.set(node, made);
    return made;
  }

  function passes(link: Link, from: Side, console: string): boolean {
    if (console !== '' && link.without === console) return false;
    if (link.cut === 'none') return true;
    return link.cut === (from === 'client' ? 'down' : 'up');
  }

  function travelMs(node: string): number {
    const { link } = stateOf(node);
    let ms = link.latencyMs + random.next() * link.jitterMs;
    for (let repeat = 0; repeat < REPEATS_MAX && random.chance(link.loss); repeat += 1) {
      ms += REPEAT_AFTER_MS * 2 ** repeat;
    }
    return ms;
  }

  function whenPassable(node: string, from: Side, run: () => void, console = ''): void {
    const state = stateOf(node);
    if (passes(state.link, from, console)) run();
    else state.held.push({ from, console, run });
  }

  // Looked at with every switch of a link: what may pass again passes in the order it was held.
  function release(node: string): void {
    const state = stateOf(node);
    const held = state.held;
    state.held = [];
    for (const one of held) {
      if (passes(state.link, one.from, one.console)) scheduler.after(travelMs(node), one.run);
      else state.held.push(one);
    }
    if (state.link.slowReader) return;
    for (const one of connections) if (one.node === node) one.read();
  }

  function connect(node: string, console: string, hearing: Hearing = ALWAYS_AWAKE): Connection {
    const open: Record<Side, boolean> = { client: true, server: true };
    const ends: Partial<Record<Side, ConnectionEnd>> = {};
    const arrivesAt: Record<Side, number> = { client: 0, server: 0 };
    let unread = 0;
    let backlog: (() => void)[] = [];
    const other = (side: Side): Side => (side === 'client' ? 'server' : 'client');

    // In order: nothing overtakes what the same side sent before.
    function carry(from: Side, run: () => void): void {
      const atMs = Math.max(arrivesAt[from], scheduler.now() + travelMs(node));
      arrivesAt[from] = atMs;
      scheduler.after(atMs - scheduler.now(), () => whenPassable(node, from, run, console));
    }

    function hear(side: Side, reason: string): void {
      hearing[side].hear(() => {
        if (!open[side]) return;
        open[side] = false;
        if (!open[other(side)]) connections.delete(connection);
        ends[side]?.onClosed(reason);
      });
    }

    const connection: Connection = {
      node,
      console,
      id: nextId++,
      send(from, bytes, deliver) {
        if (!open[from]) return;
        if (from === 'server') unread += bytes;
        const arrive = (): void => {
          if (!open[other(from)]) {
            // Nobody is there any more: the sender is told by a reset.
            carry(other(from), () => hear(from, 'reset'));
            return;
          }
          if (from === 'client') {
            hearing.server.hear(() => {
              if (open.server) deliver();
            });
            return;
          }
          backlog.push(() => {
            unread -= bytes;
            deliver();
          });
          if (!stateOf(node).link.slowReader) connection.read();
        };
        carry(from, arrive);
      },
      close(from, reason, how = 'told') {
        if (!open[from]) return;
        open[from] = false;
        backlog = [];
        if (!open[other(from)]) connections.delete(connection);
        if (how === 'told') carry(from, () => hear(other(from), reason));
      },
      read() {
        if (backlog.length === 0) return;
        hearing.client.hear(() => {
          for (const one of backlog.splice(0)) if (open.client) one();
        });
      },
      isOpen: (side) => open[side],
      unread: () => unread,
      setEnd(side, end) {
        ends[side] = end;
      },
    };
    connections.add(connection);
    return connection;
  }

  return {
    link(node) {
      const { link } = stateOf(node);
      return new Proxy(link, {
        set(target, key, value) {
          const done = Reflect.set(target, key, value);
          release(node);
          return done;
        },
      });
    },
    heal(node) {
      Object.assign(stateOf(node).link, CALM_LINK);
      release(node);
    },
    connect,
    isPassable: (node, from, console) => passes(stateOf(node).link, from, console),
    whenPassable,
    travelMs,
    endHost(host, how) {
      for (const one of [...connections]) {
        if (one.node === host) one.close('client', 'peer_gone', how);
        if (one.console === host) one.close('server', 'peer_gone', how);
      }
    },
    openConnections: () => connections.size,
  };
}
