// A destination that has everything costs nothing until something new is settled.
import { expect, it } from 'vitest';
import { newSiemStanding } from '../../machines/console/siem/siem-standing.ts';
import { createMemoryRelational } from '../../storage/memory/memory-relational.ts';
import { silentLogger as logger } from '../runtime/silent-logger.ts';
import { systemChance as chance } from '../trust/chance.ts';
import { createSiemForwarder } from './siem-forwarder.ts';

it('should ask for events once for each horizon, and then rest', async () => {
  const { siem, designation } = createMemoryRelational();
  const destination = {
    ...{ destinationId: 's', name: 's', targetUrl: 'https://s.example' },
    kind: 'observe' as const,
    ...{ secretSealed: null, hasToken: false, filter: '', standing: newSiemStanding(1_000) },
    options: { caPem: null, proxyUrl: null, category: null, sourceName: null },
  };
  await siem.create({ actor: 'test', nowMs: 0, destination });
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
    alerts: { raise: async () => [] },
  });
  const run = () =>
    loop.run({ epoch: stood?.epoch ?? 0, signal: new AbortController().signal } as never);
  for (let runs = 0; runs < 5; runs += 1) await run();
  expect([asked, woken]).toEqual([1, 1]);
  horizonMs = 6_000;
  for (let runs = 0; runs < 5; runs += 1) await run();
  expect([asked, woken]).toEqual([2, 2]);
});
