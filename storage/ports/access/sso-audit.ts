// What is written into the audit log about identity providers and those who come through them, the same in every store.
// The client secret is in none of it, sealed or not. decision: D35, D40; invariant: I11
import type { AuditAction } from '../../../machines/audit-actions.ts';
import type { AuditEntry } from '../audit/audit-log.ts';
import type { SsoProviderRow, SsoStore } from './sso-store.ts';

type Kept = Omit<SsoProviderRow, 'createdAtMs' | 'changedAtMs' | 'revision'>;

export function auditOfProviderCreate(
  input: Parameters<SsoStore['createProvider']>[0],
): AuditEntry {
  const { provider } = input;
  return { ...about(input, 'sso_provider.create', provider.providerId), after: factsOf(provider) };
}

export function auditOfProviderChange(
  input: Parameters<SsoStore['changeProvider']>[0],
  before: SsoProviderRow,
  after: SsoProviderRow,
): AuditEntry {
  const isSecretNew = before.clientSecretSealed !== after.clientSecretSealed;
  return {
    ...about(input, 'sso_provider.change', input.providerId),
    before: factsOf(before),
    after: factsOf(after),
    detail: { is_secret_new: isSecretNew },
  };
}

export function auditOfProviderRemoval(
  input: Parameters<SsoStore['removeProvider']>[0],
  before: SsoProviderRow,
): AuditEntry {
  return { ...about(input, 'sso_provider.remove', input.providerId), before: factsOf(before) };
}

export function auditOfLink(input: Parameters<SsoStore['link']>[0]): AuditEntry {
  const { providerId, subject } = input;
  const after = { provider_id: providerId, subject };
  return { ...about(input, 'user.link_identity', input.userId), after };
}

function about(
  input: { readonly actor: string; readonly nowMs: number; readonly from?: string | undefined },
  action: AuditAction,
  target: string,
): AuditEntry {
  const { actor, nowMs: atMs, from } = input;
  return { atMs, actor, action, target, result: 'ok', from, detail: {} };
}

function factsOf(provider: Kept): Readonly<Record<string, unknown>> {
  const { kind, name, issuer, clientId, enabled, options } = provider;
  return {
    kind,
    name,
    issuer,
    client_id: clientId,
    is_enabled: enabled,
    groups_claim: options.groupsClaim,
    group_roles: options.groupRoles,
    default_role: options.defaultRole,
    creates_users: options.createsUsers,
    domains: options.domains,
    link_domains: options.linkDomains,
    scopes: options.scopes,
    has_own_ca: options.caPem !== null,
    proxy_url: options.proxyUrl ?? null,
    required_acr: options.requiredAcr ?? [],
    required_amr: options.requiredAmr ?? [],
    max_age_seconds: options.maxAgeSeconds ?? null,
  };
}
