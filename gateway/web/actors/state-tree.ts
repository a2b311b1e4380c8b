// A machine as a tree of its states, with what leads from one to another: read from the machine itself, so that what is
// drawn cannot differ from what runs.
import type { AnyStateMachine, AnyStateNode } from 'xstate';
import type { Machine } from '../api/contract.ts';

export type Way = { readonly event: string; readonly targets: readonly string[] };
export type StateTree = {
  readonly key: string;
  /** Dotted, below the root; empty for the root. */
  readonly path: string;
  readonly kind: string;
  readonly description: string | null;
  readonly initial: string | null;
  readonly transitions: readonly Way[];
  readonly states: readonly StateTree[];
};

/** The tree of a machine that this page has. */
export function treeOf(machine: AnyStateMachine): StateTree {
  return nodeOf(machine.root);
}

function nodeOf(node: AnyStateNode): StateTree {
  const ways = [...node.transitions.values(), node.always ?? []].flat();
  return {
    key: node.key,
    path: node.path.join('.'),
    kind: node.type,
    description: node.description ?? null,
    initial: node.type === 'compound' ? (node.initial.target[0]?.key ?? null) : null,
    transitions: ways.map((one) => ({
      event: one.eventType === '' ? 'always' : one.eventType,
      targets: (one.target ?? []).map((target) => target.path.join('.')),
    })),
    states: Object.values(node.states).map(nodeOf),
  };
}

/** The tree of a machine that the Console described. */
export function treeOfView(machine: Machine): StateTree {
  return machine;
}

/** Every state that a value is in, by path. */
export function activeIn(value: unknown, above = ''): readonly string[] {
  const at = (name: string) => (above === '' ? name : `${above}.${name}`);
  if (typeof value === 'string') return [at(value)];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [at(name), ...activeIn(inner, at(name))]);
}

/** An event as people say it: a delay by its name, an invoked part by how it ended. */
export function eventWord(event: string): string {
  const [, delay] = /^xstate\.after\.([^.]+)\./.exec(event) ?? [];
  if (delay !== undefined)
    return `after ${/^\d+$/.test(delay) ? `${Number(delay) / 1_000} s` : delay}`;
  return event.replace(/^xstate\.(done|error)\.(actor|state)\..*$/, '$1');
}
