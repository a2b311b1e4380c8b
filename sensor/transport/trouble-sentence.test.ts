import { describe, expect, it } from 'vitest';
import { type TroubleKind, troubleOf } from './trouble.ts';
import { troubleSentence } from './trouble-sentence.ts';

const url = new URL('https://console.example:15483/');
const NOW_MS = Date.parse('2020-01-01T00:00:00Z');

describe('why the Console was not reached', () => {
  it.each<[code: string, kind: TroubleKind, said: RegExp]>([
    ['ENOTFOUND', 'name_not_found', /console\.example is not known here: .*DNS/],
    ['ECONNREFUSED', 'connection_refused', /nothing listens at console\.example:15483: check/],
    ['ETIMEDOUT', 'timed_out', /does not answer: .*firewall/],
    ['ENETUNREACH', 'connection_lost', /no way to .*: check the network/],
    ['EPROTO', 'connection_lost', /does not speak TLS: check the port/],
    ['ECONNRESET', 'connection_lost', /was cut/],
    ['CERT_NOT_YET_VALID', 'console_not_trusted', /2020-01-01T00:00:00.000Z: set the clock/],
    ['CERT_HAS_EXPIRED', 'console_not_trusted', /set the clock/],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'console_not_trusted', /other names/],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'console_not_trusted', /--ca-fingerprint/],
  ])('should be one sentence with what to do: %s', (code, kind, said) => {
    const message =
      'failed; if the root CA is installed locally, try running Node.js with --use-system-ca';
    const trouble = troubleOf(Object.assign(new Error(message), { code }));
    expect(trouble.kind).toBe(kind);
    const sentence = troubleSentence(trouble, url, NOW_MS);
    expect(sentence).toMatch(said);
    expect(sentence).not.toMatch(/node\.js|--use-system-ca|\n/i);
  });
});
