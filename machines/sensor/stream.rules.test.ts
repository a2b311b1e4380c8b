import { describe, expect, it } from 'vitest';
import { isHeldByConsole, silenceMaxMs } from './stream.rules.ts';

describe('stream rules', () => {
  it('should count the Console as gone after the pings it may miss and one more', () => {
    expect(silenceMaxMs(10)).toBe(30);
    expect(silenceMaxMs()).toBe(30_000);
  });

  it('should know the open batch as held from its own number on', () => {
    expect([4, 5, 6].map((acknowledged) => isHeldByConsole(5, acknowledged))).toEqual([
      false,
      true,
      true,
    ]);
    expect(isHeldByConsole(null, 9)).toBe(false);
  });
});
