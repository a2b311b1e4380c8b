// Many nodes and one token, in every order their calls may take: one identity, for one key. invariant: I2
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { enrollRequest, startConsole } from './console.ts';
import { begun, raced } from './scheduled-port.ts';

const FROM = { address: '::1' };

describe('enrollments in parallel', () => {
  it('always make one identity of one token, and answer every request of its key the same', async () => {
    const keys = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 20, maxLength: 20 });
    await raced(keys, async (scheduler, all) => {
      const own = await startConsole(scheduler);
      const { secret } = await own.service.create({ note: '', actor: 'test' });
      const asking = all.map(async (key) => ({
        key,
        answer: await begun(scheduler, `enroll ${key}`, () =>
          own.enroll(enrollRequest(secret, key), FROM),
        ),
      }));
      const answers = await scheduler.waitFor(Promise.all(asking));
      await scheduler.waitIdle();
      const granted = answers.filter(({ answer }) => answer.ok);
      const [winner] = granted;
      expect(new Set(granted.map(({ key }) => key)).size).toBe(1);
      expect(granted.length).toBe(all.filter((key) => key === winner?.key).length);
      const said = granted.map(({ answer }) => JSON.stringify(answer));
      expect(new Set(said).size).toBe(1);
      for (const { answer } of answers) {
        if (!answer.ok) expect(answer.code).toBe('token_consumed');
      }
      expect((await own.direct.loadSensors()).length).toBe(1);
      expect(own.cache.size()).toBe(1);
      expect(new Set(own.opened).size).toBe(1);
    });
  });

  it('never make an identity of a token that was withdrawn first', async () => {
    await raced(fc.integer({ min: 1, max: 5 }), async (scheduler, nodes) => {
      const own = await startConsole(scheduler);
      const { secret, token } = await own.service.create({ note: '', actor: 'test' });
      const withdrawing = begun(scheduler, 'withdraw', () =>
        own.service.revoke({ tokenId: token.tokenId, actor: 'test' }),
      );
      const asking = Array.from({ length: nodes }, (_, at) =>
        begun(scheduler, `enroll ${at}`, () => own.enroll(enrollRequest(secret, `${at}`), FROM)),
      );
      const answers = await scheduler.waitFor(Promise.all(asking));
      const withdrawn = await scheduler.waitFor(withdrawing);
      await scheduler.waitIdle();
      const granted = answers.filter((answer) => answer.ok).length;
      // Consumed or withdrawn: the store decides once, and both sides hear the same.
      expect(granted).toBe(withdrawn?.consumedAtMs === null ? 0 : 1);
      expect((await own.direct.loadSensors()).length).toBe(granted);
      expect(own.cache.size()).toBe(granted);
    });
  });

  it('never pass the number of nodes that the license allows', async () => {
    await raced(fc.integer({ min: 0, max: 3 }), async (scheduler, nodesAllowed) => {
      const own = await startConsole(scheduler, { nodesAllowed });
      const asking = Array.from({ length: 5 }, async (_, at) => {
        const { secret } = await own.service.create({ note: '', actor: 'test' });
        return own.enroll(enrollRequest(secret, `${at}`, `node-${at}`), FROM);
      });
      const answers = await scheduler.waitFor(Promise.all(asking));
      await scheduler.waitIdle();
      expect(answers.filter((answer) => answer.ok).length).toBe(nodesAllowed);
      expect((await own.direct.loadSensors()).length).toBe(nodesAllowed);
    });
  });
});
