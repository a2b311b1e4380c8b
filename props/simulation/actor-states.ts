// Which state the actors of each simulated process are in, for the report of a failing run. Actors cannot be reached from
// outside their process; so the last snapshot of each is kept where machines take their events, and the wheel an actor
// runs on tells whose it is.
import {
  type Actor,
  type AnyActorScope,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  StateMachine,
  type StateValue,
} from 'xstate';
import { hostOfWheel } from './world/clocks.ts';

type OfHost = { readonly wheel: object; readonly machines: Map<string, AnyMachineSnapshot> };

/** The newest snapshots of a host's actors; the Console's twins are asked where they live. */
export type ActorStates = {
  /** State value by the name of the machine; of two actors of one machine, the one that moved last. */
  of(host: string): ReadonlyMap<string, StateValue>;
};

/** Keeps the newest snapshots from now on, for the rest of this process. */
export function watchActorStates(): ActorStates {
  const hosts = new Map<string, OfHost>();
  // An actor may run on a clock that stands before its process's wheel. It is made in one go with actors that run on the
  // wheel itself, so the wheel seen just before is the one behind it.
  const behind = new WeakMap<object, object>();
  let lastWheel: object | null = null;

  function wheelBehind(clock: object): object | null {
    if (hostOfWheel(clock) !== null) {
      lastWheel = clock;
      return clock;
    }
    const known = behind.get(clock) ?? lastWheel;
    if (known !== null) behind.set(clock, known);
    return known;
  }

  function keep(snapshot: AnyMachineSnapshot, scope: AnyActorScope): void {
    const wheel = wheelBehind((scope.self as Actor<AnyStateMachine>).clock);
    const host = wheel === null ? null : hostOfWheel(wheel);
    if (wheel === null || host === null) return;
    let own = hosts.get(host);
    if (own?.wheel !== wheel) {
      // Another life of the process: what the earlier one held is gone.
      own = { wheel, machines: new Map() };
      hosts.set(host, own);
    }
    own.machines.set(snapshot.machine.id, snapshot);
  }

  const { transition, getInitialSnapshot } = StateMachine.prototype;
  StateMachine.prototype.transition = function (snapshot, event, scope) {
    const next = transition.call(this, snapshot, event, scope);
    keep(next, scope);
    return next;
  };
  StateMachine.prototype.getInitialSnapshot = function (scope, input) {
    const next = getInitialSnapshot.call(this, scope, input);
    keep(next, scope);
    return next;
  };
  return {
    of(host) {
      const machines = hosts.get(host)?.machines ?? new Map<string, AnyMachineSnapshot>();
      return new Map([...machines].map(([name, { value }]) => [name, value] as const));
    },
  };
}
