import { describe, expect, it } from 'vitest';
import { createActor, setup } from 'xstate';
import { beginCoverage, coverageOf, placesOf } from './coverage.ts';
import { MACHINES, UNREACHABLE } from './unreachable.ts';

const door = setup({
  types: { events: {} as { type: 'push' } | { type: 'lock' }, context: {} as { isStuck: boolean } },
  guards: { isStuck: () => false, never: () => false },
}).createMachine({
  id: 'door',
  context: { isStuck: false },
  initial: 'closed',
  states: {
    closed: {
      on: {
        push: [{ guard: 'isStuck', target: 'closed' }, { target: 'moving' }],
        lock: { target: 'locked' },
      },
    },
    moving: { always: [{ guard: 'never', target: 'closed' }, { target: 'open' }] },
    open: { type: 'final' },
    locked: {},
  },
});

describe('coverage', () => {
  it('should see states that are left at once, and which alternative was taken', () => {
    const visits = beginCoverage([door]);
    const actor = createActor(door).start();
    actor.send({ type: 'push' });
    expect([...visits].sort()).toEqual([
      'door',
      'door.closed',
      'door.closed push 1',
      'door.moving',
      'door.moving always 1',
      'door.open',
    ]);
  });

  it('should know a machine again that was made by provide', () => {
    const visits = beginCoverage([]);
    const actor = createActor(door.provide({ guards: { isStuck: () => true } })).start();
    actor.send({ type: 'push' });
    expect(visits).toContain('door.closed push 0');
    expect(visits).not.toContain('door.moving');
  });

  it('should begin anew without what an earlier run has seen', () => {
    const earlier = beginCoverage([door]);
    createActor(door).start();
    const later = beginCoverage([door]);
    expect(earlier.size).toBeGreaterThan(0);
    expect(later.size).toBe(0);
    createActor(door).start();
    expect([...later].sort()).toEqual([...earlier].sort());
  });

  it('should tell what is excused, what nobody can explain and what is excused wrongly', () => {
    const visits = new Set(['door', 'door.closed', 'door.closed lock 0', 'door.locked']);
    const excuses = new Map([
      ['door.open', 'it is stuck'],
      ['door.locked', 'there is no key'],
    ]);
    const [coverage] = coverageOf([door], visits, (place) => excuses.get(place) ?? null);
    expect(coverage?.states).toMatchObject({
      visited: 3,
      total: 5,
      excused: [{ place: 'door.open', reason: 'it is stuck' }],
      unexplained: [{ place: 'door.moving' }],
      wronglyExcused: ['door.locked'],
    });
    expect(coverage?.transitions.unexplained.map(({ place }) => place)).toEqual([
      'door.closed push 0',
      'door.closed push 1',
      'door.moving always 0',
      'door.moving always 1',
    ]);
  });

  it('should excuse only what the machines have', () => {
    const machines = MACHINES.map(placesOf);
    const places = new Set(
      machines.flatMap(({ states, transitions }) => [...states.keys(), ...transitions.keys()]),
    );
    const unknown = UNREACHABLE.filter(({ place }) => !places.has(place.replace(/\/\*$/, '')));
    expect(unknown).toEqual([]);
  });
});
