// Failed logins wait longer and longer, and never for good. decision: D37
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  accountTryKey,
  addressTryKey,
  delayAfter,
  waitOfLogin,
} from '../../machines/console/access/login.rules.ts';
import { mistakeOfPassword } from '../../machines/console/access/password.rules.ts';
import {
  LOGIN_ACCOUNT_TRIES_FREE,
  LOGIN_ADDRESS_TRIES_FREE,
  LOGIN_DELAY_MAX_MS,
  LOGIN_DELAY_MIN_MS,
  LOGIN_WINDOW_MS,
  PASSWORD_MAX_CHARS,
  PASSWORD_MIN_CHARS,
} from '../../machines/limits.ts';

const failures = fc.nat(10_000);
const times = fc.integer({ min: 0, max: 4_000_000_000_000 });

describe('throttled logins', () => {
  it('never make the first tries wait, nor anybody longer than the cap', () => {
    fc.assert(
      fc.property(failures, times, times, (count, lastAtMs, nowMs) => {
        for (const [key, free] of [
          [accountTryKey('A@b.test'), LOGIN_ACCOUNT_TRIES_FREE],
          [addressTryKey('192.0.2.1'), LOGIN_ADDRESS_TRIES_FREE],
        ] as const) {
          const wait = waitOfLogin({ key, failures: count, lastAtMs }, nowMs);
          expect(wait).toBeGreaterThanOrEqual(0);
          expect(wait).toBeLessThanOrEqual(count < free ? 0 : LOGIN_DELAY_MAX_MS);
        }
      }),
    );
  });

  it('always wait twice as long as before, until the cap', () => {
    fc.assert(
      fc.property(failures, (count) => {
        const [now, next] = [delayAfter(count, 5), delayAfter(count + 1, 5)];
        if (count < 4) expect(next).toBe(0);
        else if (count === 4) expect(next).toBe(LOGIN_DELAY_MIN_MS);
        else expect(next).toBe(Math.min(LOGIN_DELAY_MAX_MS, now * 2));
      }),
    );
  });

  it('always end within the window, so that no account is closed for good', () => {
    expect(LOGIN_DELAY_MAX_MS).toBeLessThan(LOGIN_WINDOW_MS);
    fc.assert(
      fc.property(failures, times, (count, lastAtMs) => {
        const counted = { key: accountTryKey('a@b.test'), failures: count, lastAtMs };
        expect(waitOfLogin(counted, lastAtMs + LOGIN_DELAY_MAX_MS)).toBe(0);
      }),
    );
  });

  it('never let a guesser judge more than the bound in a day', () => {
    // The greediest guesser: a try at the first instant that is allowed, or after the window, whichever gives more.
    let tries = 0;
    const state = { key: accountTryKey('a@b.test'), failures: 0, lastAtMs: 0 };
    for (let nowMs = 0; nowMs < 86_400_000; nowMs += 1_000) {
      if (nowMs - state.lastAtMs >= LOGIN_WINDOW_MS) state.failures = 0;
      if (waitOfLogin(state, nowMs) > 0) continue;
      state.failures += 1;
      state.lastAtMs = nowMs;
      tries += 1;
    }
    expect(tries).toBeLessThanOrEqual(
      LOGIN_ACCOUNT_TRIES_FREE + 86_400_000 / LOGIN_DELAY_MAX_MS + 7,
    );
  });

  it('always count an address without regard to case, beside its site', () => {
    expect(accountTryKey('A@B.test')).toBe(accountTryKey('a@b.TEST'));
    expect(accountTryKey('x')).not.toBe(addressTryKey('x'));
  });
});

describe('passwords', () => {
  const rare = { email: 'maria.lopez@example.test', isCommon: () => false };

  it('never are refused for the kinds of their characters', () => {
    const chars = fc.integer({ min: 0x20, max: 0x10_ffff }).map((one) => String.fromCodePoint(one));
    const text = fc
      .array(chars, { minLength: PASSWORD_MIN_CHARS, maxLength: PASSWORD_MAX_CHARS })
      .map((all) => all.join(''))
      .filter((all) => [...all].length === all.length || [...all].length >= PASSWORD_MIN_CHARS);
    fc.assert(
      fc.property(text, (password) => {
        const isOwn = /maria\.lopez|service-?console|fleet runtime/i.test(password);
        if (!isOwn) expect(mistakeOfPassword(password, rare)).toBeNull();
      }),
    );
  });

  it('always are long enough, not too long, not common and not the account', () => {
    const of = (password: string, isCommon = (_: string) => false) =>
      mistakeOfPassword(password, { ...rare, isCommon });
    expect(of('x'.repeat(PASSWORD_MIN_CHARS - 1))).toBe('too_short');
    expect(of('😀'.repeat(PASSWORD_MIN_CHARS))).toBeNull();
    expect(of('x'.repeat(PASSWORD_MAX_CHARS))).toBeNull();
    expect(of('x'.repeat(PASSWORD_MAX_CHARS + 1))).toBe('too_long');
    expect(of('PassWord1', (lower) => lower === 'password1')).toBe('too_common');
    expect(of('Maria.Lopez-2026')).toBe('contains_account');
    expect(of('my service-console!')).toBe('contains_account');
  });
});
