// The identity provider of the simulated world, behind the port of the client that speaks to real ones. It logs in whom it
// is told to, and has the troubles of providers: away, slow beyond every patience, or an answer that is not genuine.
import type {
  ProviderClient,
  ProviderFailure,
} from '../../../actors/access/sso/provider-client.ts';
import type { Role } from '../../../machines/trust/roles.rules.ts';
import type { SsoProviderRow } from '../../../storage/ports/access/sso-store.ts';
import type { Life } from './life.ts';
import type { Random } from './random.ts';

export type IdentityProvider = {
  readonly row: Omit<SsoProviderRow, 'createdAtMs' | 'changedAtMs' | 'revision'>;
  clientFor(life: Life): ProviderClient;
  /** Puts somebody into a group that stands for a role. */
  setRole(subject: string, role: Role): void;
  /** No trouble from now on. */
  heal(): void;
};

const PROVIDER_ID = '01900000-0000-7000-8000-000000000001';
const ISSUER = 'https://id.world';
const TRAVEL_MS = { least: 20, most: 300 } as const;
/** Longer than any login waits. */
const FOREVER_MS = 60_000;
const TROUBLE = { away: 0.04, slow: 0.04, forged: 0.04 } as const;

/** Makes a provider that knows everybody whose role it was told. */
export function createIdentityProvider(random: Random): IdentityProvider {
  const groups = new Map<string, Role>();
  let isHealthy = false;

  function trouble(): keyof typeof TROUBLE | null {
    if (isHealthy) return null;
    const drawn = random.next();
    let bound = 0;
    for (const name of ['away', 'slow', 'forged'] as const) {
      bound += TROUBLE[name];
      if (drawn < bound) return name;
    }
    return null;
  }

  function claimsOf(subject: string): Record<string, unknown> {
    const [email, name] = [`${subject}@id.world`, subject];
    return {
      ...{ sub: subject, email, email_verified: true, name },
      groups: [groups.get(subject) ?? 'none'],
    };
  }

  return {
    row: {
      ...{ providerId: PROVIDER_ID, kind: 'oidc', name: 'world', issuer: ISSUER },
      ...{ clientId: 'console', clientSecretSealed: `sso:${PROVIDER_ID}|secret`, enabled: true },
      options: {
        ...{ groupsClaim: 'groups', createsUsers: true, defaultRole: null },
        groupRoles: { viewer: 'viewer', analyst: 'analyst', operator: 'operator', admin: 'admin' },
        ...{ domains: [], linkDomains: [], scopes: ['openid'], caPem: null },
      },
    },
    setRole: (subject, role) => void groups.set(subject, role),
    heal() {
      isHealthy = true;
    },
    clientFor: (life) => ({
      discover: async () => ({ ok: true, metadata: { issuer: ISSUER } }),
      authorizationUrl: async (_provider, { state }) => ({
        ...{ ok: true, url: `${ISSUER}/login?state=${state}` },
      }),
      exchange(_provider, { returnedTo }) {
        const met = trouble();
        const { least, most } = TRAVEL_MS;
        const takesMs = met === 'slow' ? FOREVER_MS : random.between(least, most);
        const subject = new URL(returnedTo).searchParams.get('code') ?? 'nobody';
        return life.call(
          'provider.exchange',
          () => {
            if (met === 'away') return failed('away', 'the provider is away');
            if (met === 'forged') return failed('refused', 'the answer is not genuine');
            return { ok: true as const, claims: claimsOf(subject) };
          },
          takesMs,
        );
      },
    }),
  };
}

function failed(kind: ProviderFailure['kind'], reason: string): ProviderFailure {
  return { ok: false, kind, reason };
}
