import { describe, expect, it } from 'vitest';
import { createClockDispute } from './clock-dispute.ts';
import { emptyFacts } from './facts.ts';

const HOUR_MS = 3_600_000;
const NOW_MS = Date.parse('2026-01-01T12:00:00.000Z');
const DATES = { notBeforeMs: NOW_MS - HOUR_MS, notAfterMs: NOW_MS + 24 * HOUR_MS };
const BOUND =
  "the Console's clock is off by at least 1 h: it takes this node's certificate for expired or not yet valid";
const EXACT =
  "the Console's clock is off by 3 h, behind this node's: it takes this node's certificate for not yet valid";

function rig() {
  const facts = emptyFacts();
  const lines: string[] = [];
  const asked: ((consoleMs: number | null) => void)[] = [];
  const dispute = createClockDispute({
    now: () => NOW_MS,
    facts,
    logger: {
      warn: (...words: readonly unknown[]) => void lines.push(`warn ${String(words[1])}`),
      info: (...words: readonly unknown[]) => void lines.push(`info ${String(words[1])}`),
    },
    askClock: () => new Promise((resolve) => void asked.push(resolve)),
  });
  const answer = async (consoleMs: number | null): Promise<void> => {
    asked.shift()?.(consoleMs);
    await Promise.resolve();
    await Promise.resolve();
  };
  return { facts, lines, asked, dispute, answer };
}

describe('a dispute about the clock', () => {
  it('should tell a bound at once and the amount when the Console shows its clock', async () => {
    const { facts, lines, asked, dispute, answer } = rig();
    dispute.hear(DATES);
    expect([facts.clockDispute, facts.clockOffsetMs]).toEqual([BOUND, null]);
    dispute.hear(DATES);
    expect([asked.length, lines]).toEqual([1, []]);
    await answer(NOW_MS - 3 * HOUR_MS);
    expect([facts.clockDispute, facts.clockOffsetMs]).toEqual([EXACT, -3 * HOUR_MS]);
    expect(lines).toEqual([`warn ${EXACT}`]);

    // It goes on, and is asked again; the line in the log stays one.
    dispute.hear(DATES);
    await answer(NOW_MS - 3 * HOUR_MS);
    expect([facts.clockDispute, lines.length]).toEqual([EXACT, 1]);
  });

  it('should tell the bound in the log when the Console shows nothing', async () => {
    const { facts, lines, dispute, answer } = rig();
    dispute.hear(DATES);
    await answer(null);
    expect([facts.clockDispute, lines]).toEqual([BOUND, [`warn ${BOUND}`]]);
  });

  it('should take the clock of a refusal', async () => {
    const { facts, dispute } = rig();
    dispute.hearClock(NOW_MS - 3 * HOUR_MS);
    expect([facts.clockDispute, facts.clockOffsetMs]).toEqual([null, -3 * HOUR_MS]);
    dispute.hear(DATES);
    expect(facts.clockDispute).toBe(EXACT);
  });

  it('should end when the Console is heard, and not begin again by an answer that comes late', async () => {
    const { facts, lines, dispute, answer } = rig();
    dispute.end();
    expect(lines).toEqual([]);
    dispute.hear(DATES);
    dispute.end();
    await answer(NOW_MS - 3 * HOUR_MS);
    expect([facts.clockDispute, facts.clockOffsetMs]).toEqual([null, null]);
    expect(lines).toEqual(['info the Console and this node agree about its certificate again']);

    dispute.hear(DATES);
    await answer(null);
    expect(lines.at(-1)).toBe(`warn ${BOUND}`);
  });

  it('should hear nothing in an answer to a question of an earlier dispute', async () => {
    const { facts, lines, asked, dispute, answer } = rig();
    dispute.hear(DATES);
    dispute.end();
    dispute.hear(DATES);
    expect(asked.length).toBe(2);
    await answer(NOW_MS - 3 * HOUR_MS);
    expect([facts.clockDispute, facts.clockOffsetMs, lines.length]).toEqual([BOUND, null, 1]);
    await answer(null);
    expect(lines.at(-1)).toBe(`warn ${BOUND}`);
  });
});
