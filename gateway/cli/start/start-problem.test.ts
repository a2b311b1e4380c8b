import { describe, expect, it } from 'vitest';
import { startSentence } from './start-problem.ts';

const config = { dataDir: '/nowhere/data', port: 15_483, bind: '0.0.0.0' };
const of = (reason: string) => {
  const { what, next } = startSentence(reason, config);
  return `${what}; ${next}`;
};

describe('a start that failed', () => {
  it.each([
    [
      "EROFS: read-only file system, mkdir '/nowhere/data/keys'",
      /keys is on a read-only .* SERVICE_CONSOLE_DATA_DIR/,
    ],
    [
      "EACCES: permission denied, open '/etc/x'",
      /^\/etc\/x cannot be written; make it writable, and start again$/,
    ],
    [
      'could not write: No space left on device',
      /MiB left, and the databases need 256 MiB; free some/,
    ],
    [
      'it ended: FATAL:  database files are incompatible with server',
      /another version of the database; start/,
    ],
    ['database_is_newer: 0099', /newer version of this program; start that version/],
    ['spawn ENOMEM', /not enough memory; free/],
    ['port 1 on 0.0.0.0 cannot be bound: listen EADDRINUSE', /SERVICE_CONSOLE_PORT/],
    ['listen EADDRNOTAVAIL cannot be bound', /no address 0\.0\.0\.0; set SERVICE_CONSOLE_BIND/],
    ['another Console (process 7) runs on /nowhere/data', /process 7.*; stop that one, or set/],
    ['nobody knows', /^nobody knows; mend the reason/],
  ])('should be a sentence with what to do: %s', (reason, sentence) => {
    expect(of(reason)).toMatch(sentence);
    expect(of(reason)).not.toMatch(/\n/);
  });
});
