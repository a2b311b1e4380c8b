// The cache of identities against its own database: other replicas change it, notifications are cut off, they and the
// reads come late and out of order, local answers are applied in between. In the end both agree, and a revocation that
// was heard once is never unheard. invariant: I3; decision: D10
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CLIENT_CERTIFICATE_TTL_MS } from '../../../machines/limits.ts';
import { certificate } from '../../contracts/samples.ts';
import { enrolled, NOW_MS, type RacedConsole, startConsole } from './console.ts';
import { begun, raced } from './scheduled-port.ts';

type Step =
  | 'renew elsewhere'
  | 'activate elsewhere'
  | 'activate here'
  | 'revoke elsewhere'
  | 'revoke here'
  | 'notifications stop'
  | 'notifications return';
const steps = fc.array(
  fc.constantFrom<Step>(
    'renew elsewhere',
    'renew elsewhere',
    'activate elsewhere',
    'activate here',
    'activate here',
    'revoke elsewhere',
    'revoke here',
    'notifications stop',
    'notifications stop',
    'notifications return',
  ),
  { minLength: 1, maxLength: 8 },
);

/** A renewal elsewhere: its certificate waits for its first request. */
async function addPending(own: RacedConsole, byFingerprint: string): Promise<string> {
  const row = certificate({ notBeforeMs: NOW_MS, notAfterMs: NOW_MS + CLIENT_CERTIFICATE_TTL_MS });
  await own.direct.addPendingCertificate({ byFingerprint, nowMs: NOW_MS, certificate: row });
  return row.fingerprint;
}

/** Counts how often a sensor that was known as revoked was believed again. */
function countUnheard(own: RacedConsole, sensorId: string): () => number {
  let wasRevoked = false;
  let unheard = 0;
  own.cache.subscribe(() => {
    const known = own.cache.identitiesOf(sensorId);
    const isRevoked = known.every((one) => one.sensorRevokedAtMs !== null);
    if (wasRevoked && !isRevoked) unheard += 1;
    wasRevoked = isRevoked;
  });
  return () => unheard;
}

describe('identity cache', () => {
  it('never believes a late activation over a revocation that it read', async () => {
    await raced(
      fc.constant(null),
      async (scheduler) => {
        const own = await startConsole(scheduler);
        const { sensorId, identity } = await enrolled(own, scheduler);
        const pending = await addPending(own, identity.fingerprint);
        await scheduler.waitIdle();
        const unheard = countUnheard(own, sensorId);
        expect(own.cache.judge(pending, NOW_MS).ok).toBe(true);
        const asking = begun(scheduler, 'first request', () => own.authenticate(pending));
        const revoking = begun(scheduler, 'revoke elsewhere', () =>
          own.direct.revoke({ sensorId, nowMs: NOW_MS, reason: 'test', actor: 'test' }),
        );
        await scheduler.waitFor(Promise.all([asking, revoking]));
        await scheduler.waitIdle();
        expect(unheard()).toBe(0);
        expect(own.cache.judge(pending, NOW_MS).ok).toBe(false);
      },
      200,
    );
  });

  it('always ends with what the database holds, and never unhears a revocation', async () => {
    await raced(
      steps,
      async (scheduler, all) => {
        const own = await startConsole(scheduler);
        const { sensorId, identity } = await enrolled(own, scheduler);
        const pending = async () =>
          (await own.direct.identitiesOf(sensorId)).find((one) => one.status === 'pending')
            ?.fingerprint ?? identity.fingerprint;
        await addPending(own, identity.fingerprint);
        await scheduler.waitIdle();
        const unheard = countUnheard(own, sensorId);
        const revocation = { sensorId, reason: 'test', actor: 'test' };
        const run: Readonly<Record<Step, () => Promise<unknown>>> = {
          'renew elsewhere': async () => {
            const held = await own.direct.identitiesOf(sensorId);
            const current = held.find((one) => one.status === 'current');
            return addPending(own, current?.fingerprint ?? identity.fingerprint);
          },
          'activate elsewhere': async () =>
            own.direct.activateCertificate({ fingerprint: await pending(), nowMs: NOW_MS }),
          'activate here': async () => own.authenticate(await pending()),
          'revoke elsewhere': () => own.direct.revoke({ ...revocation, nowMs: NOW_MS }),
          'notifications stop': async () => own.cutNotifications(true),
          'notifications return': async () => own.cutNotifications(false),
          'revoke here': async () => {
            await own.revoke(revocation);
            expect(own.cache.judge(identity.fingerprint, NOW_MS).ok).toBe(false);
          },
        };
        const running = all.map((step) => begun(scheduler, step, run[step]));
        await scheduler.waitFor(Promise.all(running));
        own.cutNotifications(false);
        await scheduler.waitIdle();
        expect(own.cache.identitiesOf(sensorId)).toEqual(await own.direct.identitiesOf(sensorId));
        expect(unheard()).toBe(0);
      },
      300,
    );
  });
});
