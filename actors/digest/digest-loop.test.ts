// Digests through whatever may happen: servers that refuse or hang up, Consoles that die in the middle of anything, an inbox
// that is away or loses its answers. decision: D156, D166
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { DAY_MS, HOUR_MS } from '../../machines/units.ts';
import { runs } from '../../props/runs.ts';
import { createMemoryRelational } from '../../storage/memory/memory-relational.ts';
import { type Alerts, createAlerts } from '../detection/alerts.ts';
import type { Handed } from '../outbound/outbound-mail.ts';
import { silentLogger as logger } from '../runtime/silent-logger.ts';
import { systemChance as chance } from '../trust/chance.ts';
import { createDigestLoop, type DigestWork } from './digest-loop.ts';

const BEGAN_MS = Date.UTC(2026, 0, 1);
const RUNS_TO_SETTLE = 10;
const { signal } = new AbortController();
const ANSWERS = {
  taken: { kind: 'taken', note: null },
  later: { kind: 'failed', isFinal: false, detail: 'come again' },
  refused: { kind: 'failed', isFinal: true, detail: 'not from you' },
  unsure: { kind: 'unsure', detail: 'it hung up' },
} as const satisfies Record<string, Handed>;
type Answer = keyof typeof ANSWERS | 'dies before' | 'dies after';
type Fault = 'none' | 'away' | 'answer lost';
type Step =
  | { readonly does: 'time'; readonly hours: number }
  | { readonly does: 'answers'; readonly answer: Answer }
  | { readonly does: 'inbox'; readonly fault: Fault }
  | { readonly does: 'dies' | 'runs' };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ does: fc.constant('time' as const), hours: fc.nat(60) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      does: fc.constant('answers' as const),
      answer: fc.constantFrom<Answer>(
        ...(['taken', 'later', 'refused', 'unsure', 'dies before', 'dies after'] as const),
      ),
    }),
  },
  fc.record({
    does: fc.constant('inbox' as const),
    fault: fc.constantFrom<Fault>('none', 'away', 'answer lost'),
  }),
  fc.constant({ does: 'dies' as const }),
  { weight: 4, arbitrary: fc.constant({ does: 'runs' as const }) },
);

/** Two digests of one fleet. */
async function openWorld() {
  let nowMs = BEGAN_MS;
  let answer: Answer = 'taken';
  let fault: Fault = 'none';
  const tried = new Set<string>();
  /** Days that may have reached somebody, each time they may. */
  const left: string[] = [];
  const { digests, alerts: store, designation } = createMemoryRelational();
  for (const name of ['one', 'two']) {
    await digests.create({
      ...{ actor: 'test', nowMs },
      digest: {
        ...{ digestId: name, name, groupId: null, timeZone: 'UTC', at: '08:00', isOn: true },
        ...{ way: { kind: 'webhook', targetUrl: 'https://h.example' }, secretSealed: null },
        ...{ caPem: null, proxyUrl: null, sinceMs: nowMs },
      },
    });
  }
  const inbox = createAlerts({ store, now: () => nowMs });
  const faulty = async <T>(call: () => Promise<T>): Promise<T> => {
    if (fault === 'away') throw new Error('away');
    const told = await call();
    if (fault === 'answer lost') throw new Error('its answer is lost');
    return told;
  };
  const alerts: Pick<Alerts, 'raise' | 'pass'> = {
    // Who has nothing to say asks for nothing.
    raise: async (findings, epoch) =>
      findings.length === 0 ? [] : await faulty(() => inbox.raise(findings, epoch)),
    pass: (...given) => faulty(() => inbox.pass(...given)),
  };
  let console: { readonly epoch: number; readonly work: DigestWork };
  async function open(): Promise<void> {
    const tenure = await designation.stand({ holder: 'x', nowMs, onLost: () => undefined });
    await tenure?.release();
    const work = createDigestLoop({
      ...{ digests, alerts, chance, logger, now: () => nowMs },
      facts: { collect: async (asked) => asked as never },
      sender: {
        async send({ row, digest: { day } }) {
          const name = `${row.digestId} ${day}`;
          tried.add(name);
          const isOut = answer === 'taken' || answer === 'unsure' || answer === 'dies after';
          if (isOut) left.push(name);
          if (answer === 'dies before' || answer === 'dies after') throw new Error('it died');
          return ANSWERS[answer];
        },
      },
    });
    console = { epoch: tenure?.epoch ?? 0, work };
  }
  await open();
  async function runs(): Promise<void> {
    const { epoch, work } = console;
    try {
      while ((await work.loop.run({ epoch, signal }))?.hasMore === true);
    } catch {
      // A sender that dies takes its Console along; the inbox does not.
      if (answer === 'dies before' || answer === 'dies after') await open();
    }
  }
  async function take(one: Step): Promise<void> {
    if (one.does === 'time') nowMs += one.hours * HOUR_MS;
    else if (one.does === 'answers') answer = one.answer;
    else if (one.does === 'inbox') fault = one.fault;
    else if (one.does === 'dies') await open();
    else await runs();
  }
  /** Nothing fails any more, and days pass. */
  async function settles(): Promise<void> {
    [answer, fault] = ['taken', 'none'];
    for (let run = 0; run < RUNS_TO_SETTLE; run += 1) {
      await runs();
      nowMs += DAY_MS / 4;
    }
  }
  /** The days that did not arrive for sure, those that people were told of, and those that nobody tried and are unsure. */
  async function told() {
    const found = { owed: [] as string[], told: [] as string[], untried: [] as string[] };
    for (const digestId of ['one', 'two']) {
      for (const { state, day } of await digests.runs({ digestId, limit: 1_000 })) {
        if (state !== 'failed' && state !== 'unsure' && state !== 'missed') continue;
        const name = `${digestId} ${day}`;
        found.owed.push(name);
        if (state === 'unsure' && !tried.has(name)) found.untried.push(name);
        const matchId = `${digestId}/${day}/${state}`;
        const counted = await store.counted({ ruleId: digestId, matchIds: [matchId] });
        if (counted.has(matchId)) found.told.push(name);
      }
    }
    return found;
  }
  return { take, settles, told, left };
}

it('always tells people of each day that failed, is unsure or was missed, and sends none twice', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), async (steps) => {
      const world = await openWorld();
      for (const one of steps) await world.take(one);
      await world.settles();
      const { owed, told } = await world.told();
      expect(told).toEqual(owed);
      expect(new Set(world.left).size).toBe(world.left.length);
    }),
    { numRuns: runs(50) },
  );
});

it('should send a day whose missed days could not be told at first', async () => {
  const world = await openWorld();
  await world.take({ does: 'time', hours: 9 });
  await world.take({ does: 'runs' });
  await world.take({ does: 'time', hours: 48 });
  await world.take({ does: 'inbox', fault: 'away' });
  await world.take({ does: 'runs' });
  await world.settles();
  expect((await world.told()).untried).toEqual([]);
  expect(world.left).toContain('one 2026-01-03');
});
