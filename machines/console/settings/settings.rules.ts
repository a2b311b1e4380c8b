// Every setting an operator may change while the Console runs: its shape and range, its default, when a change counts,
// and the rules that join several. What is stored wins over the default; what does not fit any more counts as not stored.
// A certificate must outlive the window in which renewal is recommended, and that window the one in which it is due.
// decision: D38
import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { type IntervalsResult, resolveIntervals } from '../../intervals.ts';
import { joined } from '../../joined.ts';
import { type Intervals, RENEWAL_RECOMMENDED_MS } from '../../limits.ts';
import { ROLES, type Role } from '../../trust/roles.rules.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../units.ts';
import { isAllowListEntry } from '../access/allow-list.rules.ts';
import * as LIST from '../setting-list.ts';
import type { SettingDefinition } from './setting.ts';

/** Every setting there is. */
export const SETTINGS = joined(LIST);

export type SettingName = keyof typeof SETTINGS;
export type SettingValues = {
  readonly [Name in SettingName]: Readonly<Static<(typeof SETTINGS)[Name]['schema']>>;
};
type Camel<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : S;
/** The settings as the program reads them. */
export type Settings = {
  readonly [Name in SettingName as Camel<Name>]: SettingValues[Name];
};

const eachOf = <Value>(pick: (one: SettingDefinition) => Value) =>
  Object.fromEntries(Object.entries(SETTINGS).map(([name, one]) => [name, pick(one)]));

export const SETTING_NAMES = Object.keys(SETTINGS) as readonly SettingName[];
export const SETTING_DEFAULTS = eachOf((one) => one.default) as SettingValues;

export type SettingMistake = {
  readonly name: string;
  readonly at: string;
  readonly detail: string;
};

const CHECKS = eachOf((one) => Compile(one.schema)) as Readonly<
  Record<SettingName, ReturnType<typeof Compile>>
>;

/** The JSON Schema of a setting's value, for descriptions. */
export function schemaOfSetting(name: SettingName): TSchema {
  return SETTINGS[name].schema;
}

export function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(SETTINGS, name);
}

/**
 * What is wrong with a change, all of it at once; none when it may be stored. `null` gives a setting its default back.
 * Rules that join settings are judged on what would hold afterwards.
 */
export function mistakesOfChange(
  before: SettingValues,
  change: Readonly<Record<string, unknown>>,
): readonly SettingMistake[] {
  const own = Object.entries(change).flatMap(([name, value]) => [
    ...ownMistakes(name, value),
    ...finalMistakes(before, name, value),
  ]);
  const named = new Set(own.map(({ name }) => name));
  const after = withChange(before, change);
  return [...own, ...crossMistakes(after).filter(({ name }) => !named.has(name))];
}

function ownMistakes(name: string, value: unknown): readonly SettingMistake[] {
  if (!isSettingName(name)) return [{ name, at: '', detail: 'there is no such setting' }];
  if (value === null) return [];
  const check = CHECKS[name];
  if (!check.Check(value)) {
    return check.Errors(value).map((error) => ({
      name,
      at: error.instancePath,
      detail: detailOf(error),
    }));
  }
  if (name !== 'webhook_allow_list') return [];
  return (value as readonly string[]).flatMap((entry, at) =>
    isAllowListEntry(entry)
      ? []
      : [{ name, at: `/${at}`, detail: 'must be a host name, an address or a network' }],
  );
}

function finalMistakes(
  before: SettingValues,
  name: string,
  value: unknown,
): readonly SettingMistake[] {
  if (!isSettingName(name)) return [];
  const { final }: SettingDefinition = SETTINGS[name];
  const isTakenBack = final !== undefined && before[name] === final && value !== final;
  return isTakenBack ? [{ name, at: '', detail: `is ${String(final)} for good` }] : [];
}

/** Where only some values may stand, they are named. */
function detailOf(error: { readonly message: string; readonly params: unknown }): string {
  const { allowedValues: allowed } = error.params as { allowedValues?: readonly unknown[] };
  return allowed === undefined ? error.message : `must be one of: ${allowed.join(', ')}`;
}

function withChange(
  before: SettingValues,
  change: Readonly<Record<string, unknown>>,
): SettingValues {
  const sound = Object.entries(change).filter(
    ([name, value]) => isSettingName(name) && ownMistakes(name, value).length === 0,
  );
  const given = sound.map(([name, value]) => [
    name,
    value ?? SETTING_DEFAULTS[name as SettingName],
  ]);
  return { ...before, ...Object.fromEntries(given) };
}

function crossMistakes(values: SettingValues): readonly SettingMistake[] {
  const found: SettingMistake[] = [];
  const rule = (name: SettingName, isBroken: boolean, detail: string): void => {
    if (isBroken) found.push({ name, at: '', detail });
  };
  const ttlMs = values.client_certificate_ttl_hours * HOUR_MS;
  const thresholdMs = values.renewal_threshold_seconds * SECOND_MS;
  rule('client_certificate_ttl_hours', ttlMs <= RENEWAL_RECOMMENDED_MS, 'must be over 72 hours');
  rule(
    'renewal_threshold_seconds',
    thresholdMs >= RENEWAL_RECOMMENDED_MS,
    'must be under 72 hours',
  );
  const idleMs = values.session_idle_minutes * MINUTE_MS;
  rule(
    'session_idle_minutes',
    idleMs > values.session_lifetime_hours * HOUR_MS,
    'must not be longer than session_lifetime_hours',
  );
  const isFederated = values.federation_role !== 'standalone';
  for (const name of ['federation_region', 'federation_region_label'] as const) {
    rule(name, isFederated && values[name] === '', 'is needed by every role but standalone');
  }
  return found;
}

/** What a quick start asks less while nobody set it; `serve` on the same data asks it. */
export const EVALUATION_SETTINGS: Partial<SettingValues> = { mfa_required_roles: [] };

/** The settings that protect accounts: whoever changes one has shown its credentials lately. decision: D63 */
export const SECURITY_SETTINGS: ReadonlySet<string> = new Set<SettingName>([
  ...(['mfa_required_roles', 'session_idle_minutes', 'session_lifetime_hours'] as const),
]);

/** What protects accounts, as it is in force: whatever set it, a row, the configuration or a default. */
export type Protection = {
  readonly settings: Pick<Settings, 'mfaRequiredRoles'>;
  readonly intervals: Pick<Intervals, 'SESSION_IDLE_MS' | 'SESSION_ABSOLUTE_MS'>;
};

/** Whose sessions or second factors are protected less than before; who makes it so must reach them. decision: D62 */
export function rolesWeakenedBy(before: Protection, after: Protection): readonly Role[] {
  const isLonger = (['SESSION_IDLE_MS', 'SESSION_ABSOLUTE_MS'] as const).some(
    (name) => after.intervals[name] > before.intervals[name],
  );
  if (isLonger) return ROLES;
  const { mfaRequiredRoles: asked } = after.settings;
  return before.settings.mfaRequiredRoles.filter((role) => !asked.includes(role));
}

/**
 * The settings that hold for what is stored. A stored value that does not fit, and every stored value of a rule that is
 * broken, counts as not stored and is named; what no broken rule joins stays as it is.
 */
export function settingsFrom(stored: Readonly<Record<string, unknown>>): {
  readonly values: SettingValues;
  readonly ignored: readonly string[];
} {
  const ignored = Object.entries(stored).flatMap(([name, value]) =>
    ownMistakes(name, value).length > 0 ? [name] : [],
  );
  const values = withChange(SETTING_DEFAULTS, stored);
  const broken = crossMistakes(values).map(({ name }) => name);
  if (broken.length === 0) return { values, ignored };
  const left = new Set(joinedWith(broken));
  const less = Object.entries(stored).filter(([name]) => !left.has(name));
  const named = Object.keys(stored).filter((name) => left.has(name));
  return {
    values: withChange(SETTING_DEFAULTS, Object.fromEntries(less)),
    ignored: [...new Set([...ignored, ...named])],
  };
}

/** The settings that rules join with these, themselves among them. */
export function joinedWith(names: readonly string[]): readonly string[] {
  const joined = RULED_TOGETHER.filter((group) => group.some((name) => names.includes(name)));
  return [...new Set([...names, ...joined.flat()])];
}

const RULED_TOGETHER: readonly (readonly string[])[] = [
  ['client_certificate_ttl_hours', 'renewal_threshold_seconds'],
  ['session_idle_minutes', 'session_lifetime_hours'],
  ['federation_role', 'federation_region', 'federation_region_label'],
] satisfies readonly (readonly SettingName[])[];

/** The settings by the names the program uses. */
export function settingsOf(values: SettingValues): Settings {
  const entries = Object.entries(values).map(([name, value]) => [camelOf(name), value]);
  return Object.freeze(Object.fromEntries(entries)) as Settings;
}

/** The intervals of the configuration with what is stored put over them; their relations are checked as a whole. */
export function intervalsWith(
  base: Intervals,
  stored: Readonly<Partial<SettingValues>>,
): IntervalsResult {
  const {
    enrollment_token_ttl_seconds: tokenSeconds,
    client_certificate_ttl_hours: ttlHours,
    renewal_threshold_seconds: dueSeconds,
    session_idle_minutes: idleMinutes,
    session_lifetime_hours: lifetimeHours,
  } = stored;
  return resolveIntervals({
    ...base,
    ...(tokenSeconds === undefined ? {} : { ENROLLMENT_TOKEN_TTL_MS: tokenSeconds * SECOND_MS }),
    ...(ttlHours === undefined ? {} : { CLIENT_CERTIFICATE_TTL_MS: ttlHours * HOUR_MS }),
    ...(dueSeconds === undefined ? {} : { RENEWAL_DUE_MS: dueSeconds * SECOND_MS }),
    ...(idleMinutes === undefined ? {} : { SESSION_IDLE_MS: idleMinutes * MINUTE_MS }),
    ...(lifetimeHours === undefined ? {} : { SESSION_ABSOLUTE_MS: lifetimeHours * HOUR_MS }),
  });
}

function camelOf(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
