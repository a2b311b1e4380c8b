// The settings of this Console: read at the start, changed by operators, and followed every two seconds, because another
// Console on the same database may have changed them. Whoever depends on one asks `get()` at the moment it is needed, reads
// an interval from `intervals`, which always has the values in force, or subscribes. decision: D38

import type { Applies } from '../../machines/console/settings/setting.ts';
import {
  intervalsWith,
  isSettingName,
  joinedWith,
  mistakesOfChange,
  rolesWeakenedBy,
  SETTING_DEFAULTS,
  SETTING_NAMES,
  SETTINGS,
  type SettingMistake,
  type SettingName,
  type Settings,
  type SettingValues,
  settingsFrom,
  settingsOf,
} from '../../machines/console/settings/settings.rules.ts';
import { type Refusal, refuse } from '../../machines/errors.ts';
import { INTERVALS, type Intervals, SETTINGS_LOOK_INTERVAL_MS } from '../../machines/limits.ts';
import { type Reach, refusalOfReachAll } from '../../machines/trust/reach.rules.ts';
import type { AuditContext } from '../../storage/ports/plumbing/audit-context.ts';
import type { SettingRow, SettingsStore } from '../../storage/ports/settings/settings-store.ts';
import type { UpkeepLoop } from '../loops/loop.ts';
import type { Logger } from '../runtime/logger.ts';
import { createLooks, type Looks } from '../runtime/looks.ts';
import { orUnavailable } from '../trust/outage.ts';

export type SettingView = {
  readonly name: SettingName;
  readonly value: unknown;
  readonly default: unknown;
  /** 0: nobody ever set it. */
  readonly revision: number;
  readonly applies: Applies;
  readonly about: string;
  readonly changedAtMs: number | null;
  readonly changedBy: string | null;
};

type Change = Pick<AuditContext, 'actor' | 'from'> & {
  /** `null` gives a setting its default back. */
  readonly values: Readonly<Record<string, unknown>>;
  readonly revisions: Readonly<Record<string, number>>;
  /** What the credential that asks holds; absent: the Console itself. */
  readonly by?: Reach;
};

export type SettingsService = {
  get(): Settings;
  /** The intervals of the configuration with the settings put over them; each is the one in force when it is read. */
  readonly intervals: Intervals;
  view(): readonly SettingView[];
  /** Changes several at once or none; every mistake is named. */
  change(input: Change): Promise<{ readonly ok: true } | Refusal>;
  /** Puts what nobody ever set, and leaves what somebody did: for a first start. */
  provision(input: Pick<Change, 'actor' | 'values'>): Promise<{ readonly ok: true } | Refusal>;
  /** Called after every change with what holds now and what held before; gives back its end. */
  subscribe(listener: (now: Settings, before: Settings) => void): () => void;
  /** Looks what another Console changed. */
  readonly loop: UpkeepLoop;
  close(): void;
};

export type SettingsServiceDeps = {
  readonly store: SettingsStore;
  /** The configuration's; a setting that was never set leaves them as they are. */
  readonly base: Intervals;
  /** What holds while nobody set it, where that is not the usual: of an evaluation. */
  readonly defaults?: Partial<SettingValues> | undefined;
  readonly now: () => number;
  readonly logger: Logger;
};

type InForce = {
  readonly rows: ReadonlyMap<string, SettingRow>;
  readonly values: SettingValues;
  readonly settings: Settings;
  readonly intervals: Intervals;
};
type Service = SettingsServiceDeps & {
  inForce: InForce;
  readonly looks: Looks;
  readonly listeners: Set<(now: Settings, before: Settings) => void>;
};

/** Opens the service from what is stored. Rejects with StoreUnavailable. */
export async function openSettingsService(deps: SettingsServiceDeps): Promise<SettingsService> {
  const rows = mapOf(await deps.store.list());
  const service: Service = {
    ...deps,
    inForce: inForceOf(deps, rows),
    looks: createLooks(),
    listeners: new Set(),
  };
  return {
    get: () => service.inForce.settings,
    intervals: liveIntervals(service),
    view: () => SETTING_NAMES.map((name) => viewOf(service, name)),
    change: (input) => orUnavailable(() => change(service, input)),
    provision: (input) => orUnavailable(() => provision(service, input)),
    subscribe(listener) {
      service.listeners.add(listener);
      return () => void service.listeners.delete(listener);
    },
    loop: lookLoop(service),
    close: () => service.listeners.clear(),
  };
}

async function change(service: Service, input: Change): Promise<{ readonly ok: true } | Refusal> {
  // What another Console changed meanwhile is judged together with this change.
  await look(service);
  const mistakes = [...mistakesOf(service, input.values), ...revisionMistakes(input)];
  if (mistakes.length > 0) {
    return refuse('schema_violation', 'The change does not fit.', { errors: mistakes });
  }
  const { by, ...asked } = input;
  // What was judged is what is replaced: whoever names another revision than was looked at here has to look again.
  const seen = ({ rows }: InForce, name: string) => rows.get(name)?.revision ?? 0;
  const stale = Object.keys(input.revisions).filter(
    (name) => seen(service.inForce, name) !== input.revisions[name],
  );
  if (stale.length > 0) return conflicting(service, stale);
  // Compared as they would be in force, not as they are written: null and the configuration have values of their own.
  const wanted = judgedOf(service, rowsAfter(service, input)).inForce;
  const weakened = rolesWeakenedBy(service.inForce, wanted);
  const beyond = by === undefined ? null : refusalOfReachAll(by, weakened);
  if (beyond !== null) return beyond;
  // Rules join settings: what else was judged with these has to be as it was, too.
  const judged = joinedWith(Object.keys(input.values));
  const revisions = Object.fromEntries(judged.map((name) => [name, seen(service.inForce, name)]));
  const put = await service.store.put({ ...asked, revisions, nowMs: service.now() });
  if (!put.ok) {
    await look(service);
    return conflicting(service, put.conflicts);
  }
  service.looks.outdate();
  take(service, new Map([...service.inForce.rows, ...mapOf(put.rows)]));
  return { ok: true };
}

function conflicting({ inForce: { rows } }: Service, names: readonly string[]): Refusal {
  return refuse('settings_conflict', `Changed meanwhile: ${names.join(', ')}.`, {
    errors: names.map((name) => ({
      pointer: `/revisions/${name}`,
      detail: `is ${rows.get(name)?.revision ?? 0} now`,
    })),
  });
}

async function provision(
  service: Service,
  input: Pick<Change, 'actor' | 'values'>,
): Promise<{ readonly ok: true } | Refusal> {
  await look(service);
  const unset = Object.entries(input.values).filter(([name]) => !service.inForce.rows.has(name));
  const values = Object.fromEntries(unset);
  const revisions = Object.fromEntries(unset.map(([name]) => [name, 0]));
  const changed = await change(service, { actor: input.actor, values, revisions });
  // Another Console that starts at the same time sets the same: whoever came first is right.
  return !changed.ok && changed.code === 'settings_conflict' ? { ok: true } : changed;
}

function mistakesOf(service: Service, values: Change['values']) {
  const own = mistakesOfChange(service.inForce.values, values);
  const shown = own.map(({ name, at, detail }: SettingMistake) => ({
    pointer: `/values/${name}${at}`,
    detail,
  }));
  if (own.length > 0) return shown;
  const checked = intervalsWith(service.base, storedValues(rowsAfter(service, { values })));
  return checked.ok ? [] : checked.mistakes.map((detail) => ({ pointer: '/values', detail }));
}

/** What would be stored after a change. */
function rowsAfter({ inForce: { rows } }: Service, { values }: Pick<Change, 'values'>) {
  const after = new Map(rows);
  for (const [name, value] of Object.entries(values)) after.set(name, rowLike(name, value));
  return after;
}

function revisionMistakes({ values, revisions }: Change) {
  const missing = Object.keys(values).filter((name) => !Object.hasOwn(revisions, name));
  const unused = Object.keys(revisions).filter((name) => !Object.hasOwn(values, name));
  return [
    ...missing.map((name) => ({ pointer: `/revisions/${name}`, detail: 'required' })),
    ...unused.map((name) => ({ pointer: `/revisions/${name}`, detail: 'has no value here' })),
  ];
}

/** Takes over what is stored: what another Console changed, or what is left after the database went back. */
async function look(service: Service): Promise<void> {
  const isNewest = service.looks.begin();
  const rows = mapOf(await service.store.list());
  // A change of this Console that ended meanwhile knows more.
  if (isNewest()) take(service, rows);
}

function take(service: Service, rows: ReadonlyMap<string, SettingRow>): void {
  const isSame =
    rows.size === service.inForce.rows.size &&
    [...rows].every(([name, row]) => isSameRow(service.inForce.rows.get(name), row));
  if (isSame) return;
  const before = service.inForce.settings;
  service.inForce = inForceOf(service, rows);
  for (const listener of service.listeners) {
    try {
      listener(service.inForce.settings, before);
    } catch (error) {
      service.logger.error({ error: String(error) }, 'a changed setting could not be applied');
    }
  }
}

/** A database that went back may have come to the same revision by another change. */
function isSameRow(one: SettingRow | undefined, other: SettingRow): boolean {
  const { revision, changedAtMs, changedBy } = other;
  const isOfOneChange = one?.changedAtMs === changedAtMs && one.changedBy === changedBy;
  return isOfOneChange && one.revision === revision;
}

/** What holds for these rows; what counts as not stored is told. */
function inForceOf(
  deps: Pick<SettingsServiceDeps, 'base' | 'logger' | 'defaults'>,
  rows: ReadonlyMap<string, SettingRow>,
): InForce {
  const { inForce, ignored, mistakes } = judgedOf(deps, rows);
  if (ignored.length > 0) {
    deps.logger.error({ settings: ignored }, 'stored settings do not fit and count as not set');
  }
  if (mistakes.length > 0) {
    deps.logger.error(
      { mistakes },
      'the intervals of the configuration stay: the settings contradict them',
    );
  }
  return inForce;
}

function judgedOf(
  { base, defaults = {} }: Pick<SettingsServiceDeps, 'base' | 'defaults'>,
  rows: ReadonlyMap<string, SettingRow>,
) {
  const stored = storedValues(rows);
  const { values: usual, ignored } = settingsFrom(stored);
  const isSet = (name: string) => Object.hasOwn(stored, name) && !ignored.includes(name);
  const own = Object.entries(defaults).filter(([name]) => !isSet(name));
  const values = { ...usual, ...Object.fromEntries(own) };
  const sound = Object.fromEntries(
    Object.entries(stored).filter(([name]) => !ignored.includes(name)),
  );
  const intervals = intervalsWith(base, sound);
  const inForce: InForce = {
    rows,
    values,
    settings: settingsOf(values),
    intervals: intervals.ok ? intervals.intervals : base,
  };
  return { inForce, ignored, mistakes: intervals.ok ? [] : intervals.mistakes };
}

function liveIntervals(service: Service): Intervals {
  const view = {};
  for (const name of Object.keys(INTERVALS) as (keyof Intervals)[]) {
    Object.defineProperty(view, name, {
      enumerable: true,
      get: () => service.inForce.intervals[name],
    });
  }
  return Object.freeze(view) as Intervals;
}

function lookLoop(service: Service): UpkeepLoop {
  return {
    name: 'settings-look',
    runsOn: 'process',
    everyMs: SETTINGS_LOOK_INTERVAL_MS,
    async run() {
      await look(service);
      return undefined;
    },
  };
}

function viewOf(
  { inForce: { rows, values }, defaults = {} }: Service,
  name: SettingName,
): SettingView {
  const row = rows.get(name);
  const { applies, about } = SETTINGS[name];
  return {
    name,
    value: values[name],
    default: defaults[name] ?? SETTING_DEFAULTS[name],
    revision: row?.revision ?? 0,
    applies,
    about,
    changedAtMs: row?.changedAtMs ?? null,
    changedBy: row?.changedBy ?? null,
  };
}

// Null is the default again; a name this version does not know belongs to another one.
function storedValues(rows: ReadonlyMap<string, SettingRow>): Partial<SettingValues> {
  const known = [...rows.values()].filter(
    ({ name, value }) => isSettingName(name) && value !== null,
  );
  return Object.fromEntries(known.map(({ name, value }) => [name, value]));
}

function rowLike(name: string, value: unknown): SettingRow {
  return { name, value, revision: 0, changedAtMs: 0, changedBy: '' };
}

function mapOf(rows: readonly SettingRow[]): ReadonlyMap<string, SettingRow> {
  return new Map(rows.map((row) => [row.name, row]));
}
