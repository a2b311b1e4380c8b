// Every setting an operator may change while the Console runs: its shape and range, its default, when a change counts,
// and the rules that join several. What is stored wins over the default; what does not fit any more counts as not stored.
// A certificate must outlive the window in which renewal is recommended, and that window the one in which it is due.
// decision: D38
import Type, { type Static, type TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { type IntervalsResult, resolveIntervals } from '../../intervals.ts';
import {
  ANALYTICS_RETENTION_DAYS,
  CLIENT_CERTIFICATE_TTL_MS,
  ENROLLMENT_TOKEN_TTL_MS,
  type Intervals,
  LICENSE_GRACE_DAYS,
  LICENSE_GRACE_DAYS_MAX,
  RENEWAL_DUE_MS,
  RENEWAL_RECOMMENDED_MS,
  RETENTION_DAYS_MAX,
  SESSION_ABSOLUTE_MS,
  SESSION_IDLE_MS,
  SESSION_LIFETIME_HOURS_MAX,
  SETTING_TEXT_MAX_CHARS,
  TOKEN_TTL_MAX_MS,
  TOKEN_TTL_MIN_MS,
  WEBHOOK_ALLOW_LIST_MAX,
} from '../../limits.ts';
import { ROLES, type Role } from '../../trust/roles.rules.ts';
import { isAllowListEntry } from '../access/allow-list.rules.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const CERTIFICATE_TTL_HOURS_MAX = 17_520;
const RENEWAL_THRESHOLD_SECONDS_MIN = 3_600;
// When a session was last used is written once a minute: a shorter idle time could not be told from that.
const SESSION_IDLE_MINUTES_MIN = 5;

export const FEDERATION_ROLES = ['standalone', 'regional', 'central'] as const;

const SCHEMAS = {
  analytics_retention_days: Type.Integer({ minimum: 1, maximum: RETENTION_DAYS_MAX }),
  enrollment_token_ttl_seconds: Type.Integer({
    minimum: TOKEN_TTL_MIN_MS / SECOND_MS,
    maximum: TOKEN_TTL_MAX_MS / SECOND_MS,
  }),
  client_certificate_ttl_hours: Type.Integer({
    minimum: RENEWAL_RECOMMENDED_MS / HOUR_MS + 1,
    maximum: CERTIFICATE_TTL_HOURS_MAX,
  }),
  renewal_threshold_seconds: Type.Integer({
    minimum: RENEWAL_THRESHOLD_SECONDS_MIN,
    maximum: RENEWAL_RECOMMENDED_MS / SECOND_MS - 1,
  }),
  license_grace_days: Type.Integer({ minimum: 0, maximum: LICENSE_GRACE_DAYS_MAX }),
  federation_role: Type.Enum([...FEDERATION_ROLES]),
  federation_region: Type.String({ pattern: '^([a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?)?$' }),
  federation_region_label: Type.String({ maxLength: SETTING_TEXT_MAX_CHARS }),
  webhook_allow_list: Type.Array(Type.String({ maxLength: 255 }), {
    maxItems: WEBHOOK_ALLOW_LIST_MAX,
  }),
  mfa_required_roles: Type.Array(Type.Enum([...ROLES]), {
    uniqueItems: true,
    maxItems: ROLES.length,
  }),
  session_idle_minutes: Type.Integer({
    minimum: SESSION_IDLE_MINUTES_MIN,
    maximum: SESSION_LIFETIME_HOURS_MAX * (HOUR_MS / MINUTE_MS),
  }),
  session_lifetime_hours: Type.Integer({ minimum: 1, maximum: SESSION_LIFETIME_HOURS_MAX }),
} as const satisfies Record<string, TSchema>;

export type SettingName = keyof typeof SCHEMAS;
export type SettingValues = {
  readonly [Name in SettingName]: Readonly<Static<(typeof SCHEMAS)[Name]>>;
};
type Camel<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : S;
/** The settings as the program reads them. */
export type Settings = {
  readonly [Name in SettingName as Camel<Name>]: SettingValues[Name];
};

/** `live`: a change counts at once, everywhere; `next_start`: when the Console starts again. */
export type Applies = 'live' | 'next_start';
type Definition = { readonly applies: Applies; readonly about: string };

export const SETTING_DEFAULTS: SettingValues = {
  analytics_retention_days: ANALYTICS_RETENTION_DAYS,
  enrollment_token_ttl_seconds: ENROLLMENT_TOKEN_TTL_MS / SECOND_MS,
  client_certificate_ttl_hours: CLIENT_CERTIFICATE_TTL_MS / HOUR_MS,
  renewal_threshold_seconds: RENEWAL_DUE_MS / SECOND_MS,
  license_grace_days: LICENSE_GRACE_DAYS,
  federation_role: 'standalone',
  federation_region: '',
  federation_region_label: '',
  webhook_allow_list: [],
  mfa_required_roles: ['sensor_owner', 'operator', 'admin'],
  session_idle_minutes: SESSION_IDLE_MS / MINUTE_MS,
  session_lifetime_hours: SESSION_ABSOLUTE_MS / HOUR_MS,
};

const live = (about: string): Definition => ({ applies: 'live', about });
const atStart = (about: string): Definition => ({ applies: 'next_start', about });
export const SETTINGS: Readonly<Record<SettingName, Definition>> = {
  analytics_retention_days: live('How long runtime events are kept.'),
  enrollment_token_ttl_seconds: live('How long a new enrollment token can be used.'),
  client_certificate_ttl_hours: live('How long the next certificates of sensors are valid.'),
  renewal_threshold_seconds: live('How long before its end the renewal of a certificate is due.'),
  license_grace_days: live(
    'The grace of a license that is signed here without one; a signed license keeps its own.',
  ),
  federation_role: atStart('How this Console takes part in a federation.'),
  federation_region: atStart('The identifier of this region.'),
  federation_region_label: atStart('The region as people read it.'),
  webhook_allow_list: live('Private host names, addresses and networks that webhooks may reach.'),
  mfa_required_roles: live(
    'The roles that need a second factor; a quick start, which is an evaluation, asks none unless this is set.',
  ),
  session_idle_minutes: live('A session ends after this time without a request.'),
  session_lifetime_hours: live('A session ends after this time in any case.'),
};
export const SETTING_NAMES = Object.keys(SETTINGS) as readonly SettingName[];

export type SettingMistake = {
  readonly name: string;
  readonly at: string;
  readonly detail: string;
};

const CHECKS = Object.fromEntries(
  SETTING_NAMES.map((name) => [name, Compile(SCHEMAS[name])]),
) as Readonly<Record<SettingName, ReturnType<typeof Compile>>>;

/** The JSON Schema of a setting's value, for descriptions. */
export function schemaOfSetting(name: SettingName): TSchema {
  return SCHEMAS[name];
}

export function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(SCHEMAS, name);
}

/**
 * What is wrong with a change, all of it at once; none when it may be stored. `null` gives a setting its default back.
 * Rules that join settings are judged on what would hold afterwards.
 */
export function mistakesOfChange(
  before: SettingValues,
  change: Readonly<Record<string, unknown>>,
): readonly SettingMistake[] {
  const own = Object.entries(change).flatMap(([name, value]) => ownMistakes(name, value));
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

/** Whose sessions or second factors a change protects less than before; who makes it must reach them. decision: D62 */
export function rolesWeakenedBy(
  before: SettingValues,
  change: Readonly<Record<string, unknown>>,
): readonly Role[] {
  const after = withChange(before, change);
  const isLonger = (['session_idle_minutes', 'session_lifetime_hours'] as const).some(
    (name) => after[name] > before[name],
  );
  if (isLonger) return ROLES;
  return before.mfa_required_roles.filter((role) => !after.mfa_required_roles.includes(role));
}

/**
 * The settings that hold for what is stored. A stored value that does not fit, and every stored value of a rule that is
 * broken, counts as not stored and is named.
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
  const less = Object.entries(stored).filter(([name]) => !RULED_TOGETHER.has(name));
  return {
    values: withChange(SETTING_DEFAULTS, Object.fromEntries(less)),
    ignored: [...new Set([...ignored, ...broken])],
  };
}

const RULED_TOGETHER: ReadonlySet<string> = new Set<SettingName>([
  'client_certificate_ttl_hours',
  'renewal_threshold_seconds',
  'session_idle_minutes',
  'session_lifetime_hours',
  'federation_role',
  'federation_region',
  'federation_region_label',
]);

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
