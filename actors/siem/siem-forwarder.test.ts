// A destination that has everything costs nothing until something new is settled.
import { expect, it } from 'vitest';
import { newSiemStanding } from '../../machines/console/siem/siem-standing.ts';
import { createMemoryRelational } from '../../storage/memory/memory-relational.ts';
import { silentLogger as logger } from '../runtime/silent-logger.ts';
import { systemChance as chance } from '../trust/chance.ts';
import { createSiemForwarder } from './siem-forwarder.ts';

function destinationOf(destinationId: string) {
  return {
    ...{ destinationId, name: destinationId, targetUrl: 'https://s.example' },
    kind: 'observe' as const,
    ...{ secretSealed: null, hasToken: false, filter: '', standing: newSiemStanding(1_000) },
    options: { caPem: null, proxyUrl: null, category: null, sourceName: null },
  };
}

it('should ask for events once for each horizon, and then rest', async () => {
  const { siem, designation } = createMemoryRelational();
  await siem.create({ actor: 'test', nowMs: 0, destination: destinationOf('s') });
  const stood = await designation.stand({ holder: 'x', nowMs: 0, onLost: () => undefined });
  let [horizonMs, asked, woken] = [5_000, 0, 0];
  const onDone = (): void => {
    woken += 1;
  };
  const receivedAfter = async () => {
    asked += 1;
    return [];
  };
  const { loop } = createSiemForwarder({
    ...{ siem, chance, logger, now: () => 9_000, onDone },
    floors: { horizon: async () => horizonMs },
    events: { receivedAfter },
    sender: { send: () => Promise.reject(new Error('nothing is there to send')) },
    alerts: { raise: async () => [], pass: async () => undefined },
  });
  const run = () =>
    loop.run({ epoch: stood?.epoch ?? 0, signal: new AbortController().signal } as never);
  for (let runs = 0; runs < 5; runs += 1) await run();
  expect([asked, woken]).toEqual([1, 1]);
  horizonMs = 6_000;
  for (let runs = 0; runs < 5; runs += 1) await run();
  expect([asked, woken]).toEqual([2, 2]);
});

it('should write what comes back while other results are being written', async () => {
  const { siem, designation } = createMemoryRelational();
  for (const id of ['s', 't']) {
    await siem.create({ actor: 'test', nowMs: 0, destination: destinationOf(id) });
  }
  const stood = await designation.stand({ holder: 'x', nowMs: 0, onLost: () => undefined });
  const asked: PromiseWithResolvers<void>[] = [];
  const came = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const [writing, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let back = 0;
  const { loop } = createSiemForwarder({
    siem: {
      ...siem,
      async move(input) {
        // As a store does that has sent its statement.
        const moves = [...input.moves];
        writing.resolve();
        await gate.promise;
        await siem.move({ ...input, moves });
      },
    },
    ...{ chance, logger, now: () => 9_000 },
    onDone() {
      came[back]?.resolve();
      back += 1;
    },
    floors: { horizon: async () => 5_000 },
    events: {
      async receivedAfter() {
        const answer = Promise.withResolvers<void>();
        asked.push(answer);
        await answer.promise;
        return [];
      },
    },
    sender: { send: () => Promise.reject(new Error('nothing is there to send')) },
    alerts: { raise: async () => [], pass: async () => undefined },
  });
  const run = () =>
    loop.run({ epoch: stood?.epoch ?? 0, signal: new AbortController().signal } as never);
  await run();
  expect(asked).toHaveLength(2);
  asked[0]?.resolve();
  await came[0]?.promise;
  const second = run();
  await writing.promise;
  asked[1]?.resolve();
  await came[1]?.promise;
  gate.resolve();
  await second;
  for (let runs = 0; runs < 3; runs += 1) await run();
  // Neither was asked for again, for both are where the horizon is.
  expect(asked).toHaveLength(2);
});
