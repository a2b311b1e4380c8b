import { describe, expect, it } from 'vitest';
import { silenceMaxMs } from './stream.rules.ts';

describe('stream rules', () => {
  it('should count the Console as gone after the pings it may miss and one more', () => {
    expect(silenceMaxMs(10)).toBe(30);
    expect(silenceMaxMs()).toBe(30_000);
  });
});
