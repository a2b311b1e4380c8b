import { expect, it } from 'vitest';
import { joined } from './joined.ts';

it('should join what is declared, and refuse a name that is declared twice', () => {
  const all = joined({ ONE: { a: 1, b: 2 }, OTHER: { c: 'x' } });
  const c: string = all.c;
  expect([all, c]).toEqual([{ a: 1, b: 2, c: 'x' }, 'x']);
  expect(() => joined({ ONE: { a: 1 }, OTHER: { a: 1 } })).toThrow('a is declared twice');
});
