// The reference store of identity providers, tied subjects and logins that are under way. decision: D40
import { SSO_FLOWS_MAX } from '../../../machines/limits.ts';
import {
  auditOfLink,
  auditOfProviderChange,
  auditOfProviderCreate,
  auditOfProviderRemoval,
} from '../../ports/access/sso-audit.ts';
import type { SsoFlowRow, SsoProviderRow, SsoStore } from '../../ports/access/sso-store.ts';
import type { AuditEntry } from '../../ports/audit/audit-log.ts';
import { storableText } from '../../ports/plumbing/stored-text.ts';
import { createAwaySwitch } from '../plumbing/away-switch.ts';
import { type Calls, portOf } from '../plumbing/unsafe-port-of.ts';

type RecordEntry = (entry: AuditEntry) => void;
type Identity = { readonly providerId: string; readonly subject: string; readonly userId: string };
export type MemorySso = { readonly sso: SsoStore; setAway(away: boolean): void };

/** Makes an empty store on a switch; it keeps at most `flowsMax` logins that are under way. */
export function createMemorySso(record: RecordEntry, flowsMax = SSO_FLOWS_MAX): MemorySso {
  const { ask, setAway } = createAwaySwitch();
  return { setAway, sso: portOf<SsoStore>('sso', ssoCalls(record, flowsMax), ask) };
}

/** The calls on an empty store. */
export function ssoCalls(record: RecordEntry, flowsMax = SSO_FLOWS_MAX): Calls<SsoStore> {
  const providers = new Map<string, SsoProviderRow>();
  const identities = new Map<string, Identity>();
  const flows = new Map<string, SsoFlowRow>();
  return {
    ...providerCalls(record, { providers, identities, flows }),
    ...identityCalls(record, { providers, identities }),
    ...flowCalls({ providers, flows, flowsMax }),
  };
}

type State = {
  readonly providers: Map<string, SsoProviderRow>;
  readonly identities: Map<string, Identity>;
  readonly flows: Map<string, SsoFlowRow>;
};
type ProviderCall =
  | 'listProviders'
  | 'getProvider'
  | 'createProvider'
  | 'changeProvider'
  | 'reseal'
  | 'removeProvider';

function providerCalls(
  record: RecordEntry,
  { providers, identities, flows }: State,
): Pick<Calls<SsoStore>, ProviderCall> {
  function changeProvider(
    input: Parameters<SsoStore['changeProvider']>[0],
  ): SsoProviderRow | 'not_found' | 'conflict' {
    const before = providers.get(input.providerId);
    if (before === undefined) return 'not_found';
    if (before.revision !== input.revision) return 'conflict';
    const changed = { ...before, ...stored(input.patch) };
    const after = { ...changed, changedAtMs: input.nowMs, revision: before.revision + 1 };
    providers.set(input.providerId, after);
    record(auditOfProviderChange(input, before, after));
    return after;
  }

  function removeProvider(input: Parameters<SsoStore['removeProvider']>[0]): boolean {
    const { providerId } = input;
    const before = providers.get(providerId);
    if (before === undefined) return false;
    providers.delete(providerId);
    for (const [key, one] of identities) if (one.providerId === providerId) identities.delete(key);
    for (const [key, one] of flows) if (one.providerId === providerId) flows.delete(key);
    record(auditOfProviderRemoval(input, before));
    return true;
  }

  return {
    reseal({ providerId, was, sealed: clientSecretSealed }) {
      const before = providers.get(providerId);
      if (before?.clientSecretSealed !== was) return false;
      providers.set(providerId, { ...before, clientSecretSealed });
      return true;
    },
    listProviders: () =>
      [...providers.values()].sort((a, b) => (a.providerId < b.providerId ? -1 : 1)),
    getProvider: (providerId) => providers.get(providerId) ?? null,
    createProvider(input) {
      const { provider, nowMs } = input;
      if (providers.has(provider.providerId)) throw new Error('a provider with this id exists');
      const times = { createdAtMs: nowMs, changedAtMs: nowMs, revision: 1 };
      const row = { ...provider, ...stored(provider), ...times };
      providers.set(row.providerId, row);
      record(auditOfProviderCreate(input));
      return row;
    },
    changeProvider,
    removeProvider,
  };
}

/** Only what is given, in the form a database gives it back. */
function stored(
  patch: Parameters<SsoStore['changeProvider']>[0]['patch'],
): Parameters<SsoStore['changeProvider']>[0]['patch'] {
  const { name, issuer, clientId, clientSecretSealed, options, enabled } = patch;
  return {
    ...(name === undefined ? {} : { name: storableText(name) }),
    ...(issuer === undefined ? {} : { issuer: storableText(issuer) }),
    ...(clientId === undefined ? {} : { clientId: storableText(clientId) }),
    ...(clientSecretSealed === undefined ? {} : { clientSecretSealed }),
    ...(options === undefined ? {} : { options: structuredClone(options) }),
    ...(enabled === undefined ? {} : { enabled }),
  };
}

function identityCalls(
  record: RecordEntry,
  { providers, identities }: Pick<State, 'providers' | 'identities'>,
): Pick<Calls<SsoStore>, 'findIdentity' | 'link' | 'identitiesOf'> {
  const keyOf = (providerId: string, subject: string) =>
    JSON.stringify([providerId, storableText(subject)]);
  return {
    findIdentity: (providerId, subject) =>
      identities.get(keyOf(providerId, subject))?.userId ?? null,
    link(input) {
      const { providerId, userId } = input;
      const key = keyOf(providerId, input.subject);
      if (identities.has(key) || !providers.has(providerId)) return false;
      identities.set(key, { providerId, userId, subject: storableText(input.subject) });
      record(auditOfLink(input));
      return true;
    },
    identitiesOf: (userId) =>
      [...identities.values()]
        .filter((one) => one.userId === userId)
        .map(({ providerId, subject }) => ({ providerId, subject }))
        .sort((a, b) =>
          `${a.providerId}\n${a.subject}` < `${b.providerId}\n${b.subject}` ? -1 : 1,
        ),
  };
}

function flowCalls({
  providers,
  flows,
  flowsMax,
}: Pick<State, 'providers' | 'flows'> & { readonly flowsMax: number }): Pick<
  Calls<SsoStore>,
  'saveFlow' | 'takeFlow'
> {
  return {
    saveFlow(row) {
      if (!providers.has(row.providerId)) return;
      flows.set(row.stateHash.toString('hex'), row);
      const byEnd = [...flows].sort(([, a], [, b]) => b.expiresAtMs - a.expiresAtMs);
      for (const [key] of byEnd.slice(flowsMax)) flows.delete(key);
    },
    takeFlow(stateHash, nowMs) {
      for (const [key, row] of flows) if (row.expiresAtMs <= nowMs) flows.delete(key);
      const key = stateHash.toString('hex');
      const row = flows.get(key) ?? null;
      flows.delete(key);
      return row;
    },
  };
}
