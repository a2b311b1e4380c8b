import { describe, expect, it } from 'vitest';
import { ERRORS } from '../errors.ts';
import { judgeRefusal, refusalSentence } from './enrollment.rules.ts';

const FINAL = [
  'token_invalid',
  'token_consumed',
  'token_expired',
  'csr_refused',
  'sensor_is_revoked',
  'license_limit',
  'schema_violation',
  'malformed_request',
  'malformed_body',
];

describe('refusalSentence', () => {
  it('should name the next command, on one line', () => {
    for (const code of ['token_expired', 'token_consumed', 'token_invalid', 'sensor_is_revoked']) {
      expect(refusalSentence(code, 'Because.')).toMatch(
        /^[a-z_]+: Because; .*service-console tokens create$/,
      );
    }
    expect(refusalSentence('license_limit', 'Full.')).toContain('service-console license import');
    expect(refusalSentence('console_not_trusted', 'Why.')).toBe('console_not_trusted: Why.');
  });
});

describe('judgeRefusal', () => {
  it.each(FINAL)('should take %s for final, with what was said', (code) => {
    expect(judgeRefusal(code, 'because', 5)).toEqual({ kind: 'refused', code, detail: 'because' });
  });

  it('should try again after every other refusal, as late as the Console asks', () => {
    for (const code of [...Object.keys(ERRORS), 'http_502'].filter((one) => !FINAL.includes(one))) {
      expect(judgeRefusal(code, 'because', 5)).toEqual({
        kind: 'retry',
        reason: `${code}: because`,
        retryAfterMs: 5,
      });
    }
  });
});
