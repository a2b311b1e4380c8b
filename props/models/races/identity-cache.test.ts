// The cache of identities against its own database: other replicas change it, notifications and reads come late and out
// of order, local answers are applied in between. In the end both agree; a revocation heard once is never unheard.
// invariant: I3; decision: D10
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { certificate } from '../../contracts/samples.ts';
import { enrolled, NOW_MS, startConsole } from './console.ts';
import { begun, raced } from './scheduled-port.ts';

type Step =
  | 'renew elsewhere'
  | 'activate elsewhere'
  | 'activate here'
  | 'revoke elsewhere'
  | 'revoke here';
const steps = fc.array(
  fc.constantFrom<Step>(
    'renew elsewhere',
    'renew elsewhere',
    'activate elsewhere',
    'activate here',
    'activate here',
    'revoke elsewhere',
    'revoke here',
  ),
  { minLength: 1, maxLength: 6 },
);

describe('identity cache', () => {
  it('always ends with what the database holds, and never unhears a revocation', async () => {
    await raced(
      steps,
      async (scheduler, all) => {
        const own = await startConsole(scheduler);
        const { sensorId, identity } = await enrolled(own, scheduler);
        const pending = async () =>
          (await own.direct.identitiesOf(sensorId)).find((one) => one.status === 'pending')
            ?.fingerprint ?? identity.fingerprint;
        let wasRevoked = false;
        let unheard = 0;
        own.cache.subscribe(() => {
          const known = own.cache.identitiesOf(sensorId);
          const isRevoked = known.every((one) => one.sensorRevokedAtMs !== null);
          if (wasRevoked && !isRevoked) unheard += 1;
          wasRevoked = isRevoked;
        });
        const revocation = { sensorId, reason: 'test', actor: 'test' };
        const run: Readonly<Record<Step, () => Promise<unknown>>> = {
          'renew elsewhere': async () => {
            const held = await own.direct.identitiesOf(sensorId);
            const current = held.find((one) => one.status === 'current');
            const byFingerprint = current?.fingerprint ?? identity.fingerprint;
            return own.direct.addPendingCertificate({
              byFingerprint,
              nowMs: NOW_MS,
              certificate: certificate(),
            });
          },
          'activate elsewhere': async () =>
            own.direct.activateCertificate({ fingerprint: await pending(), nowMs: NOW_MS }),
          'activate here': async () => own.authenticate(await pending()),
          'revoke elsewhere': () => own.direct.revoke({ ...revocation, nowMs: NOW_MS }),
          'revoke here': async () => {
            await own.revoke(revocation);
            expect(own.cache.judge(identity.fingerprint, NOW_MS).ok).toBe(false);
          },
        };
        const running = all.map((step) => begun(scheduler, step, run[step]));
        await scheduler.waitFor(Promise.all(running));
        await scheduler.waitIdle();
        expect(own.cache.identitiesOf(sensorId)).toEqual(await own.direct.identitiesOf(sensorId));
        expect(unheard).toBe(0);
      },
      300,
    );
  });
});
