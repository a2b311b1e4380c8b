// Time travel: the recorded moves of a sensor, played one after another, lead to the states that its live actor has, and
// no move starts from another state than the one before it left. Excuses: an actor that is built from facts begins
// without a move; a Console that ends takes the last moves of a second with it, and a long outage of the event store
// drops the oldest and counts them. So a chain is judged from its Console's start to its end, as far as it was heard
// here, and against the store only while nothing was dropped or killed. invariant: I8; decision: D4
import { ACTOR_OPENED, ACTOR_REBUILT } from '../../../actors/runtime/directory.ts';
import type { FeedMove } from '../../../actors/runtime/inspection-feed.ts';
import type { ConsoleHost, RunningConsole } from '../world/console-host.ts';
import type { CheckerKind } from './checker.ts';
import { ensure } from './columns.ts';

type Chain = { readonly states: Map<string, string>; readonly moves: FeedMove[] };
type Heard = { readonly chains: Map<string, Chain> };

export const timeTravel: CheckerKind = {
  name: 'time-travel',
  promise: 'The recorded moves of a sensor lead to the states its actor has (D4).',
  make(fleet, report) {
    const heard = new WeakMap<RunningConsole, Heard>();
    const { calls } = fleet.stores.analytics.rows;

    function hear(host: ConsoleHost, own: Heard, move: FeedMove): void {
      if (move.kind !== 'sensor') return;
      const chain = ensure(own.chains, move.id, () => ({ states: new Map(), moves: [] }));
      const { region, from, to, event } = move;
      if (region === '') return void chain.moves.push(move);
      const isBuilt = event === ACTOR_OPENED || event === ACTOR_REBUILT;
      const known = chain.states.get(region);
      if (!isBuilt && known !== undefined && known !== from) {
        report(`${host.name}: ${region} of ${move.id} moved from ${from}, and was ${known}`);
      }
      chain.states.set(region, to);
      if (!isBuilt) chain.moves.push(move);
    }

    function compareStates(host: ConsoleHost, console: RunningConsole, own: Heard): void {
      for (const [id, { states }] of own.chains) {
        const view = console.fleet.directory.ask(id);
        if (view === 'absent') continue;
        const value: Readonly<Record<string, unknown>> = view.snapshot.value;
        for (const [region, state] of states) {
          if (value[region] === state) continue;
          report(
            `${host.name}: ${region} of ${id} is ${value[region]}, and its moves say ${state}`,
          );
        }
      }
    }

    function compareRows(host: ConsoleHost, own: Heard): void {
      for (const [sensorId, { moves }] of own.chains) {
        const rows = calls.transitionsOf({ sensorId, limit: Number.MAX_SAFE_INTEGER });
        const stored = new Map<string, number>();
        for (const row of rows) {
          const name = nameOf(row);
          stored.set(name, (stored.get(name) ?? 0) + 1);
        }
        const lost = moves.find((move) => (stored.get(nameOf(move)) ?? 0) === 0);
        if (lost !== undefined) {
          report(
            `${host.name} did not record that ${lost.region} of ${sensorId} became ${lost.to}`,
          );
        }
      }
    }

    return {
      probe() {
        for (const host of fleet.consoles) {
          const console = host.running();
          if (console === null) continue;
          const known = heard.get(console);
          if (known !== undefined) {
            compareStates(host, console, known);
            continue;
          }
          const own: Heard = { chains: new Map() };
          heard.set(console, own);
          console.fleet.feed.subscribe((move) => hear(host, own, move));
        }
      },
      finish() {
        for (const host of fleet.consoles) {
          const console = host.running();
          const own = console === null ? undefined : heard.get(console);
          if (console === null || own === undefined) continue;
          compareStates(host, console, own);
          const { recorder } = console.fleet;
          if (recorder.dropped() === 0 && recorder.queued() === 0) compareRows(host, own);
        }
      },
    };
  },
};

function nameOf({
  region,
  from,
  to,
  event,
  atMs,
}: Pick<FeedMove, 'region' | 'from' | 'to' | 'event' | 'atMs'>): string {
  return `${region} ${from} ${to} ${event} ${atMs}`;
}
