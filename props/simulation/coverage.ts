// Which states and transitions of the machines a run came through. XState reads the entry actions of each state it enters
// and the actions of each transition it takes, and reads them at no other time; so those two properties are replaced by
// accessors that leave a mark. States that are left again at once and eventless transitions are seen that way, too, and
// nothing is paid for events that change nothing new: one comparison. Production code knows nothing of it.
//
// A name holds across `machine.provide()` and across processes: the id of the state, the event, and which of its
// guarded alternatives, counted from 0.
import { type AnyStateMachine, type AnyStateNode, StateMachine } from 'xstate';

/** Names of what was visited; they can be kept as a list and put together with those of other runs. */
export type Visits = Set<string>;

type Marked = { readonly key: string; readonly actions: unknown; seenBy: Visits | null };

const MARK = Symbol('mark');
const rooted = new WeakSet<AnyStateNode>();
let current: Visits = new Set();
let isWatching = false;

/**
 * Starts to note visits from now on, of these machines and of whatever is made of any machine by `provide()`; what was
 * noted before is left behind.
 */
export function beginCoverage(machines: readonly AnyStateMachine[]): Visits {
  current = new Set();
  for (const machine of machines) markMachine(machine.root);
  if (isWatching) return current;
  isWatching = true;
  const { provide } = StateMachine.prototype;
  StateMachine.prototype.provide = function (implementations) {
    const provided = provide.call(this, implementations);
    markMachine(provided.root);
    return provided;
  };
  return current;
}

function markMachine(root: AnyStateNode): void {
  if (rooted.has(root)) return;
  rooted.add(root);
  for (const node of nodesOf(root)) {
    mark(node, 'entry', stateKey(node));
    for (const { transition, key } of transitionsOf(node)) mark(transition, 'actions', key);
  }
}

// One accessor for all marked objects: with one for each, no two of them would have the same shape for the compiler.
function visited(this: { readonly [MARK]: Marked }): unknown {
  const mark = this[MARK];
  if (mark.seenBy !== current) {
    mark.seenBy = current;
    current.add(mark.key);
  }
  return mark.actions;
}

function mark(owner: object, property: 'entry' | 'actions', key: string): void {
  const held: Marked = { key, actions: Reflect.get(owner, property), seenBy: null };
  Object.defineProperty(owner, MARK, { value: held });
  Object.defineProperty(owner, property, { get: visited, enumerable: true });
}

function nodesOf(node: AnyStateNode): readonly AnyStateNode[] {
  return [node, ...Object.values(node.states).flatMap(nodesOf)];
}

type NamedTransition = {
  readonly transition: object;
  readonly key: string;
  /** Guard and targets, for people. */
  readonly detail: string;
};

function transitionsOf(node: AnyStateNode): readonly NamedTransition[] {
  const named: NamedTransition[] = [];
  for (const [event, alternatives] of [
    ...node.transitions,
    ['always', node.always ?? []] as const,
  ]) {
    alternatives.forEach((transition, at) => {
      const targets = transition.target?.map((target: AnyStateNode) => target.id) ?? [];
      named.push({
        transition,
        key: `${node.id} ${shortEvent(event, node.id)} ${at}`,
        detail: `${guardName(transition.guard)}-> ${targets.join(', ') || 'stays'}`,
      });
    });
  }
  return named;
}

function stateKey(node: AnyStateNode): string {
  return node.id;
}

/** `xstate.after.untilStaleMs.sensor.freshness.fresh` is `after:untilStaleMs`; done and error of an actor alike. */
function shortEvent(event: string, state: string): string {
  const short = event.replace(/^xstate\.(after|done|error)\.(?:actor\.|state\.)?/, '$1:');
  return short.endsWith(`.${state}`) ? short.slice(0, -state.length - 1) : short;
}

function guardName(guard: unknown): string {
  if (typeof guard === 'string') return `if ${guard} `;
  if (typeof guard !== 'object' || guard === null) return '';
  const { type } = guard as { readonly type?: unknown };
  return typeof type === 'string' ? `if ${type} ` : 'if a guard holds ';
}

/** What a machine has, by name, with a detail for people. */
export type MachinePlaces = {
  readonly machine: string;
  readonly states: ReadonlyMap<string, string>;
  readonly transitions: ReadonlyMap<string, string>;
};

/** Everything that can be visited in a machine. */
export function placesOf(machine: AnyStateMachine): MachinePlaces {
  const nodes = nodesOf(machine.root);
  return {
    machine: machine.id,
    states: new Map(nodes.map((node) => [stateKey(node), String(node.description ?? '')])),
    transitions: new Map(
      nodes.flatMap(transitionsOf).map(({ key, detail }) => [key, detail] as const),
    ),
  };
}

export type PlaceCount = {
  readonly visited: number;
  readonly total: number;
  /** Not visited, and the reason is known. */
  readonly excused: readonly { readonly place: string; readonly reason: string }[];
  /** Not visited, and nobody can say why. */
  readonly unexplained: readonly { readonly place: string; readonly detail: string }[];
  /** Visited although a reason says that it cannot be: the reason is wrong. */
  readonly wronglyExcused: readonly string[];
};
export type MachineCoverage = {
  readonly machine: string;
  readonly states: PlaceCount;
  readonly transitions: PlaceCount;
};

/** Answers why a place cannot be visited; null when it can. */
export type ReasonOf = (place: string) => string | null;

/** Holds what was visited against what each machine has. */
export function coverageOf(
  machines: readonly AnyStateMachine[],
  visits: ReadonlySet<string>,
  reasonOf: ReasonOf = () => null,
): readonly MachineCoverage[] {
  return machines.map((machine) => {
    const { states, transitions } = placesOf(machine);
    return {
      machine: machine.id,
      states: countPlaces(states, visits, reasonOf),
      transitions: countPlaces(transitions, visits, reasonOf),
    };
  });
}

function countPlaces(
  places: ReadonlyMap<string, string>,
  visits: ReadonlySet<string>,
  reasonOf: ReasonOf,
): PlaceCount {
  const excused: { place: string; reason: string }[] = [];
  const unexplained: { place: string; detail: string }[] = [];
  const wronglyExcused: string[] = [];
  let visited = 0;
  for (const [place, detail] of places) {
    const reason = reasonOf(place);
    if (visits.has(place)) {
      visited += 1;
      if (reason !== null) wronglyExcused.push(place);
    } else if (reason === null) unexplained.push({ place, detail });
    else excused.push({ place, reason });
  }
  return { visited, total: places.size, excused, unexplained, wronglyExcused };
}
