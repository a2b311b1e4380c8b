import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ownPath } from './return-to.ts';

describe('the way back after a login', () => {
  it('should keep a path of the page with its query', () => {
    expect(ownPath('/sensors?trust_health=degraded')).toBe('/sensors?trust_health=degraded');
  });

  it.each([
    ...['//evil.example', '/\\evil.example', 'https://evil.example', 'javascript:alert(1)'],
    ...['/\tevil.example', '/a\\..\\b', '', 'sensors', '/login?return_to=/login', undefined],
  ])('should lead to the start for %j', (given) => {
    expect(ownPath(given)).toBe('/');
  });

  it('should never leave this origin, whatever is given', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.webUrl(),
          fc.string(),
          fc.string().map((s) => `/${s}`),
        ),
        (given) => {
          const own = 'https://console.example';
          expect(new URL(ownPath(given), own).origin).toBe(own);
        },
      ),
    );
  });
});
