// A revocation against everything that is under way: once it is confirmed nothing enters any more, whichever answer of
// the database comes late. invariant: I3
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createIngest } from '../../../actors/telemetry/ingest.ts';
import { createSequenceLedgers } from '../../../actors/telemetry/sequence-ledger.ts';
import { createMemoryEvents } from '../../../storage/memory/telemetry/memory-events.ts';
import { event } from '../../contracts/samples.ts';
import { enrolled, enrollRequest, NOW_MS, startConsole } from './console.ts';
import { begun, raced, scheduledPort } from './scheduled-port.ts';

describe('a revocation', () => {
  it('never lets in what is judged after it was confirmed', async () => {
    await raced(fc.integer({ min: 1, max: 6 }), async (scheduler, beats) => {
      const own = await startConsole(scheduler);
      const { sensorId, identity } = await enrolled(own, scheduler);
      const memory = createMemoryEvents(1_000);
      const ingest = createIngest({
        sink: scheduledPort(scheduler, memory.sink, ['append']),
        ledgers: createSequenceLedgers(memory.events),
      });
      let isConfirmed = false;
      let entered = 0;
      const revoking = begun(scheduler, 'revoke', async () => {
        await own.revoke({ sensorId, reason: 'stolen', actor: 'test' });
        isConfirmed = true;
      });
      const beating = Array.from({ length: beats }, (_, at) =>
        begun(scheduler, `heartbeat ${at + 1}`, async () => {
          const first = await own.authenticate(identity.fingerprint);
          if (!first.ok) return first.code;
          await scheduler.schedule(Promise.resolve(), 'body read');
          // As the route does: the certificate is judged again when the body is there.
          const verdict = own.cache.judge(identity.fingerprint, NOW_MS);
          if (!verdict.ok) return verdict.code;
          expect(isConfirmed).toBe(false);
          entered += 1;
          const outcome = await ingest.ingest({
            identity: verdict.identity,
            streamId: '0'.repeat(32),
            channel: 'heartbeat',
            sequence: at + 1,
            events: [event()],
            receivedAtMs: NOW_MS,
          });
          return outcome.ok ? 'stored' : 'busy';
        }),
      );
      const answers = await scheduler.waitFor(Promise.all(beating));
      await scheduler.waitFor(revoking);
      await scheduler.waitIdle();
      expect(answers.filter((one) => one === 'stored').length).toBe(entered);
      expect(answers.every((one) => one === 'stored' || one === 'sensor_revoked')).toBe(true);
      expect(await memory.events.countDistinct({ sensorId })).toBe(entered);
      expect(own.cache.judge(identity.fingerprint, NOW_MS).ok).toBe(false);
    });
  });

  it('never is taken back by an enrollment whose answer comes late', async () => {
    await raced(fc.constant(null), async (scheduler) => {
      const own = await startConsole(scheduler);
      const { secret } = await own.service.create({ note: '', actor: 'test' });
      const enrolling = own.enroll(enrollRequest(secret, 'key'), { address: '::1' });
      let isConfirmed = false;
      const revoking = begun(scheduler, 'revoke', async () => {
        // The operator sees the new sensor in the list before its node has its answer.
        let [sensor] = await own.direct.loadSensors();
        while (sensor === undefined) {
          await scheduler.schedule(Promise.resolve(), 'list read');
          [sensor] = await own.direct.loadSensors();
        }
        await own.revoke({ sensorId: sensor.sensorId, reason: 'unknown', actor: 'test' });
        isConfirmed = true;
      });
      let accepted = 0;
      own.cache.subscribe((sensorId) => {
        for (const { fingerprint } of own.cache.identitiesOf(sensorId)) {
          if (isConfirmed && own.cache.judge(fingerprint, NOW_MS).ok) accepted += 1;
        }
      });
      const answer = await scheduler.waitFor(enrolling);
      expect(answer.ok).toBe(true);
      await scheduler.waitFor(revoking);
      await scheduler.waitIdle();
      expect(accepted).toBe(0);
      const [identity] = await own.direct.loadIdentities();
      expect(own.cache.judge(identity?.fingerprint ?? null, NOW_MS).ok).toBe(false);
    });
  });

  it('never lets a renewal or an activation in that is under way', async () => {
    await raced(fc.constant(null), async (scheduler) => {
      const own = await startConsole(scheduler);
      const { sensorId, identity } = await enrolled(own, scheduler);
      let isConfirmed = false;
      const renewing = begun(scheduler, 'renew', async () => {
        const answer = await own.renew({ identity, csrPem: 'key-1' });
        if (!answer.ok) return;
        const pending = own.cache.identitiesOf(sensorId).find((one) => one.status === 'pending');
        const wasConfirmed = isConfirmed;
        const verdict = await own.authenticate(pending?.fingerprint ?? null);
        if (wasConfirmed) expect(verdict.ok).toBe(false);
        if (verdict.ok) expect(isConfirmed).toBe(false);
      });
      const revoking = begun(scheduler, 'revoke', async () => {
        await own.revoke({ sensorId, reason: 'stolen', actor: 'test' });
        isConfirmed = true;
      });
      await scheduler.waitFor(Promise.all([renewing, revoking]));
      await scheduler.waitIdle();
      for (const { fingerprint } of await own.direct.identitiesOf(sensorId)) {
        expect(own.cache.judge(fingerprint, NOW_MS).ok).toBe(false);
      }
    });
  });
});
