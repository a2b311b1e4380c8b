import { describe, expect, it } from 'vitest';
import { span } from '../../../machines/span.ts';
import { bytes, exact, short, shortId } from './numbers.ts';

describe('numbers', () => {
  it('should separate thousands and shorten what is long', () => {
    expect([exact(1_234_567), short(9_999), short(1_240_000)]).toEqual([
      ...['1,234,567', '9,999', '1.24M'],
    ]);
  });

  it('should say bytes with three digits at most', () => {
    expect([bytes(0), bytes(999), bytes(3_100), bytes(12_345_678)]).toEqual([
      ...['0 B', '999 B', '3.1 kB', '12.3 MB'],
    ]);
  });

  it('should say a span in its two largest units', () => {
    expect([span(-5), span(45_000), span(4_320_000), span(90_061_000)]).toEqual([
      ...['0 s', '45 s', '1 h 12 min', '1 d 1 h'],
    ]);
  });

  it('should leave out the middle of a long id only', () => {
    expect([shortId('short'), shortId('01890a5d-ac96-774b-bcce-b302099a8057')]).toEqual([
      ...['short', '01890a5d…8057'],
    ]);
  });
});
