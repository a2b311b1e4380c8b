// Identity providers, who came through them, and logins that are still to come back. Every method rejects with
// StoreUnavailable; changes are audited with them. invariant: I11, I18
import type { Role } from '../../../machines/trust/roles.rules.ts';
import type { AuditContext } from '../plumbing/audit-context.ts';

export type SsoKind = 'google' | 'entra' | 'okta' | 'keycloak' | 'oidc';

export type SsoOptions = {
  /** Claim that holds the groups of a person; null: everybody gets the default role. */
  readonly groupsClaim: string | null;
  /** Group to role; the highest level wins. */
  readonly groupRoles: Readonly<Record<string, Role>>;
  /** Role of whoever is in no mapped group; null: refused. */
  readonly defaultRole: Role | null;
  /** Whether an account is made at the first login. */
  readonly createsUsers: boolean;
  /** Only e-mail addresses of these domains; empty: all. */
  readonly domains: readonly string[];
  /** Verified addresses of these domains may take over an account that exists here; empty: none may. */
  readonly linkDomains: readonly string[];
  readonly scopes: readonly string[];
  /** PEM of a private CA that the provider's certificate chains to; null: the public ones. */
  readonly caPem: string | null;
  /** The HTTP proxy that stands between; absent or null: none. */
  readonly proxyUrl?: string | null;
  /** Any of these as `acr`, or all of these in `amr`, prove a second factor; none configured: nothing proves one. */
  readonly requiredAcr?: readonly string[];
  readonly requiredAmr?: readonly string[];
  /** How long ago the person may have shown its credentials to the provider; absent or null: any time. */
  readonly maxAgeSeconds?: number | null;
};

export type SsoProviderRow = {
  readonly providerId: string;
  readonly kind: SsoKind;
  readonly name: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecretSealed: string;
  readonly options: SsoOptions;
  readonly enabled: boolean;
  readonly createdAtMs: number;
  readonly changedAtMs: number;
  readonly revision: number;
};

export type SsoFlowRow = {
  readonly stateHash: Buffer;
  readonly providerId: string;
  /** SHA-256 of a value that only the browser which began holds in a cookie. */
  readonly browserHash: Buffer;
  readonly nonce: string;
  readonly codeVerifier: string;
  readonly returnTo: string;
  readonly expiresAtMs: number;
};

export type SsoStore = {
  listProviders(): Promise<readonly SsoProviderRow[]>;
  getProvider(providerId: string): Promise<SsoProviderRow | null>;
  createProvider(
    input: AuditContext & {
      readonly provider: Omit<SsoProviderRow, 'createdAtMs' | 'changedAtMs' | 'revision'>;
    },
  ): Promise<SsoProviderRow>;
  changeProvider(
    input: AuditContext & {
      readonly providerId: string;
      readonly revision: number;
      readonly patch: Partial<
        Pick<
          SsoProviderRow,
          'name' | 'issuer' | 'clientId' | 'clientSecretSealed' | 'options' | 'enabled'
        >
      >;
    },
  ): Promise<SsoProviderRow | 'not_found' | 'conflict'>;
  /** Puts the same client secret in place under another key; false when it is not the one that was read any more. */
  reseal(input: {
    readonly providerId: string;
    readonly was: string;
    readonly sealed: string;
  }): Promise<boolean>;
  removeProvider(input: AuditContext & { readonly providerId: string }): Promise<boolean>;

  findIdentity(providerId: string, subject: string): Promise<string | null>;
  /** Ties a subject to a user; false when it is tied already, or when provider or user are gone. */
  link(
    input: AuditContext & {
      readonly providerId: string;
      readonly subject: string;
      readonly userId: string;
    },
  ): Promise<boolean>;
  identitiesOf(
    userId: string,
  ): Promise<readonly { readonly providerId: string; readonly subject: string }[]>;

  /** Keeps a flow; above `SSO_FLOWS_MAX` those that end first make room. Nothing is kept for a provider that is gone. */
  saveFlow(row: SsoFlowRow): Promise<void>;
  /** Takes a flow out, once; null when unknown or too old. Also removes what is too old. Atomic. */
  takeFlow(stateHash: Buffer, nowMs: number): Promise<SsoFlowRow | null>;
};
