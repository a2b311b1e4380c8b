// The log of both programs: one JSON line per event on standard error, secrets cut out wherever a field of that name
// appears.
import pino from 'pino';
import type { Logger } from './logger.ts';

const SECRET_FIELDS = ['token', 'password', 'secret', 'authorization', 'keyPem', 'csr_pem'];

/** Makes a program's logger. */
export function createLogger(level: string): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      messageKey: 'msg',
      redact: {
        paths: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`]),
        censor: '[hidden]',
      },
    },
    pino.destination({ fd: 2, sync: true }),
  ) as unknown as Logger;
}
