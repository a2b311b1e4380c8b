import { describe, expect, it } from 'vitest';
import { numbersIn } from './numbers-in.ts';

describe('numbersIn', () => {
  it('should find whole numbers from 1, each once, in their order', () => {
    expect(numbersIn('25, 50 25,,x 0 -1 1.5 3')).toEqual([25, 50, 3]);
    expect(numbersIn('')).toEqual([]);
  });
});
