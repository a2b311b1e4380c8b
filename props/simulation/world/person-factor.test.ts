// What somebody's app shows after PostgreSQL was put back. A person who was shut out for good was wrong of the world: an app
// keeps what once counted.
import { expect, it } from 'vitest';
import { newPerson } from './person.ts';
import { tellOfRestores } from './person-factor.ts';
import { createWorld } from './world.ts';

it('should first show what counted when the backup was taken, however often the factor was set up since', async () => {
  const world = createWorld('factor');
  const person = newPerson('person-1', false);
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  person.app.history = [
    ...names.map((secret, at) => ({ secret, atMs: 1_000 * at })),
    { secret: 'b', atMs: 7_000 },
  ];
  person.app.secrets = ['g', 'f', 'e', 'd'];
  tellOfRestores({ world }, person);
  await world.scheduler.runUntil(20_000);

  // A word that is in doubt says nothing of before.
  world.observe({ kind: 'relational.forgot', sinceMs: 20_000 });
  expect(person.app.secrets).toEqual(['g', 'f', 'e', 'd']);
  world.observe({ kind: 'relational.forgot', sinceMs: 1_500 });
  expect(person.app.secrets).toEqual(['b', 'a', 'g', 'f']);
  // It was put back before, and what counted then was taken once more.
  world.observe({ kind: 'relational.forgot', sinceMs: 8_000 });
  expect(person.app.secrets).toEqual(['b', 'g', 'f', 'e']);
});
