// A Console that calls a certificate expired, or not valid yet, while by this node's clock it is neither: by how much its
// clock is off is asked and told, in the log and in the status, until the Console is heard again. decision: D67
import type { Logger } from '../../actors/runtime/logger.ts';
import { type CertificateDates, disputeSentence } from '../../machines/sensor/clock.rules.ts';
import type { SensorFacts } from './facts.ts';

export type ClockDispute = {
  /** The Console does not take a certificate of these dates for valid; null is one that cannot be read. */
  hear(dates: CertificateDates | null): void;
  /** The Console showed its clock in an answer. */
  hearClock(consoleMs: number): void;
  /** The Console took the certificate, or it is over by this node's clock too. */
  end(): void;
};
type DisputeParts = {
  readonly now: () => number;
  readonly facts: SensorFacts;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  /** The Console's clock, asked without the certificate that it refuses; null when it is not told. Never rejects. */
  readonly askClock: () => Promise<number | null>;
};

/** Keeps `facts.clockDispute`. */
export function createClockDispute(parts: DisputeParts): ClockDispute {
  const { now, facts, logger } = parts;
  /** Counts disputes, so that an answer to a question of an earlier one says nothing. */
  let round = 0;
  let isAsking = false;

  function hearClock(consoleMs: number): void {
    facts.clockOffsetMs = consoleMs - now();
  }

  function note(dates: CertificateDates): string {
    const sentence = disputeSentence(dates, now(), facts.clockOffsetMs);
    facts.clockDispute = sentence;
    return sentence;
  }

  async function ask(dates: CertificateDates, isNew: boolean): Promise<void> {
    const asked = round;
    isAsking = true;
    const consoleMs = await parts.askClock();
    isAsking = false;
    if (asked !== round || facts.clockDispute === null) return;
    if (consoleMs !== null) hearClock(consoleMs);
    const sentence = note(dates);
    // Once a dispute, and with the answer: every attempt that fails has a line of its own.
    if (isNew) logger.warn({ now: new Date(now()).toISOString() }, sentence);
  }

  return {
    hear(dates) {
      if (dates === null) return;
      const isNew = facts.clockDispute === null;
      if (isNew) round += 1;
      note(dates);
      if (isNew || !isAsking) void ask(dates, isNew);
    },
    hearClock,
    end() {
      if (facts.clockDispute === null) return;
      round += 1;
      facts.clockDispute = null;
      logger.info({}, 'the Console and this node agree about its certificate again');
    },
  };
}
