// Settings: whatever is stored, what holds fits every rule; a change that is taken leaves the rules whole, and one that is
// refused says why. decision: D38
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isAllowListEntry } from '../../machines/console/access/allow-list.rules.ts';
import { FEDERATION_ROLES } from '../../machines/console/federation/settings.ts';
import {
  intervalsWith,
  mistakesOfChange,
  SETTING_DEFAULTS,
  SETTING_NAMES,
  SETTINGS,
  type SettingName,
  type SettingValues,
  schemaOfSetting,
  settingsFrom,
  settingsOf,
} from '../../machines/console/settings/settings.rules.ts';
import { DEFAULT_INTERVALS } from '../../machines/intervals.ts';
import { RENEWAL_RECOMMENDED_MS } from '../../machines/limits.ts';
import { ROLES } from '../../machines/trust/roles.rules.ts';

const HOUR_MS = 3_600_000;
const anyValue = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.integer(), fc.constant(null));
const near = (...middles: readonly number[]) =>
  fc.oneof(
    fc.constantFrom(...middles).chain((one) => fc.integer({ min: one - 2, max: one + 2 })),
    fc.integer({ min: -5, max: 700_000 }),
  );
const likely: Readonly<Record<SettingName, fc.Arbitrary<unknown>>> = {
  analytics_retention_days: near(1, 3_650),
  enrollment_token_ttl_seconds: near(60, 86_400),
  client_certificate_ttl_hours: near(72, 17_520),
  renewal_threshold_seconds: near(3_600, 259_200),
  license_grace_days: near(0, 365),
  federation_role: fc.constantFrom(...FEDERATION_ROLES, 'other'),
  federation_region: fc.constantFrom('', 'eu-1', '-bad', 'EU'),
  federation_region_label: fc.constantFrom('', 'Europe'),
  webhook_allow_list: fc.array(fc.constantFrom('10.0.0.0/8', 'siem.example', '::/0', 'fd00::/16')),
  policy_signing: fc.constantFrom('console', 'offline', 'nobody'),
  mfa_required_roles: fc.array(fc.constantFrom(...ROLES)),
  session_idle_minutes: near(5, 60, 720, 43_200),
  session_lifetime_hours: near(1, 12, 720),
};
const change = fc
  .tuple(
    fc.record(likely, { requiredKeys: [] }),
    fc.dictionary(fc.oneof(fc.constantFrom(...SETTING_NAMES), fc.string()), anyValue, {
      maxKeys: 2,
      noNullPrototype: true,
    }),
    fc.boolean(),
  )
  .map(([some, wild, isWild]): Record<string, unknown> => ({ ...some, ...(isWild ? wild : {}) }));

function expectSound(values: SettingValues): void {
  const ttlMs = values.client_certificate_ttl_hours * HOUR_MS;
  expect(ttlMs).toBeGreaterThan(RENEWAL_RECOMMENDED_MS);
  expect(values.renewal_threshold_seconds * 1_000).toBeLessThan(RENEWAL_RECOMMENDED_MS);
  expect(values.session_idle_minutes).toBeLessThanOrEqual(60 * values.session_lifetime_hours);
  if (values.federation_role !== 'standalone') {
    expect(values.federation_region).not.toBe('');
    expect(values.federation_region_label).not.toBe('');
  }
  expect(values.webhook_allow_list.every(isAllowListEntry)).toBe(true);
  expect(mistakesOfChange(values, values)).toEqual([]);
  expect(intervalsWith(DEFAULT_INTERVALS, values).ok).toBe(true);
}

describe('settings: rules', () => {
  it('always have defaults that fit, a schema and a word for people', () => {
    expectSound(SETTING_DEFAULTS);
    expect(Object.keys(SETTING_DEFAULTS).sort()).toEqual([...SETTING_NAMES].sort());
    expect(settingsFrom({})).toEqual({ values: SETTING_DEFAULTS, ignored: [] });
    const intervals = intervalsWith(DEFAULT_INTERVALS, SETTING_DEFAULTS);
    expect(intervals).toEqual({ ok: true, intervals: DEFAULT_INTERVALS });
    for (const name of SETTING_NAMES) {
      expect(SETTINGS[name].about).toMatch(/\.$/);
      expect(schemaOfSetting(name)).toBeTypeOf('object');
    }
  });

  it('always hold, whatever is stored, and name what was left out', () => {
    fc.assert(
      fc.property(change, (stored) => {
        const { values, ignored } = settingsFrom(stored);
        expectSound(values);
        for (const [name, value] of Object.entries(stored)) {
          const isHeld =
            value === null || JSON.stringify(values[name as SettingName]) === JSON.stringify(value);
          // A rule between several settings takes all of them back, and names the one that broke it.
          if (!isHeld) expect(ignored.length).toBeGreaterThan(0);
        }
      }),
    );
  });

  it('always hold after a change that was taken; a refused one has its reasons', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 6 }), (changes) => {
        let stored: Record<string, unknown> = {};
        for (const one of changes) {
          const before = settingsFrom(stored).values;
          const mistakes = mistakesOfChange(before, one);
          for (const { detail } of mistakes) expect(detail).not.toBe('');
          if (mistakes.length > 0) continue;
          stored = { ...stored, ...one };
          for (const [name, value] of Object.entries(stored)) {
            if (value === null) delete stored[name];
          }
          const { values, ignored } = settingsFrom(stored);
          expect(ignored).toEqual([]);
          expectSound(values);
          for (const [name, value] of Object.entries(one)) {
            const expected = value ?? SETTING_DEFAULTS[name as SettingName];
            expect(values[name as SettingName]).toEqual(expected);
          }
        }
      }),
    );
  });

  it('never are taken with a name nobody knows or a value out of range', () => {
    const refused = (one: Record<string, unknown>) => mistakesOfChange(SETTING_DEFAULTS, one);
    expect(refused({ toString: 1 })).toHaveLength(1);
    expect(refused({ client_certificate_ttl_hours: 72 })).not.toEqual([]);
    expect(refused({ client_certificate_ttl_hours: 73 })).toEqual([]);
    expect(refused({ renewal_threshold_seconds: 259_200 })).not.toEqual([]);
    expect(refused({ renewal_threshold_seconds: 259_199 })).toEqual([]);
    expect(refused({ session_idle_minutes: 721 })).not.toEqual([]);
    expect(refused({ session_idle_minutes: 721, session_lifetime_hours: 13 })).toEqual([]);
    expect(refused({ mfa_required_roles: ['admin', 'admin'] })).not.toEqual([]);
  });

  it('always are read by the names the program uses', () => {
    expect(settingsOf(SETTING_DEFAULTS)).toMatchObject({
      ...{ analyticsRetentionDays: 90, mfaRequiredRoles: ['sensor_owner', 'operator', 'admin'] },
    });
  });
});

describe('settings: list of destinations', () => {
  it.each([
    ['siem.example', true],
    ['*.corp.example', true],
    ['localhost', true],
    ['10.1.2.3', true],
    ['10.0.0.0/8', true],
    ['fd00::1', true],
    ['fd00::/16', true],
    ['2001:db8:0:0:0:0:0:1', true],
    ['', false],
    ['*', false],
    ['0.0.0.0/0', false],
    ['10.0.0.0/7', false],
    ['10.0.0.0/33', false],
    ['::/0', false],
    ['::/15', false],
    ['fd00::/129', false],
    ['10.0.0', false],
    ['10.0.0.256', false],
    ['010.0.0.1', false],
    ['0x7f.1', false],
    ['2130706433', false],
    ['1::2::3', false],
    ['1:2:3:4:5:6:7:8:9', false],
    ['a..b', false],
    ['-a.example', false],
    ['host/8', false],
    ['10.0.0.0/8/8', false],
    ['https://siem.example', false],
    ['siem.example:443', false],
  ])('%s: %s', (text, isAllowed) => {
    expect(isAllowListEntry(text)).toBe(isAllowed);
  });

  it('never throws and never takes a text with a space', () => {
    fc.assert(fc.property(fc.string(), (text) => !isAllowListEntry(`${text} x`)));
  });
});
