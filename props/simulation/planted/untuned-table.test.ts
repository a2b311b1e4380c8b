// What UNTUNED.md says of what was tried.
import { expect, it } from 'vitest';
import { PLANTED } from './all.ts';
import { FOUND_UNDER } from './found-under.ts';
import { type Look, untunedTable } from './untuned-table.ts';

const bugs = PLANTED.slice(0, 5);
const [chance, own, other, none, unasked] = bugs.map(({ name }) => name);

function look(bug: string | undefined, seed: number, more: Partial<Look>): Look {
  const usual = { drawn: 'untuned', profile: 'smoke', found: false, ended: 'held' };
  return { bug: bug ?? '', seed: String(seed), ...usual, ...more };
}

it('should tell what found a bug, after how many seeds, and of each that nothing did', () => {
  const looks = [
    look(chance, 2, { found: true, ended: 'revoked', profile: 'deliveries' }),
    look(chance, 1, {}),
    look(own, 1, { ended: 'no receivers' }),
    look(own, 1, { drawn: 'busy', profile: 'busy', ended: 'flows' }),
    look(own, 2, { drawn: 'busy', profile: 'busy', found: true, ended: 'revoked' }),
    look(other, 1, { ended: 'crash' }),
    look(none, 1, {}),
    look(none, 2, {}),
  ];
  const table = untunedTable(bugs, looks, '2026-11-29');
  const partOf = (title: string): string => table.split(`## ${title}`)[1]?.split('## ')[0] ?? '';

  expect(partOf('By ordinary seeds')).toMatch(`| ${chance} | `);
  expect(partOf('By ordinary seeds')).toMatch('| 2 of deliveries | 1 ordinary |');
  expect(partOf('By seeds of the profile')).toMatch(`| ${own} | `);
  expect(partOf('By seeds of the profile')).toMatch('| 2 of busy | 1 ordinary, 1 busy (flows) |');
  expect(partOf('By its own checker in no seed')).toMatch(
    '| 1 of smoke: crash | 1 ordinary (crash) |',
  );
  expect(partOf('By tuned runs alone')).toMatch(`| ${none} | `);
  expect(partOf('By tuned runs alone')).toMatch('| none | 2 ordinary |');
  expect(partOf('Not looked for')).toMatch(`| ${unasked} | `);
  expect(table).toMatch('- By tuned runs alone, so far: 1\n');
});

it('should name a profile once for a bug, and bugs that there are', () => {
  const named = Object.values(FOUND_UNDER).flat();
  const planted = PLANTED.map(({ name }) => name);
  expect(new Set(named).size).toBe(named.length);
  expect(named.filter((name) => !planted.includes(name))).toEqual([]);
});
