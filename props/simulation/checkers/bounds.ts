// Every queue keeps its bound: rows that wait for the event store, moves that wait to be recorded, the feed's memory of
// each actor, and the timers of a process, which are a constant for the Console and a few for each sensor and stream.
// No excuses; what does not fit is refused or dropped and counted. invariant: I10
import {
  FACTS_QUEUE_ROWS_MAX,
  FEED_PER_ACTOR_MAX,
  SINK_QUEUE_ROWS_MAX,
  TRANSITIONS_QUEUE_MAX,
} from '../../../machines/limits.ts';
import type { ConsoleHost, RunningConsole } from '../world/console-host.ts';
import type { CheckerKind } from './checker.ts';

const TIMERS_OF_A_CONSOLE = 100;
/** Trust, freshness, and what each of a few connections and lanes of a sensor arms. */
const TIMERS_OF_A_SENSOR = 40;

export const bounds: CheckerKind = {
  name: 'bounds',
  promise: 'Every queue, map and buffer keeps its bound (I10).',
  make(fleet, report) {
    function look(host: ConsoleHost, console: RunningConsole): void {
      const { state, forgotten } = fleet.stores.relational;
      // A Console keeps the actor of a sensor that the database forgot until it starts again.
      const lost = forgotten();
      const sensors = state.sensors.size + lost.sensors;
      const held: readonly (readonly [what: string, count: number, max: number])[] = [
        ['rows of the sink', console.analytics.sink.queuedRows(), SINK_QUEUE_ROWS_MAX],
        ['facts', console.relational.facts.queuedRows(), FACTS_QUEUE_ROWS_MAX],
        ['moves to record', console.fleet.recorder.queued(), TRANSITIONS_QUEUE_MAX],
        ['actors', console.fleet.directory.size(), sensors],
        [
          'certificates',
          console.fleet.identities.size(),
          state.certificates.size + lost.certificates,
        ],
        ['timers', console.timers(), TIMERS_OF_A_CONSOLE + TIMERS_OF_A_SENSOR * sensors],
      ];
      for (const [what, count, max] of held) {
        if (count > max) report(`${host.name} holds ${count} ${what}, and ${max} is the bound`);
      }
      const [first] = console.fleet.directory.ids();
      const moves = console.fleet.feed.recentOf('sensor', first ?? '').length;
      if (moves > FEED_PER_ACTOR_MAX) report(`${host.name} keeps ${moves} moves of one actor`);
    }

    return {
      probe() {
        for (const host of fleet.consoles) {
          const console = host.running();
          if (console !== null) look(host, console);
        }
      },
    };
  },
};
