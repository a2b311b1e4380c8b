// Seals again whatever a key of before sealed, so that this key may go: secrets of second factors, providers, webhooks and
// SIEM destinations, digests. Each is replaced only while it is what was read, so that a person who changes it meanwhile keeps what is newer. decision: D70;
// invariant: I11
import type { SecondFactorStore } from '../../storage/ports/access/second-factors.ts';
import type { SsoStore } from '../../storage/ports/access/sso-store.ts';
import type { UserStore } from '../../storage/ports/access/users.ts';
import type { WebhookRow, WebhookStore } from '../../storage/ports/delivery/webhook-store.ts';
import type { DigestStore } from '../../storage/ports/digest/digest-store.ts';
import type { Sealer } from '../../storage/ports/plumbing/sealer.ts';
import type { SiemStore } from '../../storage/ports/siem/siem-store.ts';
import { secretContextOfWebhook } from '../delivery/webhook-secrets.ts';
import { secretContextOfDigest } from '../digest/digest-secrets.ts';
import { secretContextOfSiem } from '../siem/siem-secrets.ts';
import { contextOf } from './factor-codes.ts';
import { secretContextOf } from './sso/sso-service.ts';

const PAGE_USERS = 500;
type Secrets = Pick<WebhookRow, 'secretSealed' | 'nextSecretSealed'>;

export type Resealed = {
  readonly sealed: number;
  /** Changed while we looked; they are sealed by the newest key or looked at next time. */
  readonly changed: number;
  /** No key opens them: a second factor to reset, a provider's secret to give again. */
  readonly unreadable: readonly string[];
};
export type ResealDeps = {
  readonly users: Pick<UserStore, 'list'>;
  readonly secondFactors: Pick<SecondFactorStore, 'reseal'>;
  readonly sso: Pick<SsoStore, 'listProviders' | 'reseal'>;
  readonly webhooks: Pick<WebhookStore, 'list' | 'reseal'>;
  /** Single secrets: of the target of exports. */
  readonly kept: readonly KeptSecret[];
  readonly siem: Pick<SiemStore, 'list' | 'reseal'>;
  readonly digests: Pick<DigestStore, 'list' | 'reseal'>;
  readonly sealer: Sealer;
};
export type KeptSecret = {
  readonly context: string;
  /** Null: there is none. */
  readonly read: () => Promise<string | null>;
  readonly reseal: (of: { readonly was: string; readonly sealed: string }) => Promise<boolean>;
};

/** Goes through all of them. Rejects with StoreUnavailable. */
export async function resealAll(deps: ResealDeps): Promise<Resealed> {
  const { users, secondFactors, sso, webhooks, siem, sealer } = deps;
  const counts = { sealed: 0, changed: 0 };
  const unreadable: string[] = [];

  async function one(
    was: string,
    context: string,
    put: (sealed: string) => Promise<boolean>,
  ): Promise<void> {
    if (sealer.isCurrent(was)) return;
    const text = sealer.open(was, context);
    if (text === null) unreadable.push(context);
    else if (await put(sealer.seal(text, context))) counts.sealed += 1;
    else counts.changed += 1;
  }

  for (let after: string | null = null; ; ) {
    const page = await users.list({ limit: PAGE_USERS, after });
    for (const { userId, mfa } of page) {
      const { sealedSecret: was } = mfa;
      if (was === null) continue;
      await one(was, contextOf(userId), (sealed) => secondFactors.reseal({ userId, was, sealed }));
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE_USERS) break;
    after = last.email.toLowerCase();
  }
  for (const { providerId, clientSecretSealed: was } of await sso.listProviders()) {
    await one(was, secretContextOf(providerId), (sealed) =>
      sso.reseal({ providerId, was, sealed }),
    );
  }
  for (const row of await webhooks.list()) await resealWebhook(webhooks, row, one);
  for (const { context, read, reseal } of deps.kept) {
    const was = await read();
    if (was !== null) await one(was, context, (sealed) => reseal({ was, sealed }));
  }
  for (const { destinationId, secretSealed: was } of await siem.list()) {
    if (was === null) continue;
    const context = secretContextOfSiem(destinationId);
    await one(was, context, (sealed) => siem.reseal({ destinationId, was, sealed }));
  }
  for (const { digestId, secretSealed: was } of await deps.digests.list()) {
    if (was === null) continue;
    const context = secretContextOfDigest(digestId);
    await one(was, context, (sealed) => deps.digests.reseal({ digestId, was, sealed }));
  }
  return { ...counts, unreadable };
}

type One = (
  was: string,
  context: string,
  put: (sealed: string) => Promise<boolean>,
) => Promise<void>;

/** Both of its secrets, each on top of what the other became. */
async function resealWebhook(
  webhooks: ResealDeps['webhooks'],
  row: Secrets & Pick<WebhookRow, 'webhookId'>,
  one: One,
): Promise<void> {
  const { webhookId, secretSealed, nextSecretSealed } = row;
  let was: Secrets = { secretSealed, nextSecretSealed };
  for (const name of ['secretSealed', 'nextSecretSealed'] as const) {
    const before = was[name];
    if (before === null) continue;
    await one(before, secretContextOfWebhook(webhookId), async (resealed) => {
      const sealed = { ...was, [name]: resealed };
      const isPut = await webhooks.reseal({ webhookId, was, sealed });
      if (isPut) was = sealed;
      return isPut;
    });
  }
}
