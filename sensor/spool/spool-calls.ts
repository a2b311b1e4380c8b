// The calls of the spool, each in its turn: plan by the rules, write, tell the machine.
import { isDeepStrictEqual } from 'node:util';
import type { Logger } from '../../actors/runtime/logger.ts';
import { hourOf, type Losses, type SettledHour } from '../../machines/sensor/loss-ledger.rules.ts';
import {
  applyChange,
  openClaim,
  overflow,
  planClaim,
  type SpoolChange,
  type SpoolClaim,
  type SpoolState,
} from '../../machines/sensor/spool.rules.ts';
import type { RuntimeEvent } from '../../machines/wire/event.ts';
import type { Channel } from '../../machines/wire/scalars.ts';
import { encodeChange, encodeEvent, encodeSeal, sealChanges } from './journal.ts';
import type { AppendResult, ClaimedBatch, ClaimOptions, Spool } from './spool-port.ts';
import type { SpoolStore } from './spool-store.ts';

type Shell = {
  readonly store: SpoolStore;
  readonly logger: Logger;
  readonly eventsMax: number;
  now(): number;
  inTurn<T>(run: () => Promise<T>): Promise<T>;
  state(): SpoolState;
  serves(): boolean;
  isClosed(): boolean;
  changed(changes: readonly SpoolChange[]): void;
  refused(error: unknown): 'disk_full' | 'disk_refuses';
};

/** Makes the calls over one store and one machine. */
export function createSpoolCalls(
  shell: Shell,
): Pick<
  Spool,
  'append' | 'claim' | 'acknowledge' | 'refuse' | 'renumber' | 'release' | 'confirmTold'
> {
  // The events of the last append, so that a batch made at once needs no read.
  let recent: { readonly from: number; readonly jsons: readonly string[] } = { from: 0, jsons: [] };
  // Batches under way that the cap cut into: the Console may still confirm the whole of one.
  const cut = new Map<Channel, SpoolClaim>();
  /** Of the channel's open batch, the events whose lines could not be read any more. */
  const unread = new Map<Channel, number>();
  const { store } = shell;

  async function append(
    events: readonly RuntimeEvent[],
    cursor: unknown,
    from: unknown,
    lost: Losses | undefined,
  ): Promise<AppendResult> {
    if (!shell.serves()) return { ok: false, reason: shell.isClosed() ? 'closed' : 'disk_refuses' };
    if (from !== undefined && !isDeepStrictEqual(from, store.cursor())) {
      return { ok: false, reason: 'cursor_moved' };
    }
    const before = shell.state();
    const jsons = events.map((event) => JSON.stringify(event));
    const lines = jsons.map((json, step) => encodeEvent(before.tail + step, json));
    const appended: SpoolChange = { kind: 'append', count: events.length };
    const drop = overflow(applyChange(before, appended), shell.eventsMax);
    const to = before.tail + events.length;
    const seal = {
      ...{ from: before.tail, to, drop, cursor, hour: hourOf(shell.now()) },
      ...(lost === undefined ? {} : { lost }),
    };
    let at: number;
    try {
      at = await store.write(lines.join('') + encodeSeal(seal), true);
    } catch (error) {
      return { ok: false, reason: shell.refused(error) };
    }
    lines.forEach((line, step) => {
      const bytes = Buffer.byteLength(line);
      store.index().set(before.tail + step, at, bytes);
      at += bytes;
    });
    store.seal(cursor);
    recent = { from: before.tail, jsons };
    shell.changed([appended, ...sealChanges(seal)]);
    for (const one of before.claims) {
      const now = openClaim(shell.state(), one.channel);
      if (now?.sequence !== one.sequence) cut.set(one.channel, one);
    }
    await compact();
    return { ok: true, dropped: drop };
  }

  async function claim(channel: Channel, options: ClaimOptions): Promise<ClaimedBatch | null> {
    while (shell.serves()) {
      const planned = planClaim(shell.state(), channel, options.maxEvents);
      if (planned === null) return null;
      const isNew = openClaim(shell.state(), channel) === null;
      const taken = isNew ? withinBytes(planned, options.maxBytes) : planned;
      if (isNew && !(await persist({ kind: 'claim', ...taken }, true))) return null;
      cut.delete(channel);
      const lines = await linesOf(taken);
      unread.set(channel, taken.to - taken.from - lines.length);
      const isFull = taken.to < planned.to || taken.to - taken.from >= options.maxEvents;
      if (lines.length > 0) return batchOf(taken, lines, isFull);
      // Every line of the batch is damaged: nothing can be sent, so it is closed and the next one is made.
      await acknowledge(channel, taken.sequence, false);
    }
    return null;
  }

  async function acknowledge(
    channel: Channel,
    sequence: number,
    isRefused: boolean,
  ): Promise<boolean> {
    const claimed = openClaim(shell.state(), channel);
    if (!shell.serves()) return false;
    if (claimed?.sequence !== sequence) return acknowledgeCut(channel, sequence);
    const notSent = unread.get(channel) ?? 0;
    const ack: SpoolChange = {
      ...{ kind: 'ack', channel, sequence, hour: hourOf(shell.now()) },
      ...(notSent === 0 ? {} : { unread: notSent }),
      ...(isRefused ? { isRefused } : {}),
    };
    if (!(await persist(ack, false))) return false;
    store.index().release(claimed.from, claimed.to);
    await compact();
    return true;
  }

  // What is left of a batch that was cut while it was under way is delivered with it. Without this a full spool that
  // grows with every round trip would send for ever and never shrink.
  async function acknowledgeCut(channel: Channel, sequence: number): Promise<boolean> {
    if (cut.get(channel)?.sequence !== sequence) return false;
    cut.delete(channel);
    const left = openClaim(shell.state(), channel);
    return left === null || (await acknowledge(channel, left.sequence, false));
  }

  async function release(channel: Channel, sequence: number): Promise<boolean> {
    if (!shell.serves() || openClaim(shell.state(), channel)?.sequence !== sequence) return false;
    return persist({ kind: 'release', channel, sequence }, false);
  }

  async function renumber(channel: Channel, sequence: number): Promise<number | null> {
    const state = shell.state();
    if (!shell.serves() || openClaim(state, channel)?.sequence !== sequence) return null;
    const to = state.next[channel];
    return (await persist({ kind: 'renumber', channel, sequence, to }, true)) ? to : null;
  }

  async function confirmTold(hours: readonly SettledHour[]): Promise<void> {
    if (hours.length > 0 && shell.serves()) await persist({ kind: 'told', hours }, false);
  }

  // A lost acknowledgment or release only repeats a batch, and a lost confirmation only what is told, so those lines are
  // not synced.
  async function persist(change: SpoolChange, isDurable: boolean): Promise<boolean> {
    try {
      await store.write(encodeChange(change), isDurable);
    } catch (error) {
      shell.refused(error);
      return false;
    }
    shell.changed([change]);
    return true;
  }

  async function compact(): Promise<void> {
    if (!shell.serves()) return;
    try {
      await store.compactIfWorth(shell.state());
    } catch (error) {
      shell.refused(error);
    }
  }

  function withinBytes(planned: SpoolClaim, maxBytes: number): SpoolClaim {
    let bytes = 0;
    let to = planned.from;
    while (to < planned.to) {
      bytes += store.index().get(to)?.bytes ?? 0;
      if (bytes > maxBytes && to > planned.from) break;
      to += 1;
    }
    return { ...planned, to };
  }

  async function linesOf(taken: SpoolClaim): Promise<readonly string[]> {
    const indices = Array.from({ length: taken.to - taken.from }, (_, step) => taken.from + step);
    const onDisk = indices.filter((index) => recent.jsons[index - recent.from] === undefined);
    const read = (onDisk.length === 0 ? [] : await store.read(onDisk)).values();
    // An append that failed may have left lines behind the last one that did not, so each keeps its place.
    const lines = indices.map(
      (index) => recent.jsons[index - recent.from] ?? read.next().value ?? null,
    );
    return lines.filter((line) => line !== null);
  }

  const { inTurn } = shell;
  return {
    append: (events, cursor, from, lost) => inTurn(() => append(events, cursor, from, lost)),
    claim: (channel, options) => inTurn(() => claim(channel, options)),
    acknowledge: (channel, sequence) => inTurn(() => acknowledge(channel, sequence, false)),
    refuse: (channel, sequence) => inTurn(() => acknowledge(channel, sequence, true)),
    renumber: (channel, sequence) => inTurn(() => renumber(channel, sequence)),
    release: (channel, sequence) => inTurn(() => release(channel, sequence)),
    confirmTold: (hours) => inTurn(() => confirmTold(hours)),
  };
}

function batchOf(taken: SpoolClaim, lines: readonly string[], isFull: boolean): ClaimedBatch {
  let parsed: readonly RuntimeEvent[] | null = null;
  return {
    channel: taken.channel,
    sequence: taken.sequence,
    lines,
    isFull,
    get events() {
      parsed ??= lines.map((line) => JSON.parse(line) as RuntimeEvent);
      return parsed;
    },
  };
}
