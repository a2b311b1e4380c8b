// A new API key never holds more than its maker, and never lives longer than it may. decision: D36, D43
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { API_KEY_TTL_DEFAULT_MS, API_KEY_TTL_MAX_MS } from '../../machines/limits.ts';
import { KEY_SCOPES, keyTermsOf } from '../../machines/trust/api-key.rules.ts';
import { ROLE_SCOPES, ROLES, scopesOf } from '../../machines/trust/roles.rules.ts';

const NOW_MS = 1_800_000_000_000;
const role = fc.constantFrom(...ROLES);
const scopes = fc.array(fc.constantFrom(...KEY_SCOPES));
const expiry = fc.oneof(
  fc.constantFrom(null, undefined, NOW_MS, NOW_MS + 1),
  fc.constantFrom(NOW_MS + API_KEY_TTL_MAX_MS, NOW_MS + API_KEY_TTL_MAX_MS + 1),
  fc.integer({ min: NOW_MS - API_KEY_TTL_MAX_MS, max: NOW_MS + 2 * API_KEY_TTL_MAX_MS }),
);

describe('a new API key', () => {
  it('never holds a scope that its maker does not, whatever it asks for', () => {
    fc.assert(
      fc.property(role, scopes, expiry, (maker, asked, expiresAtMs) => {
        const terms = keyTermsOf(
          { name: 'k', scopes: asked, expiresAtMs },
          { role: maker, nowMs: NOW_MS },
        );
        if (!terms.ok) return;
        expect(new Set(terms.scopes)).toEqual(new Set(asked));
        for (const later of ROLES) {
          const held = scopesOf(later, terms.scopes);
          if (maker !== 'admin') {
            expect(ROLE_SCOPES[maker]).toEqual(expect.arrayContaining([...held]));
          }
          expect(ROLE_SCOPES[later]).toEqual(expect.arrayContaining([...held]));
        }
      }),
    );
  });

  it('always ends within a year, but for an admin who wants it to last', () => {
    fc.assert(
      fc.property(role, expiry, (maker, expiresAtMs) => {
        const request = { name: 'k', scopes: ['system:read'] as const, expiresAtMs };
        const terms = keyTermsOf(request, { role: maker, nowMs: NOW_MS });
        const isGood =
          expiresAtMs === null
            ? maker === 'admin'
            : expiresAtMs === undefined ||
              (expiresAtMs > NOW_MS && expiresAtMs <= NOW_MS + API_KEY_TTL_MAX_MS);
        expect(terms.ok).toBe(isGood);
        const endsAtMs = expiresAtMs === undefined ? NOW_MS + API_KEY_TTL_DEFAULT_MS : expiresAtMs;
        if (terms.ok) expect(terms.expiresAtMs).toBe(endsAtMs);
      }),
    );
  });

  it('never is nameless or without a scope', () => {
    const by = { role: 'admin', nowMs: NOW_MS } as const;
    expect(keyTermsOf({ name: ' ', scopes: ['admin'] }, by)).toMatchObject({
      code: 'schema_violation',
    });
    expect(keyTermsOf({ name: 'k', scopes: [] }, by)).toMatchObject({ code: 'schema_violation' });
  });
});
