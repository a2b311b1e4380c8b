// The laws every machine obeys, proven through transition() alone: no clock, no actor, no mock. Timers and the results
// of invoked actors are fed in as plain events. invariant: I8
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AnyActorLogic, AnyMachineSnapshot, AnyStateMachine, EventObject } from 'xstate';
import * as xstate from 'xstate';

import { activeNodesOf } from '../../actors/runtime/state-value.ts';

import { effectsOf, whyNotJson } from './law-values.ts';
import { initialTransition, transition } from './moves.ts';

const TIMER_MAX_MS = 100 * 365 * 24 * 3_600_000;
/** What a timer counts to that waits for nothing. */
const NEVER_MS = Number.MAX_SAFE_INTEGER;
const CONTEXT_JSON_MAX_CHARS = 200_000;
const STEPS_MAX = 40;
const RANDOM_WALKS = 500;
const OUTPUT_SAMPLES = 12;
const VALUES_EXPLORED_MAX = 400;

export type LawSubject = {
  readonly name: string;
  readonly machine: AnyStateMachine;
  readonly input: fc.Arbitrary<unknown>;
  /** Every event the machine may meet; timers and results of invoked actors are added by the laws. */
  readonly events: fc.Arbitrary<EventObject>;
  /** State node ids that no traversal from these events can reach, each with the reason. */
  readonly unreachable?: Readonly<Record<string, string>>;
  /** Results that invoked actors may end with, by their `src`. */
  readonly outputs?: Readonly<Record<string, fc.Arbitrary<unknown>>>;
};

type Step = readonly [AnyMachineSnapshot, readonly unknown[]];

/** Declares the shared laws for one machine. */
export function describeMachineLaws(subject: LawSubject): void {
  const runs = fc.tuple(
    subject.input,
    fc.array(subject.events, { maxLength: STEPS_MAX }),
    fc.array(fc.nat(), { maxLength: STEPS_MAX }),
  );

  describe(`${subject.name}: laws`, () => {
    // The second walk is the library's own, so that moves.ts is held against it too.
    it('is deterministic', () => {
      fc.assert(
        fc.property(runs, ([input, events, choices]) => {
          const [first, second] = [
            walk(subject, input, events, choices),
            walk(subject, input, events, choices, xstate),
          ];
          expect(second.map(shapeOf)).toStrictEqual(first.map(shapeOf));
        }),
      );
    });

    it('never throws on any event in any state and never ends in error', () => {
      fc.assert(
        fc.property(runs, ([input, events, choices]) => {
          for (const [snapshot] of walk(subject, input, events, choices)) {
            expect(snapshot.status).not.toBe('error');
          }
        }),
      );
    });

    it('keeps its timers bounded', () => {
      fc.assert(
        fc.property(runs, ([input, events, choices]) => {
          for (const [snapshot, actions] of walk(subject, input, events, choices)) {
            for (const delayMs of delaysOf(actions)) {
              expect(delayMs).toBeGreaterThanOrEqual(0);
              if (delayMs !== NEVER_MS) expect(delayMs).toBeLessThanOrEqual(TIMER_MAX_MS);
            }
            expect(timersOf(snapshot).length).toBeLessThan(64);
          }
        }),
      );
    });

    it('keeps its context JSON-safe and bounded', () => {
      fc.assert(
        fc.property(runs, ([input, events, choices]) => {
          for (const [snapshot] of walk(subject, input, events, choices)) {
            expect(whyNotJson(snapshot.context)).toBeNull();
            expect(JSON.stringify(snapshot.context).length).toBeLessThan(CONTEXT_JSON_MAX_CHARS);
          }
        }),
      );
    });

    it('is quiet in final states', () => {
      fc.assert(
        fc.property(runs, ([input, events, choices]) => {
          let done: AnyMachineSnapshot | null = null;
          for (const [snapshot, actions] of walk(subject, input, events, choices)) {
            if (done !== null) {
              expect(snapshot.value).toEqual(done.value);
              expect(actions).toEqual([]);
            }
            if (snapshot.status === 'done') done = snapshot;
          }
        }),
      );
    });

    it('visits every state node of every region', () => {
      const missing = [...allStateIds(subject.machine)].filter(
        (id) => !visitedIds(subject).has(id),
      );
      const excused = Object.keys(subject.unreachable ?? {});
      expect(missing.filter((id) => !excused.includes(id))).toEqual([]);
      expect(excused.filter((id) => !missing.includes(id))).toEqual([]);
    });
  });
}

/** Walks a machine through events, interleaving timers and results of invoked actors as the choices say. */
export function walk(
  subject: LawSubject,
  input: unknown,
  events: readonly EventObject[],
  choices: readonly number[],
  by: Pick<typeof xstate, 'initialTransition' | 'transition'> = { initialTransition, transition },
): Step[] {
  const machine = subject.machine as AnyActorLogic;
  const steps: Step[] = [by.initialTransition(machine, input) as Step];
  events.forEach((event, index) => {
    for (const next of [internalEvent(subject, last(steps)[0], choices[index] ?? 0), event]) {
      if (next !== null) steps.push(by.transition(machine, last(steps)[0], next) as Step);
    }
  });
  return steps;
}

// One choice in three lets a timer fire, one lets an invoked actor end, well or badly; the rest do nothing.
function internalEvent(
  subject: LawSubject,
  snapshot: AnyMachineSnapshot,
  choice: number,
): EventObject | null {
  if (snapshot.status !== 'active') return null;
  const possible = internalEvents(subject, snapshot);
  return choice % 3 === 0 ? null : (possible[choice % Math.max(1, possible.length)] ?? null);
}

/** Timers that could fire and results that could arrive in a snapshot, as plain events. */
export function internalEvents(subject: LawSubject, snapshot: AnyMachineSnapshot): EventObject[] {
  const timers = timersOf(snapshot).map((type) => ({ type }));
  const results = activeNodesOf(snapshot).flatMap((node) =>
    node.invoke.flatMap(({ id, src }): EventObject[] => {
      const outputs = typeof src === 'string' ? subject.outputs?.[src] : undefined;
      const samples = outputs === undefined ? [undefined] : samplesOf(outputs);
      return [
        ...samples.map((output) => ({ type: `xstate.done.actor.${id}`, output, actorId: id })),
        {
          type: `xstate.error.actor.${id}`,
          error: new Error('refused'),
          actorId: id,
        } as EventObject,
      ];
    }),
  );
  return [...timers, ...results];
}

/** The same results at every step of every walk: they are made once. */
const sampled = new WeakMap<fc.Arbitrary<unknown>, readonly unknown[]>();
function samplesOf(outputs: fc.Arbitrary<unknown>): readonly unknown[] {
  const known = sampled.get(outputs);
  if (known !== undefined) return known;
  const made = fc.sample(outputs, { numRuns: OUTPUT_SAMPLES, seed: 7 });
  sampled.set(outputs, made);
  return made;
}

function timersOf(snapshot: AnyMachineSnapshot): string[] {
  return activeNodesOf(snapshot).flatMap((node) => node.after.map(({ eventType }) => eventType));
}

function delaysOf(actions: readonly unknown[]): number[] {
  return actions.flatMap((action) => {
    const delay = (action as { params?: { delay?: unknown } }).params?.delay;
    return typeof delay === 'number' ? [delay] : [];
  });
}

function shapeOf([snapshot, actions]: Step) {
  return {
    value: snapshot.value,
    context: snapshot.context,
    status: snapshot.status,
    actions: effectsOf(actions),
  };
}

const visitedCache = new WeakMap<LawSubject, Set<string>>();
function visitedIds(subject: LawSubject): Set<string> {
  const known = visitedCache.get(subject);
  if (known !== undefined) return known;
  const visited = new Set<string>();
  visitedCache.set(subject, visited);
  // Walking at random soon finds almost all, also where parallel regions make a traversal long, and what only a context
  // of some length leads to; the traversal finds the rest. Where nothing is left to find either would only take time.
  const all = [...allStateIds(subject.machine)];
  const isWhole = (): boolean => all.every((id) => visited.has(id));
  const runs = fc.sample(
    fc.tuple(
      subject.input,
      fc.array(subject.events, { minLength: 5, maxLength: STEPS_MAX }),
      fc.array(fc.nat(), { maxLength: STEPS_MAX }),
    ),
    { numRuns: RANDOM_WALKS, seed: 1 },
  );
  for (const [input, events, choices] of runs) {
    for (const [snapshot] of walk(subject, input, events, choices)) note(visited, snapshot);
    if (isWhole()) return visited;
  }
  explore(subject, visited, isWhole);
  return visited;
}

// Breadth first over state values: two snapshots that differ only in context count as one, so the traversal ends.
function explore(subject: LawSubject, visited: Set<string>, isWhole: () => boolean): void {
  const machine = subject.machine as AnyActorLogic;
  const events = fc.sample(subject.events, { numRuns: 60, seed: 2 });
  const seen = new Set<string>();
  const frontier = fc
    .sample(subject.input, { numRuns: 20, seed: 3 })
    .map((input) => (initialTransition(machine, input) as Step)[0]);
  for (let snapshot = frontier.shift(); snapshot !== undefined; snapshot = frontier.shift()) {
    const key = JSON.stringify(snapshot.value);
    if (seen.has(key) || seen.size > VALUES_EXPLORED_MAX) continue;
    seen.add(key);
    note(visited, snapshot);
    if (isWhole()) return;
    for (const event of [...internalEvents(subject, snapshot), ...events]) {
      const next = (transition(machine, snapshot, event) as Step)[0];
      note(visited, next);
      if (!seen.has(JSON.stringify(next.value))) frontier.push(next);
    }
  }
}

function note(visited: Set<string>, snapshot: AnyMachineSnapshot): void {
  for (const node of activeNodesOf(snapshot)) visited.add(node.id);
}

// Transient states are left within the step that enters them, so no snapshot rests in one.
function allStateIds(machine: AnyStateMachine): Set<string> {
  const ids = new Set<string>();
  const visit = (node: AnyStateMachine['root']): void => {
    const isTransient = (node.always ?? []).some((one) => one.guard === undefined);
    if (!isTransient) ids.add(node.id);
    for (const child of Object.values(node.states)) visit(child);
  };
  visit(machine.root);
  return ids;
}

function last(steps: readonly Step[]): Step {
  const step = steps.at(-1);
  if (step === undefined) throw new Error('a walk begins with a step');
  return step;
}
