// The definition of a machine as plain JSON: states with their meaning, and every transition by the names that setup()
// gave its guards and actions.
import type { AnyStateMachine, AnyStateNode } from 'xstate';

export type TransitionView = {
  readonly event: string;
  readonly targets: readonly string[];
  readonly guard: string | null;
  readonly actions: readonly string[];
};
export type StateView = {
  readonly key: string;
  readonly path: string;
  readonly kind: string;
  readonly description: string | null;
  readonly initial: string | null;
  readonly tags: readonly string[];
  readonly entry: readonly string[];
  readonly exit: readonly string[];
  readonly invokes: readonly string[];
  readonly transitions: readonly TransitionView[];
  readonly states: readonly StateView[];
};

/** Describes a machine from its root. */
export function machineView(machine: AnyStateMachine) {
  return { id: machine.id, ...stateView(machine.root) };
}

function stateView(node: AnyStateNode): StateView {
  const transitions = [...node.transitions.values(), node.always ?? []].flat();
  return {
    key: node.key,
    path: node.path.join('.'),
    kind: node.type,
    description: node.description ?? null,
    initial: node.type === 'compound' ? (node.initial.target[0]?.key ?? null) : null,
    tags: [...node.tags].sort(),
    entry: node.entry.map(nameOf),
    exit: node.exit.map(nameOf),
    invokes: node.invoke.map((one) => nameOf(one.src)),
    transitions: transitions.map((one) => ({
      event: one.eventType === '' ? 'always' : one.eventType,
      targets: (one.target ?? []).map((target) => target.path.join('.')),
      guard: one.guard === undefined ? null : nameOf(one.guard),
      actions: one.actions.map(nameOf),
    })),
    states: Object.values(node.states).map(stateView),
  };
}

function nameOf(part: unknown): string {
  if (typeof part === 'string') return part;
  if (typeof part === 'function') return part.name === '' ? 'inline' : part.name;
  if (typeof part !== 'object' || part === null || !('type' in part)) return 'inline';
  return typeof part.type === 'string' ? part.type : 'inline';
}
