// What xstate's own transition() and initialTransition() do, with one idle actor for each machine: theirs make a new one for
// every move, which costs six times what the move costs. The laws hold both against each other.
import {
  type AnyActorLogic,
  createActor,
  type initialTransition as first,
  type transition as next,
} from 'xstate';

type Scope = Parameters<AnyActorLogic['transition']>[2];
const idle = new WeakMap<AnyActorLogic, ReturnType<typeof createActor>>();

function scopeOf(logic: AnyActorLogic, actions: unknown[]): Scope {
  const self = idle.get(logic) ?? createActor(logic);
  idle.set(logic, self);
  const nothing = (): void => undefined;
  return {
    ...{ self, system: self.system, id: '', sessionId: '', logger: nothing },
    ...{ defer: nothing, emit: nothing, stopChild: nothing },
    actionExecutor: (action: unknown) => void actions.push(action),
  } as Scope;
}

function moved(logic: AnyActorLogic, snapshot: unknown, event: unknown): unknown {
  const actions: unknown[] = [];
  return [logic.transition(snapshot as never, event, scopeOf(logic, actions)), actions];
}

function begun(logic: AnyActorLogic, input: unknown): unknown {
  const actions: unknown[] = [];
  return [logic.getInitialSnapshot(scopeOf(logic, actions), input), actions];
}

/** The next snapshot of a machine after an event, and the actions it asks for. */
export const transition = moved as typeof next;
/** The first snapshot of a machine, and the actions it asks for. */
export const initialTransition = begun as typeof first;
