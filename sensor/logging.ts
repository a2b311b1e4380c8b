// Talk goes to standard error: short lines for a person at a terminal, JSON lines for everything else.
import { type DestinationStream, destination, pino } from 'pino';
import type { Logger } from '../actors/runtime/logger.ts';

/** Makes the program's logger. */
export function createLogger(level: string, isTerminal = process.stderr.isTTY === true): Logger {
  const sink = isTerminal ? humanSink() : destination({ dest: 2, sync: true });
  return pino({ level, base: null, redact: ['token', 'keyPem'] }, sink);
}

function humanSink(): DestinationStream {
  return {
    write(line) {
      const { msg, time, level, ...fields } = JSON.parse(line) as Record<string, unknown>;
      const clock = new Date(Number(time)).toISOString().slice(11, 19);
      const more = Object.entries(fields).map(([name, value]) => ` ${name}=${textOf(value)}`);
      process.stderr.write(`${clock} ${Number(level) >= 40 ? '! ' : ''}${msg}${more.join('')}\n`);
    },
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
