import { describe, expect, it } from 'vitest';
import { disputeSentence } from './clock.rules.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const NOW = Date.UTC(2026, 10, 28);
/** Two hours and thirteen minutes old, and valid for thirty days. */
const DATES = { notBeforeMs: NOW - 2 * HOUR - 13 * MINUTE, notAfterMs: NOW + 30 * DAY };
const sayAt = (nowMs: number, offsetMs: number | null) => disputeSentence(DATES, nowMs, offsetMs);

describe('disputeSentence', () => {
  it('should tell by how much the clock of the Console is off, and which way', () => {
    expect(sayAt(NOW, -26 * HOUR)).toBe(
      "the Console's clock is off by 1 d 2 h, behind this node's: it takes this node's certificate for not yet valid",
    );
    expect(sayAt(NOW, 30 * DAY)).toBe(
      "the Console's clock is off by 30 d, ahead of this node's: it takes this node's certificate for expired",
    );
  });

  it.each([
    ['is not known', null],
    ['does not explain it', 300],
    ['is a millisecond short of explaining it', DATES.notBeforeMs - NOW],
  ])('should tell a bound when the offset %s', (_why, offsetMs) => {
    expect(sayAt(NOW, offsetMs)).toBe(
      "the Console's clock is off by at least 2 h 13 min: it takes this node's certificate for expired or not yet valid",
    );
  });

  it('should take the nearer end of the certificate for the bound', () => {
    expect(sayAt(DATES.notAfterMs - 90_000, null)).toMatch(/ off by at least 1 min 30 s: /);
    expect(sayAt(DATES.notBeforeMs + 1, null)).toMatch(/ off by at least 0 s: /);
  });

  it('should accuse nobody when the certificate is not valid by this clock either', () => {
    const sentence =
      "a clock is wrong, this node's or the Console's: the Console takes this node's certificate for expired or not yet valid";
    expect(sayAt(DATES.notBeforeMs, null)).toBe(sentence);
    expect(sayAt(DATES.notBeforeMs - HOUR, 2 * HOUR)).toBe(sentence);
  });
});
