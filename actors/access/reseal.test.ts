// Sealing again over the reference stores: everything that an older key sealed, nothing that changed meanwhile, and what no
// key opens is named. decision: D70
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterAll, expect, it } from 'vitest';
import { newSiemStanding } from '../../machines/console/siem/siem-standing.ts';
import { openSealer, retireSealers, rotateSealer } from '../../storage/keys/sealer.ts';
import { createMemoryRelational } from '../../storage/memory/memory-relational.ts';
import { secretContextOfWebhook } from '../delivery/webhook-secrets.ts';
import { openDigestSecret, secretContextOfDigest } from '../digest/digest-secrets.ts';
import { EXPORT_SECRET_CONTEXT, exportSecretOf } from '../exports/export-service.ts';
import { openSiemSecrets, sealSiemSecrets } from '../siem/siem-secrets.ts';
import { contextOf } from './factor-codes.ts';
import { resealAll } from './reseal.ts';
import { secretContextOf } from './sso/sso-service.ts';

const folder = mkdtempSync(`${tmpdir()}/reseal-`);
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const place = { folder, name: 'operator-secrets.key' };
const DOING = { actor: 'test', nowMs: 1 };

it('should seal again what an older key sealed, once, and name what nothing opens', async () => {
  const stores = createMemoryRelational();
  const { users, secondFactors, sso, webhooks, siem, digests } = stores;
  const first = await openSealer(place);
  for (const userId of ['ann', 'bob', 'eve']) {
    const [email, role] = [`${userId}@example.test`, 'viewer'] as const;
    await users.create({ ...DOING, userId, email, displayName: '', role, passwordHash: null });
    const context = contextOf(userId === 'eve' ? 'somebody else' : userId);
    const sealedSecret = first.seal(`secret of ${userId}`, context);
    await secondFactors.beginTotp({ ...DOING, userId, sealedSecret });
  }
  const options = {
    ...{ groupsClaim: null, groupRoles: {}, defaultRole: null, createsUsers: true },
    ...{ domains: [], linkDomains: [], scopes: ['openid'], caPem: null },
  };
  await sso.createProvider({
    ...DOING,
    provider: {
      ...{ providerId: 'p', kind: 'oidc', name: 'P', issuer: 'https://p.example', clientId: 'c' },
      ...{ clientSecretSealed: first.seal('of the provider', secretContextOf('p')) },
      ...{ options, enabled: true },
    },
  });
  const inWebhook = secretContextOfWebhook('w');
  await webhooks.create({
    ...DOING,
    webhook: {
      ...{ webhookId: 'w', type: 'generic', name: 'w', targetUrl: 'https://w.example/' },
      secretSealed: first.seal('signs', inWebhook),
      nextSecretSealed: first.seal('signs next', inWebhook),
      rotatesAtMs: 9,
      options: {
        ...{ kinds: [], minSeverity: 'info', groupIds: [], caPem: null, ratePerMinute: 1 },
        ...{ proxyUrl: null, quietHours: null },
      },
    },
  });
  await siem.create({
    ...DOING,
    destination: {
      ...{ destinationId: 's', kind: 'observe', name: 's', targetUrl: 'https://s.example/' },
      secretSealed: sealSiemSecrets('s', { token: 'a token', path: null }, first),
      ...{ hasToken: true, filter: '', standing: newSiemStanding(0) },
      options: { caPem: null, proxyUrl: null, category: null, sourceName: null },
    },
  });
  await digests.create({
    ...DOING,
    digest: {
      ...{ digestId: 'd', name: 'd', groupId: null, timeZone: 'UTC', at: '08:00', isOn: true },
      way: { kind: 'webhook', targetUrl: 'https://d.example/' },
      ...{ caPem: null, proxyUrl: null, sinceMs: 0 },
      secretSealed: first.seal('of the digest', secretContextOfDigest('d')),
    },
  });
  await rotateSealer(place, 2);
  const sealer = await openSealer(place);
  await stores.exports.putTarget({
    ...{ ...DOING, revision: 0 },
    target: {
      ...{ place: { kind: 'directory' }, prefix: '', tables: [], fromDay: '', isOn: false },
      secretSealed: first.seal('of the bucket', EXPORT_SECRET_CONTEXT),
    },
  });
  const kept = [exportSecretOf(stores.exports)];
  const deps = { users, secondFactors, sso, webhooks, siem, digests, kept, sealer };
  expect(await resealAll(deps)).toEqual({
    ...{ sealed: 8, changed: 0, unreadable: [contextOf('eve')] },
  });
  expect(await resealAll(deps)).toMatchObject({ sealed: 0 });
  // A secret that was replaced since it was read stays.
  const ann = await users.get('ann');
  await secondFactors.beginTotp({ ...DOING, userId: 'ann', sealedSecret: 'newer' });
  const stale = { userId: 'ann', was: String(ann?.mfa.sealedSecret), sealed: 'older' };
  expect(await secondFactors.reseal(stale)).toBe(false);
  expect((await users.get('ann'))?.mfa.sealedSecret).toBe('newer');
  await retireSealers(place, 3);
  const last = await openSealer(place);
  const bob = await users.get('bob');
  expect(last.open(String(bob?.mfa.sealedSecret), contextOf('bob'))).toBe('secret of bob');
  const [provider] = await sso.listProviders();
  expect(last.open(String(provider?.clientSecretSealed), secretContextOf('p'))).toBe(
    'of the provider',
  );
  expect(provider?.revision).toBe(1);
  const bucket = await stores.exports.target();
  expect(last.open(String(bucket?.secretSealed), EXPORT_SECRET_CONTEXT)).toBe('of the bucket');
  const webhook = await webhooks.get('w');
  expect(last.open(String(webhook?.secretSealed), inWebhook)).toBe('signs');
  expect(last.open(String(webhook?.nextSecretSealed), inWebhook)).toBe('signs next');
  const digest = await digests.get('d');
  expect(digest === null ? null : openDigestSecret(digest, last)).toEqual({
    secret: 'of the digest',
  });
  const destination = await siem.get('s');
  const { secretSealed = null } = destination ?? {};
  expect(openSiemSecrets({ destinationId: 's', secretSealed }, last)?.token).toBe('a token');
});
