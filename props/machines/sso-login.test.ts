// Whoever logs in through a provider gets what was mapped and no more, is known by subject alone, and takes over nothing
// by an address that nobody verified. decision: D40; invariant: I18
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ssoLoginMachine } from '../../machines/console/access/sso-login.machine.ts';
import {
  judgePerson,
  type KnownAccounts,
  localPathOf,
  personOf,
  roleOfGroups,
  type SsoPerson,
  type SsoPolicy,
} from '../../machines/console/access/sso-login.rules.ts';
import {
  mistakeOfIssuer,
  SSO_KINDS,
  SSO_PRESETS,
} from '../../machines/console/access/sso-provider.rules.ts';
import { ROLE_LEVELS, ROLES } from '../../machines/trust/roles.rules.ts';
import { describeMachineLaws } from './laws.ts';

const START_MS = 1_800_000_000_000;
const role = fc.constantFrom(...ROLES);
const group = fc.constantFrom('ops', 'dev', 'all', '__proto__', 'constructor', 'nobody');
const domain = fc.constantFrom('example.org', 'example.com');
const policy: fc.Arbitrary<SsoPolicy> = fc.record({
  groupRoles: fc
    .array(fc.tuple(group, role), { maxLength: 5 })
    .map((pairs) => Object.fromEntries(pairs)),
  defaultRole: fc.option(role),
  createsUsers: fc.boolean(),
  domains: fc.uniqueArray(domain),
  linkDomains: fc.uniqueArray(domain),
});
const person: fc.Arbitrary<SsoPerson> = fc.record({
  subject: fc.constantFrom('s1', 's2'),
  email: fc.option(fc.constantFrom('ann@example.org', 'Bob@Example.COM', 'eve@evil.example')),
  isEmailVerified: fc.boolean(),
  name: fc.option(fc.constant('Ann')),
  groups: fc.option(fc.array(group, { maxLength: 4 })),
  hasMoreGroups: fc.boolean(),
});
const account = (userId: string) =>
  fc.option(fc.record({ userId: fc.constant(userId), isActive: fc.boolean() }));
const known: fc.Arbitrary<KnownAccounts> = fc.record({
  linked: account('linked'),
  made: account('made'),
  sameEmail: account('same'),
});
const failed = fc.record({
  ok: fc.constant(false as const),
  code: fc.constantFrom('sso_answer_refused' as const, 'sso_provider_unavailable' as const),
  reason: fc.constant('because'),
});

// Most logins are ordinary ones, or no walk would come as far as a session: everybody may come in, and everything answers.
const ORDINARY: SsoPolicy = {
  groupRoles: {},
  defaultRole: 'viewer',
  createsUsers: true,
  domains: [],
  linkDomains: ['example.org', 'example.com'],
};
const ANN: SsoPerson = {
  subject: 's1',
  email: 'ann@example.org',
  isEmailVerified: true,
  name: null,
  groups: null,
  hasMoreGroups: false,
};
const NOBODY: KnownAccounts = { linked: null, made: null, sameEmail: null };
function mostly<A>(ordinary: A, any: fc.Arbitrary<A>): fc.Arbitrary<A> {
  return fc.oneof({ weight: 2, arbitrary: fc.constant(ordinary) }, { weight: 1, arbitrary: any });
}

describeMachineLaws({
  name: 'sso-login',
  machine: ssoLoginMachine,
  input: fc.record({
    policy: mostly(ORDINARY, policy),
    expiresAtMs: fc.constant(START_MS + 1_000),
  }),
  events: mostly(
    { type: 'login.returned', atMs: START_MS, isSameBrowser: true, isDenied: false },
    fc.record({
      type: fc.constant('login.returned' as const),
      atMs: fc.integer({ min: START_MS, max: START_MS + 2_000 }),
      isSameBrowser: fc.boolean(),
      isDenied: fc.boolean(),
    }),
  ),
  outputs: {
    exchangeCode: fc.oneof(
      fc.record({ ok: fc.constant(true as const), person: mostly(ANN, person) }),
      failed,
    ),
    findAccounts: fc.oneof(
      fc.record({ ok: fc.constant(true as const), known: mostly(NOBODY, known) }),
      failed,
    ),
    admitPerson: fc.oneof(
      fc.constant({ ok: true as const, userId: 'user' }),
      fc.constant({ ok: 'changed' as const }),
      failed,
    ),
  },
});

describe('the verdict on a person', () => {
  it('never gives a role above the highest that is mapped, nor one that is not mapped', () => {
    fc.assert(
      fc.property(person, policy, known, (one, rules, accounts) => {
        const verdict = judgePerson(one, rules, accounts);
        if (verdict.do === 'refuse' || verdict.role === null) return;
        const mapped = (one.groups ?? []).flatMap((name) => {
          const its = Object.hasOwn(rules.groupRoles, name) ? rules.groupRoles[name] : undefined;
          return its === undefined ? [] : [its];
        });
        if (mapped.length === 0) expect(verdict.role).toBe(rules.defaultRole);
        else {
          expect(mapped).toContain(verdict.role);
          const highest = Math.max(...mapped.map((its) => ROLE_LEVELS[its]));
          expect(ROLE_LEVELS[verdict.role]).toBe(highest);
        }
      }),
    );
  });

  it('never makes or takes over an account by an address that is not verified', () => {
    fc.assert(
      fc.property(person, policy, known, (one, rules, accounts) => {
        const verdict = judgePerson({ ...one, isEmailVerified: false }, rules, accounts);
        expect(['refuse', 'login']).toContain(verdict.do);
        if (verdict.do === 'login') expect(verdict.userId).toBe('linked');
      }),
    );
  });

  it('never takes over an account outside the domains that are trusted for it', () => {
    fc.assert(
      fc.property(person, policy, known, (one, rules, accounts) => {
        const verdict = judgePerson(one, rules, { ...accounts, made: null });
        if (verdict.do !== 'link') return;
        expect(verdict.userId).toBe('same');
        expect(rules.linkDomains).toContain(one.email?.split('@')[1]?.toLowerCase());
      }),
    );
  });

  it('never lets in who is disabled, outside the domains, or of unknown groups', () => {
    fc.assert(
      fc.property(person, policy, known, (one, rules, accounts) => {
        const verdict = judgePerson(one, rules, accounts);
        if (verdict.do === 'refuse') return;
        expect(one.hasMoreGroups).toBe(false);
        if (rules.domains.length > 0) {
          expect(rules.domains).toContain(one.email?.split('@')[1]?.toLowerCase());
        }
        if (verdict.do === 'create') {
          expect(rules.createsUsers).toBe(true);
          expect([accounts.linked, accounts.sameEmail]).toEqual([null, null]);
          return;
        }
        const all = [accounts.linked, accounts.made, accounts.sameEmail];
        expect(all.find((its) => its?.userId === verdict.userId)?.isActive).toBe(true);
      }),
    );
  });

  it('gives the same role whatever the order of the groups', () => {
    fc.assert(
      fc.property(fc.array(group, { maxLength: 6 }), policy, (groups, rules) => {
        expect(roleOfGroups(groups.toReversed(), rules)).toBe(roleOfGroups(groups, rules));
      }),
    );
  });
});

describe('claims', () => {
  it('never break the reading of them, and verify nothing that is not said plainly', () => {
    const claims = fc.dictionary(
      fc.constantFrom('sub', 'email', 'email_verified', 'xms_edov', 'hd', 'groups', 'name'),
      fc.anything(),
    );
    fc.assert(
      fc.property(claims, fc.constantFrom(...SSO_KINDS), (told, kind) => {
        const one = personOf(kind, told, 'groups');
        if (one === null) return;
        expect(one.subject).toBe(told['sub']);
        if (one.isEmailVerified) {
          expect(one.email).toBe(told['email']);
          if (kind !== 'entra') expect(told['email_verified']).toBe(true);
        }
        expect(one.groups?.every((name) => typeof name === 'string')).toBe(true);
      }),
    );
  });

  it('of Entra and Google are verified by what these two mean by it', () => {
    const email = 'ann@example.org';
    const verified = (kind: 'entra' | 'google', more: Record<string, unknown>) =>
      personOf(kind, { sub: 's', email, ...more }, null)?.isEmailVerified;
    expect(verified('entra', { email_verified: true })).toBe(false);
    expect(verified('entra', { xms_edov: '1' })).toBe(true);
    expect(verified('google', { email_verified: true })).toBe(false);
    expect(verified('google', { email_verified: true, hd: 'example.org' })).toBe(true);
    expect(verified('google', { email_verified: true, email: 'ann@gmail.com' })).toBe(true);
  });

  it('tell groups by name or by path, and that some are missing', () => {
    const told = { sub: 's', realm_access: { roles: ['a'] }, 'x.y': ['b'] };
    expect(personOf('keycloak', told, 'realm_access.roles')?.groups).toEqual(['a']);
    expect(personOf('keycloak', told, 'x.y')?.groups).toEqual(['b']);
    expect(personOf('keycloak', told, 'none')?.groups).toEqual([]);
    const overage = { sub: 's', _claim_names: { groups: 'src1' } };
    expect(personOf('entra', overage, 'groups')?.hasMoreGroups).toBe(true);
  });
});

describe('an issuer', () => {
  it('of each kind is taken in its own form, and never with a query, a fragment or a user', () => {
    const good: Readonly<Record<(typeof SSO_KINDS)[number], string>> = {
      google: 'https://accounts.google.com',
      entra: 'https://login.microsoftonline.com/0f8a1c52-6a1d-4d1e-9d3b-2b7d0a5e4c11/v2.0',
      okta: 'https://example.okta.com/oauth2/default',
      keycloak: 'https://id.example.org/auth/realms/main',
      oidc: 'https://id.example.org/tenant',
    };
    for (const kind of SSO_KINDS) {
      expect(mistakeOfIssuer(kind, good[kind])).toBeNull();
      for (const more of ['?a=1', '?', '#x', '#']) {
        expect(mistakeOfIssuer(kind, `${good[kind]}${more}`)).not.toBeNull();
      }
      const [scheme, rest] = good[kind].split('//');
      expect(mistakeOfIssuer(kind, `${scheme}//u:p@${rest}`)).not.toBeNull();
      expect(mistakeOfIssuer(kind, `http://${rest}`)).not.toBeNull();
    }
    for (const tenant of ['common', 'organizations', 'consumers']) {
      const issuer = `https://login.microsoftonline.com/${tenant}/v2.0`;
      expect(mistakeOfIssuer('entra', issuer)).not.toBeNull();
    }
    expect(mistakeOfIssuer('okta', 'https://example.okta.com.evil.example')).not.toBeNull();
  });

  it('that is taken is always https, as it is written, and of its kind', () => {
    const texts = fc.oneof(
      fc.webUrl({ withQueryParameters: true, withFragments: true }),
      fc.string(),
    );
    fc.assert(
      fc.property(texts, fc.constantFrom(...SSO_KINDS), (text, kind) => {
        if (mistakeOfIssuer(kind, text) !== null) return;
        const url = new URL(text);
        expect(url.protocol).toBe('https:');
        expect([text, `${text}/`]).toContain(url.href);
        expect(SSO_PRESETS[kind].issuerPattern.test(text)).toBe(true);
      }),
    );
  });
});

describe('the way back', () => {
  it('never leads to another origin', () => {
    const hostile = fc.oneof(
      fc.webUrl(),
      fc.string(),
      fc.string({ unit: fc.constantFrom('/', '\\', '.', '@', ':', 'a', '\t', '\n', '%') }),
    );
    fc.assert(
      fc.property(hostile, (text) => {
        const there = new URL(localPathOf(text), 'https://console.example');
        expect(there.origin).toBe('https://console.example');
      }),
    );
    expect(localPathOf('/sensors?x=1#y')).toBe('/sensors?x=1#y');
    expect(localPathOf(undefined)).toBe('/');
  });
});
