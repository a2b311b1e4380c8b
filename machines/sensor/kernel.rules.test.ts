import { describe, expect, it } from 'vitest';
import { isPreemptRt, kernelRelease } from './kernel.rules.ts';

const version = (kind: string) =>
  `Linux version 6.1.0-18 (builder@host) (gcc 12) #1 SMP ${kind} Debian\n`;

describe('kernel rules', () => {
  it.each([
    ['PREEMPT_RT', true],
    ['PREEMPT RT', true],
    ['PREEMPT_RT_FULL', true],
    ['PREEMPT_DYNAMIC', false],
    ['PREEMPT', false],
    ['', false],
  ])('should tell of %s that it is real-time: %s', (kind, expected) => {
    expect(isPreemptRt(version(kind))).toBe(expected);
  });

  it('should name the release, or say that it is unknown', () => {
    expect(kernelRelease(version('PREEMPT'))).toBe('6.1.0-18');
    expect(kernelRelease(`Not ${version('PREEMPT')}`)).toBe('unknown');
    expect(kernelRelease('')).toBe('unknown');
  });
});
