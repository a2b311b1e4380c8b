// From a tree of states to what is laid out: one frame for each region, in it a graph of states and ways. What a region
// does in whatever state it is starts at a dot that says so.
import { eventWord, type StateTree } from './state-tree.ts';

export type GraphState = {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly isFinal: boolean;
  readonly is: 'state' | 'group' | 'initial' | 'any';
  readonly children: readonly GraphState[];
};
export type GraphWay = {
  readonly id: string;
  readonly source: string;
  readonly target: string;
  readonly events: readonly string[];
};
export type Frame = {
  readonly id: string;
  readonly title: string;
  readonly states: readonly GraphState[];
  readonly ways: readonly GraphWay[];
};

/** The frames of a machine, in its own order. */
export function framesOf(tree: StateTree): readonly Frame[] {
  const regions = tree.kind === 'parallel' ? tree.states : [tree];
  return regions.map(frameOf);
}

function frameOf(region: StateTree): Frame {
  const { states, ways } = inside(region);
  return { id: region.path, title: region.key, states, ways: merged(ways) };
}

type Single = { readonly source: string; readonly target: string; readonly event: string };

function inside(parent: StateTree): { states: GraphState[]; ways: Single[] } {
  const prefix = parent.path === '' ? '' : `${parent.path}.`;
  const initialId = `${prefix}#initial`;
  const anyId = `${prefix}#any`;
  const ways: Single[] = [];
  const states: GraphState[] = parent.states.map((state) => {
    const below = inside(state);
    ways.push(...below.ways, ...waysFrom(state.path, state));
    return stateOf(state, below.states);
  });
  const fromAny = waysFrom(anyId, parent).filter(({ target }) => target.startsWith(prefix));
  if (fromAny.length > 0 && parent.states.length > 0) {
    states.unshift(dot(anyId, 'any'));
    ways.push(...fromAny);
  }
  if (parent.initial !== null) {
    states.unshift(dot(initialId, 'initial'));
    ways.push({ source: initialId, target: `${prefix}${parent.initial}`, event: '' });
  }
  return { states, ways };
}

function waysFrom(source: string, { transitions }: StateTree): Single[] {
  return transitions.flatMap(({ event, targets }) =>
    targets.map((target) => ({ source, target, event: eventWord(event) })),
  );
}

function stateOf(state: StateTree, children: readonly GraphState[]): GraphState {
  return {
    id: state.path,
    name: state.key,
    description: state.description,
    isFinal: state.kind === 'final',
    is: children.length > 0 ? 'group' : 'state',
    children,
  };
}

function dot(id: string, is: 'initial' | 'any'): GraphState {
  return { id, name: is, description: null, isFinal: false, is, children: [] };
}

// One line between two states, whatever leads along it; who stays where it is needs none.
function merged(ways: readonly Single[]): readonly GraphWay[] {
  const byPair = new Map<string, Single[]>();
  for (const way of ways) {
    if (way.source === way.target) continue;
    const pair = `${way.source}→${way.target}`;
    byPair.set(pair, [...(byPair.get(pair) ?? []), way]);
  }
  return [...byPair].flatMap(([id, [first, ...more]]) =>
    first === undefined
      ? []
      : [
          {
            ...{ id, source: first.source, target: first.target },
            events: [...new Set([first, ...more].map(({ event }) => event))],
          },
        ],
  );
}
