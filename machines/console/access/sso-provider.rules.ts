// What a kind of identity provider fills in (issuer, scopes, claims), and which configuration is refused. Two kinds have
// their issuer at one known host; the others are where their owner put them. decision: D40
import type { Role } from '../../trust/roles.rules.ts';

export const SSO_KINDS = ['google', 'entra', 'okta', 'keycloak', 'oidc'] as const;
type Kind = (typeof SSO_KINDS)[number];

export type SsoPreset = {
  readonly label: string;
  /** What an issuer of this kind looks like, for people. */
  readonly issuerExample: string;
  readonly issuerPattern: RegExp;
  readonly scopes: readonly string[];
  /** Null: this kind tells no groups by itself. */
  readonly groupsClaim: string | null;
};

const ENTRA_TENANT = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const BASIC_SCOPES = ['openid', 'email', 'profile'];

export const SSO_PRESETS: Readonly<Record<Kind, SsoPreset>> = {
  google: {
    label: 'Google',
    issuerExample: 'https://accounts.google.com',
    issuerPattern: /^https:\/\/accounts\.google\.com$/,
    scopes: BASIC_SCOPES,
    groupsClaim: null,
  },
  // One tenant by its id: with `common` anybody with a Microsoft account would be a person of this provider.
  entra: {
    label: 'Microsoft Entra ID',
    issuerExample: 'https://login.microsoftonline.com/<tenant id>/v2.0',
    issuerPattern: new RegExp(`^https://login\\.microsoftonline\\.com/${ENTRA_TENANT}/v2\\.0$`),
    scopes: BASIC_SCOPES,
    groupsClaim: 'groups',
  },
  okta: {
    label: 'Okta',
    issuerExample: 'https://<organization>.okta.com',
    issuerPattern:
      /^https:\/\/[a-z0-9-]+\.(?:okta|oktapreview|okta-emea)\.com(?:\/oauth2\/[A-Za-z0-9_-]+)?$/,
    scopes: [...BASIC_SCOPES, 'groups'],
    groupsClaim: 'groups',
  },
  keycloak: {
    label: 'Keycloak',
    issuerExample: 'https://<host>/realms/<realm>',
    issuerPattern: /^https:\/\/[^/]+(?:\/[^?#]*)?\/realms\/[^/?#]+$/,
    scopes: BASIC_SCOPES,
    groupsClaim: 'groups',
  },
  oidc: {
    label: 'OpenID Connect',
    issuerExample: 'https://<host>',
    issuerPattern: /^https:\/\/[^?#]+$/,
    scopes: BASIC_SCOPES,
    groupsClaim: 'groups',
  },
};

const DOMAIN =
  /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)+$/;
// RFC 6749, scope-token.
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]{1,128}$/;

export type SsoConfiguration = {
  readonly kind: Kind;
  readonly issuer: string;
  readonly options: {
    readonly scopes: readonly string[];
    readonly domains: readonly string[];
    readonly linkDomains: readonly string[];
    readonly groupsClaim: string | null;
    readonly groupRoles: Readonly<Record<string, Role>>;
    readonly defaultRole: Role | null;
  };
};
export type SsoMistake = { readonly pointer: string; readonly detail: string };

/** What is wrong with a configuration, all at once; empty when nothing is. */
export function mistakesOfProvider({
  kind,
  issuer,
  options,
}: SsoConfiguration): readonly SsoMistake[] {
  const mistakes: SsoMistake[] = [];
  const say = (pointer: string, detail: string) => void mistakes.push({ pointer, detail });
  const why = mistakeOfIssuer(kind, issuer);
  if (why !== null) say('/issuer', why);
  if (!options.scopes.includes('openid')) say('/scopes', 'openid must be among them');
  if (!options.scopes.every((scope) => SCOPE.test(scope))) say('/scopes', 'not a scope');
  for (const [pointer, domains] of [
    ['/domains', options.domains],
    ['/link_domains', options.linkDomains],
  ] as const) {
    if (!domains.every((domain) => DOMAIN.test(domain))) {
      say(pointer, 'a domain is lower-case labels joined by dots');
    }
  }
  if (options.groupsClaim === null && Object.keys(options.groupRoles).length > 0) {
    say('/group_roles', 'without groups_claim no group is ever known');
  }
  return mistakes;
}

/** Why a text cannot be the issuer of a provider of this kind; null when it can. Where it leads is judged elsewhere. */
export function mistakeOfIssuer(kind: Kind, issuer: string): string | null {
  if (!URL.canParse(issuer)) return 'not an address';
  const url = new URL(issuer);
  if (url.protocol !== 'https:') return 'an issuer begins with https://';
  if (url.username !== '' || url.password !== '') return 'an issuer names no user';
  if (/[?#]/.test(issuer)) return 'an issuer has neither query nor fragment';
  // What the parser would change could be compared in two ways later.
  if (url.href !== issuer && url.href !== `${issuer}/`) return `write it as ${url.href}`;
  const { issuerPattern, label, issuerExample } = SSO_PRESETS[kind];
  if (!issuerPattern.test(issuer)) return `an issuer of ${label} looks like ${issuerExample}`;
  return null;
}
