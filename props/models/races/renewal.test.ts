// Renewals and first requests with new certificates, in every order of their calls: one current certificate at any time,
// and in the end the Console believes exactly what the database holds, so that an overlap ends. invariant: I4
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { IdentityRecord } from '../../../storage/ports/fleet/sensor-registry.ts';
import { enrolled, type RacedConsole, startConsole } from './console.ts';
import { begun, raced } from './scheduled-port.ts';

async function checkStatuses(own: RacedConsole, sensorId: string): Promise<void> {
  const held = await own.direct.identitiesOf(sensorId);
  const count = (status: IdentityRecord['status']) =>
    held.filter((one) => one.status === status).length;
  expect(count('current')).toBe(1);
  expect(count('pending')).toBeLessThanOrEqual(1);
  expect(count('previous')).toBeLessThanOrEqual(1);
}

describe('renewals in flight', () => {
  const tries = fc.array(
    fc.record({ csrPem: fc.constantFrom('key-1', 'key-1', 'key-2'), isLost: fc.boolean() }),
    { minLength: 2, maxLength: 4 },
  );

  it('always leave one current certificate, which the Console knows', async () => {
    await raced(
      tries,
      async (scheduler, all) => {
        const own = await startConsole(scheduler);
        const { sensorId, identity } = await enrolled(own, scheduler);
        const renewing = all.map(({ csrPem, isLost }) =>
          begun(scheduler, `renew ${csrPem}`, async () => {
            const answer = await own.renew({ identity, csrPem });
            await checkStatuses(own, sensorId);
            if (!answer.ok) return answer.code;
            // A node that gave up waiting does not see the answer; else it tries what it was given at once.
            if (isLost) return 'lost';
            const pem = answer.response.control_plane_certificate_pem;
            const verdict = await own.authenticate(pem.replace('pem', 'f'));
            await checkStatuses(own, sensorId);
            return verdict.ok ? verdict.identity.status : verdict.code;
          }),
        );
        const outcomes = await scheduler.waitFor(Promise.all(renewing));
        await scheduler.waitIdle();
        const expected = [
          'lost',
          'current',
          'previous',
          'certificate_superseded',
          'renewal_not_allowed',
          'csr_refused',
        ];
        for (const outcome of outcomes) expect(expected).toContain(outcome);
        expect(own.cache.identitiesOf(sensorId)).toEqual(await own.direct.identitiesOf(sensorId));
      },
      200,
    );
  });

  it('always answer the same request with the same certificate', async () => {
    await raced(fc.integer({ min: 2, max: 4 }), async (scheduler, times) => {
      const own = await startConsole(scheduler);
      const { sensorId, identity } = await enrolled(own, scheduler);
      const renewing = Array.from({ length: times }, () =>
        begun(scheduler, 'renew', () => own.renew({ identity, csrPem: 'key-1' })),
      );
      const answers = await scheduler.waitFor(Promise.all(renewing));
      await scheduler.waitIdle();
      expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
      expect((await own.direct.identitiesOf(sensorId)).length).toBe(2);
    });
  });

  it('always share one activation between the first requests of a certificate', async () => {
    await raced(fc.integer({ min: 2, max: 5 }), async (scheduler, requests) => {
      const own = await startConsole(scheduler);
      const { sensorId, identity } = await enrolled(own, scheduler);
      const answer = await scheduler.waitFor(own.renew({ identity, csrPem: 'key-1' }));
      await scheduler.waitIdle();
      expect(answer.ok).toBe(true);
      const asking = Array.from({ length: requests }, () =>
        begun(scheduler, 'first request', async () => own.authenticate('f-2')),
      );
      const verdicts = await scheduler.waitFor(Promise.all(asking));
      await scheduler.waitIdle();
      for (const verdict of verdicts) {
        expect(verdict.ok && verdict.identity.status).toBe('current');
      }
      const changes = own.told.filter((one) => one.type === 'certificate.changed');
      expect(changes.length).toBe(1);
      await checkStatuses(own, sensorId);
    });
  });
});
