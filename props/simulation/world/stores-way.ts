// The way of one process's calls to a simulated store: connections, latency, time-outs, and everything that can go wrong
// between asking and hearing the answer. An effect runs whole or not at all; what is lost is only the word about it.
import type { Ask } from '../../../storage/memory/plumbing/unsafe-port-of.ts';
import type { Life } from './life.ts';
import type { Random } from './random.ts';
import type { Scheduler } from './scheduler.ts';
import { hits, takesTime, type WayFaults } from './stores-faults.ts';

/** How often a stalled store is looked at. */
const THAW_INTERVAL_MS = 50;

export type WayLimits = {
  /** After this long without a word the caller gives up; null = the caller has a time-out of its own. */
  readonly answerMs: number | null;
  readonly connectionsMax: number;
  /** How long a call waits for a free connection. */
  readonly connectMs: number;
};

export type Way = {
  /** Calls without a fault and without latency run at once. `signal` tells that the caller has given up. */
  ask<Answer>(name: string, effect: () => Answer, signal?: AbortSignal): Promise<Answer>;
  /** As `ask`, with a limit of its own for the answer. */
  askWithin<Answer>(answerMs: number, name: string, effect: () => Answer): Promise<Answer>;
};

type Call = {
  readonly effect: () => unknown;
  readonly answerMs: number | null;
  readonly signal: AbortSignal | undefined;
  /** Whom it was sent to. */
  server: number;
  resolve(answer: unknown): void;
  reject(error: unknown): void;
  /** Nobody waits for the answer any more. */
  isOver: boolean;
  release(): void;
};

/** One store's frozen calls, of all its callers. */
export type Frozen = { hold(host: string, thaw: () => void): void };

/** Keeps calls until their host is not stalled any more. */
export function createFrozen(scheduler: Scheduler, faults: WayFaults): Frozen {
  let held: { readonly host: string; readonly thaw: () => void }[] = [];
  function look(): void {
    const due = held.filter((one) => !hits(faults.stall, one.host));
    held = held.filter((one) => hits(faults.stall, one.host));
    for (const one of due) one.thaw();
    if (held.length > 0) scheduler.after(THAW_INTERVAL_MS, look);
  }
  return {
    hold(host, thaw) {
      held.push({ host, thaw });
      if (held.length === 1) scheduler.after(THAW_INTERVAL_MS, look);
    },
  };
}

export type WayOptions = {
  readonly scheduler: Scheduler;
  readonly life: Life;
  readonly random: Random;
  readonly faults: WayFaults;
  readonly frozen: Frozen;
  readonly limits: WayLimits;
  /** The error of a store that cannot answer; `wasSent` = it may have been done. */
  readonly unavailable: (reason: string, wasSent: boolean) => Error;
};

/** Makes the way of one life. */
export function createWay(options: WayOptions): Way {
  const { scheduler, life, random, faults, frozen, limits, unavailable } = options;
  const { host } = life;
  const waiting: Call[] = [];
  let connections = 0;

  const happens = (probability: number): boolean => probability > 0 && random.chance(probability);

  function taken(call: Call, answer: unknown): void {
    call.release();
    if (call.server === faults.server) call.resolve(answer);
    else call.reject(unavailable('the connection was lost', true));
  }

  /** The store's side of a call, at one instant. */
  function settle(call: Call): void {
    const isHeard = life.isAlive() && !call.isOver && call.signal?.aborted !== true;
    try {
      const isGone = hits(faults.away, host) || call.server !== faults.server;
      if (isGone || happens(faults.failBefore)) {
        throw unavailable('the connection was lost', true);
      }
      if (!isHeard && !happens(faults.lateWrite)) return;
      const answer = call.effect();
      if (happens(faults.failAfter)) throw unavailable('the answer was lost', true);
      if (happens(faults.silentAfter)) return;
      const { least, most } = faults.answerMs;
      if (most > 0) life.arrive(least + random.next() * (most - least), () => taken(call, answer));
      else life.hear(() => taken(call, answer));
    } catch (error) {
      life.hear(() => {
        call.release();
        call.reject(error);
      });
    }
  }

  function begin(call: Call): void {
    call.server = faults.server;
    const { least, most } = faults.latencyMs;
    const deadline = call.answerMs;
    if (deadline !== null) {
      const timer = life.after(deadline, () => {
        call.isOver = true;
        call.release();
        call.reject(unavailable(`no answer within ${deadline} ms`, true));
      });
      const { release } = call;
      call.release = () => {
        scheduler.cancel(timer);
        release();
      };
    }
    call.signal?.addEventListener('abort', () => {
      call.isOver = true;
      call.release();
      call.reject(unavailable('the caller gave up', true));
    });
    if (hits(faults.stall, host)) frozen.hold(host, () => settle(call));
    else scheduler.after(least + random.next() * (most - least), () => settle(call));
  }

  function take(call: Call): void {
    connections += 1;
    let isFree = false;
    call.release = () => {
      if (isFree) return;
      isFree = true;
      connections -= 1;
      const next = waiting.shift();
      if (next !== undefined) next.release();
    };
    begin(call);
  }

  /** Waits for a connection; `release` of a waiting call means that it may go on. */
  function queue(call: Call): void {
    const timer = life.after(limits.connectMs, () => {
      const at = waiting.indexOf(call);
      if (at >= 0) waiting.splice(at, 1);
      call.reject(unavailable('no connection is free', false));
    });
    call.release = () => {
      scheduler.cancel(timer);
      take(call);
    };
    waiting.push(call);
  }

  function send<Answer>(
    effect: () => Answer,
    answerMs: number | null,
    signal: AbortSignal | undefined,
  ): Answer | Promise<Answer> {
    if (hits(faults.away, host)) throw unavailable('the connection is refused', false);
    const isAtOnce = !takesTime(faults) && connections === 0 && !hits(faults.stall, host);
    if (isAtOnce && !happens(faults.silentAfter)) {
      if (happens(faults.failBefore)) throw unavailable('the connection was lost', true);
      const answer = effect();
      if (happens(faults.failAfter)) throw unavailable('the answer was lost', true);
      return answer;
    }
    if (isAtOnce) effect();
    return new Promise<Answer>((resolve, reject) => {
      const call: Call = {
        effect,
        answerMs,
        signal,
        server: faults.server,
        // The answer is what this call's own effect returned.
        resolve: (answer) => resolve(answer as Answer),
        reject,
        isOver: false,
        release: () => undefined,
      };
      if (isAtOnce) silence(call);
      else if (connections < limits.connectionsMax) take(call);
      else queue(call);
    });
  }

  /** What was done, and is never answered. */
  function silence(call: Call): void {
    const { answerMs } = call;
    if (answerMs === null) return;
    life.after(answerMs, () => call.reject(unavailable(`no answer within ${answerMs} ms`, true)));
  }

  // A promise that an effect answers with is the answer of the call.
  const within = <Answer>(
    answerMs: number | null,
    name: string,
    effect: () => Answer,
    signal?: AbortSignal,
  ): Promise<Answer> =>
    life.call<Answer | Promise<Answer>>(name, () =>
      send(effect, answerMs, signal),
    ) as Promise<Answer>;

  return {
    ask: (name, effect, signal) => within(limits.answerMs, name, effect, signal),
    askWithin: (answerMs, name, effect) => within(answerMs, name, effect),
  };
}

/** A way as the ports want it. */
export function askOver(way: Way): Ask {
  return (name, effect) => way.ask(name, effect);
}
