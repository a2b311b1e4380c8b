// Staleness is exact to the tick: a sensor turns stale when the window of silence is over, one tick of the timers earlier or
// later at most, and never while its stream is open. A second tick passes when the newest sign of life falls due in the very
// tick whose check found it: that check looks again in the next tick, because no timer runs twice in a turn of the wheel.
// Silence is counted by the Console's own clock.
// Excuses: a clock that jumped (or a world that slept) since the last sign of life is noticed within a second, so such
// a window is not measured; an actor that was built from facts, or whose stream just closed, is late by no more than a
// tick from then on. A step of the clock too small to be a jump is followed silently, so the checks that are counted on
// from one begun before it are off by as much, less than CLOCK_JUMP_MS. A sensor never heard here may be dated by a
// Console whose clock is ahead: it is waited for one window from when it became known here, and no longer. A Console that
// is paused says nothing; it takes its pause for no silence, and one that is too short to be noticed makes it late by as
// much. invariant: I8
import { ACTOR_OPENED, ACTOR_REBUILT } from '../../../actors/runtime/directory.ts';
import type { FeedMove } from '../../../actors/runtime/inspection-feed.ts';
import { CLOCK_CHECK_INTERVAL_MS, CLOCK_JUMP_MS, WHEEL_TICK_MS } from '../../../machines/limits.ts';
import type { ConsoleHost, RunningConsole } from '../world/console-host.ts';
import type { CheckerKind } from './checker.ts';

/** Rounding of two clocks, and the step in which the timer is heard. */
const SLACK_MS = 5;

type Watched = {
  /** By the Console's clock: since when it gets turns. */
  resumedAtMs: number;
  /** By the Console's clock: since when a sensor had another reason to be fresh. */
  readonly freshUntil: Map<string, number>;
  /** By the Console's clock: since when one check follows from another. */
  readonly countedSince: Map<string, number>;
  readonly sinceMs: number;
};

export const staleness: CheckerKind = {
  name: 'staleness',
  promise: 'A silent sensor turns stale when its window is over, to the tick of its check.',
  make(fleet, report) {
    const windowMs = fleet.intervals.STALENESS_WINDOW_MS;
    const watched = new WeakMap<RunningConsole, Watched>();
    const offsets = new Map<string, { value: number; sinceMs: number }>();

    /** Since when, by its own clock, the Console's clock has not jumped. */
    function steadySince({ name, clock }: ConsoleHost): number {
      const value = clock.wallNow() - clock.monotonicNow();
      const known = offsets.get(name);
      // A jump there and back leaves no offset behind.
      const sinceJumpMs = fleet.world.scheduler.now() - clock.jumpedAtMs();
      const jumpedMs = clock.wallNow() - sinceJumpMs;
      if (known !== undefined && Math.abs(known.value - value) <= 2 && jumpedMs <= known.sinceMs) {
        return known.sinceMs;
      }
      const sinceMs = clock.wallNow();
      offsets.set(name, { value, sinceMs });
      return sinceMs;
    }

    /** How far a step that was no jump, or a pause that nobody noticed, may have put the checks of a sensor off. */
    function stepSlackMs(host: ConsoleHost, own: Watched, id: string): number {
      const countedMs = own.countedSince.get(id) ?? own.sinceMs;
      const stepMs = steadySince(host) > countedMs ? CLOCK_JUMP_MS : 0;
      const pauseMs = own.resumedAtMs > countedMs ? CLOCK_JUMP_MS + CLOCK_CHECK_INTERVAL_MS : 0;
      return stepMs + pauseMs;
    }

    function hear(host: ConsoleHost, console: RunningConsole, own: Watched, move: FeedMove): void {
      if (move.kind !== 'sensor') return;
      const nowMs = host.clock.wallNow();
      const isBuilt = move.event === ACTOR_OPENED || move.event === ACTOR_REBUILT;
      const isClosing = move.region === 'stream' && move.to === 'closed';
      if (isBuilt || isClosing) own.freshUntil.set(move.id, nowMs);
      const isFreshAgain = move.region === 'freshness' && move.to === 'fresh';
      if (isBuilt || isClosing || isFreshAgain) own.countedSince.set(move.id, nowMs);
      if (move.region !== 'freshness' || move.to !== 'stale' || isBuilt) return;
      const view = console.fleet.directory.ask(move.id);
      if (view === 'absent') return;
      const { context } = view.snapshot;
      if (context.streamOpen) report(`${host.name}: ${move.id} is stale with its stream open`);
      const seenMs = context.lastHeartbeatAtMs ?? context.knownSinceMs;
      // A clock that was set back leaves signs of life in the future; a window with a jump in it is not measured, and
      // neither is one that begins in the future because another Console's clock is or was ahead.
      if (seenMs > nowMs) return;
      const sinceJumpMs = fleet.world.scheduler.now() - host.clock.jumpedAtMs();
      if (steadySince(host) > seenMs || sinceJumpMs <= windowMs + CLOCK_CHECK_INTERVAL_MS) return;
      const slackMs = SLACK_MS + stepSlackMs(host, own, move.id);
      const earlyMs = seenMs + windowMs - nowMs;
      const knownForMs = nowMs - (own.countedSince.get(move.id) ?? console.bootedAtMs);
      const isWaitedFor = knownForMs >= windowMs - WHEEL_TICK_MS - slackMs;
      if (context.lastHeartbeatAtMs === null && isWaitedFor) return;
      if (earlyMs > WHEEL_TICK_MS + slackMs)
        report(`${host.name}: ${move.id} is stale ${earlyMs} ms too early`);
      const freshMs = own.freshUntil.get(move.id) ?? own.sinceMs;
      const dueMs = Math.max(seenMs + windowMs, freshMs, own.resumedAtMs);
      const lateMs = nowMs - dueMs - 2 * WHEEL_TICK_MS;
      if (lateMs > slackMs) report(`${host.name}: ${move.id} is stale ${lateMs} ms too late`);
    }

    function watch(host: ConsoleHost, console: RunningConsole): Watched {
      const known = watched.get(console);
      if (known !== undefined) return known;
      const own: Watched = {
        resumedAtMs: Number.NEGATIVE_INFINITY,
        freshUntil: new Map(),
        countedSince: new Map(),
        sinceMs: host.clock.wallNow(),
      };
      watched.set(console, own);
      console.fleet.feed.subscribe((move) => hear(host, console, own, move));
      return own;
    }

    function look(host: ConsoleHost, console: RunningConsole, own: Watched, id: string): void {
      const view = console.fleet.directory.ask(id);
      if (view === 'absent') return;
      const { context, value } = view.snapshot;
      if (value.freshness === 'stale' || value.stream === 'open') return;
      const seenMs = context.lastHeartbeatAtMs ?? context.knownSinceMs;
      const dueMs = Math.max(
        seenMs + windowMs,
        own.freshUntil.get(id) ?? own.sinceMs,
        own.resumedAtMs,
        // A check that was armed while the clock was wrong, and right again before anybody noticed, comes up to two windows late.
        steadySince(host) + 2 * windowMs + CLOCK_CHECK_INTERVAL_MS,
      );
      const lateMs = host.clock.wallNow() - dueMs - 2 * WHEEL_TICK_MS;
      if (lateMs > SLACK_MS + stepSlackMs(host, own, id))
        report(`${host.name}: ${id} is not stale, ${lateMs} ms too late`);
    }

    return {
      observe(seen) {
        if (seen.kind !== 'process.resumed') return;
        const host = fleet.consoles.find(({ name }) => name === seen.host);
        const console = host?.running() ?? null;
        if (host === undefined || console === null) return;
        watch(host, console).resumedAtMs = host.clock.wallNow();
      },
      probe() {
        for (const host of fleet.consoles) {
          steadySince(host);
          if (host.isPaused()) continue;
          const console = host.running();
          if (console === null) continue;
          const own = watch(host, console);
          for (const id of console.fleet.directory.ids()) look(host, console, own, id);
        }
      },
    };
  },
};
