// The settings of this Console: read at the start, changed by operators, and followed every two seconds, because another
// Console on the same database may have changed them. Whoever depends on one asks `get()` at the moment it is needed, reads
// an interval from `intervals`, which always has the values in force, or subscribes. decision: D38

import {
  intervalsWith,
  isSettingName,
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
import type { Doing } from '../../storage/ports/plumbing/doing.ts';
import type { SettingRow, SettingsStore } from '../../storage/ports/settings/settings-store.ts';
import type { UpkeepLoop } from '../loops/loop.ts';
import type { Logger } from '../runtime/logger.ts';
import { orUnavailable } from '../trust/outage.ts';

export type SettingView = {
  readonly name: SettingName;
  readonly value: unknown;
  readonly default: unknown;
  /** 0: nobody ever set it. */
  readonly revision: number;
  readonly applies: 'live' | 'next_start';
  readonly about: string;
  readonly changedAtMs: number | null;
  readonly changedBy: string | null;
};

type Change = Pick<Doing, 'actor' | 'from'> & {
  /** `null` gives a setting its default back. */
  readonly values: Readonly<Record<string, unknown>>;
  readonly revisions: Readonly<Record<string, number>>;
  /** What the credential that asks holds; absent: the Console itself. */
  readonly by?: Reach;
};

export type SettingsDesk = {
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

export type SettingsDeskDeps = {
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
type Desk = SettingsDeskDeps & {
  inForce: InForce;
  readonly listeners: Set<(now: Settings, before: Settings) => void>;
};

/** Opens the desk from what is stored. Rejects with StoreUnavailable. */
export async function openSettingsDesk(deps: SettingsDeskDeps): Promise<SettingsDesk> {
  const rows = mapOf(await deps.store.list());
  const desk: Desk = { ...deps, inForce: inForceOf(deps, rows), listeners: new Set() };
  return {
    get: () => desk.inForce.settings,
    intervals: liveIntervals(desk),
    view: () => SETTING_NAMES.map((name) => viewOf(desk, name)),
    change: (input) => orUnavailable(() => change(desk, input)),
    provision: (input) => orUnavailable(() => provision(desk, input)),
    subscribe(listener) {
      desk.listeners.add(listener);
      return () => void desk.listeners.delete(listener);
    },
    loop: lookLoop(desk),
    close: () => desk.listeners.clear(),
  };
}

async function change(desk: Desk, input: Change): Promise<{ readonly ok: true } | Refusal> {
  // What another Console changed meanwhile is judged together with this change.
  await look(desk);
  const mistakes = [...mistakesOf(desk, input.values), ...revisionMistakes(input)];
  if (mistakes.length > 0) {
    return refuse('schema_violation', 'The change does not fit.', { errors: mistakes });
  }
  const { by, ...asked } = input;
  // What was judged is what is replaced: whoever names another revision than was looked at here has to look again.
  const seen = ({ rows }: InForce, name: string) => rows.get(name)?.revision ?? 0;
  const stale = Object.keys(input.revisions).filter(
    (name) => seen(desk.inForce, name) !== input.revisions[name],
  );
  if (stale.length > 0) return conflicting(desk, stale);
  const weakened = rolesWeakenedBy(desk.inForce.values, input.values);
  const beyond = by === undefined ? null : refusalOfReachAll(by, weakened);
  if (beyond !== null) return beyond;
  const put = await desk.store.put({ ...asked, nowMs: desk.now() });
  if (!put.ok) {
    await look(desk);
    return conflicting(desk, put.conflicts);
  }
  take(desk, new Map([...desk.inForce.rows, ...mapOf(put.rows)]));
  return { ok: true };
}

function conflicting({ inForce: { rows } }: Desk, names: readonly string[]): Refusal {
  return refuse('settings_conflict', `Changed meanwhile: ${names.join(', ')}.`, {
    errors: names.map((name) => ({
      pointer: `/revisions/${name}`,
      detail: `is ${rows.get(name)?.revision ?? 0} now`,
    })),
  });
}

async function provision(
  desk: Desk,
  input: Pick<Change, 'actor' | 'values'>,
): Promise<{ readonly ok: true } | Refusal> {
  await look(desk);
  const unset = Object.entries(input.values).filter(([name]) => !desk.inForce.rows.has(name));
  const values = Object.fromEntries(unset);
  const revisions = Object.fromEntries(unset.map(([name]) => [name, 0]));
  const changed = await change(desk, { actor: input.actor, values, revisions });
  // Another Console that starts at the same time sets the same: whoever came first is right.
  return !changed.ok && changed.code === 'settings_conflict' ? { ok: true } : changed;
}

function mistakesOf(desk: Desk, values: Change['values']) {
  const own = mistakesOfChange(desk.inForce.values, values);
  const shown = own.map(({ name, at, detail }: SettingMistake) => ({
    pointer: `/values/${name}${at}`,
    detail,
  }));
  if (own.length > 0) return shown;
  const after = new Map(desk.inForce.rows);
  for (const [name, value] of Object.entries(values)) after.set(name, rowLike(name, value));
  const checked = intervalsWith(desk.base, storedValues(after));
  return checked.ok ? [] : checked.mistakes.map((detail) => ({ pointer: '/values', detail }));
}

function revisionMistakes({ values, revisions }: Change) {
  const missing = Object.keys(values).filter((name) => !Object.hasOwn(revisions, name));
  const unused = Object.keys(revisions).filter((name) => !Object.hasOwn(values, name));
  return [
    ...missing.map((name) => ({ pointer: `/revisions/${name}`, detail: 'required' })),
    ...unused.map((name) => ({ pointer: `/revisions/${name}`, detail: 'has no value here' })),
  ];
}

/** Takes over what another Console changed. */
async function look(desk: Desk): Promise<void> {
  const rows = mapOf(await desk.store.list());
  const isOlder = [...desk.inForce.rows].some(
    ([name, { revision }]) => (rows.get(name)?.revision ?? 0) < revision,
  );
  // A change of this Console that ended meanwhile knows more.
  if (!isOlder) take(desk, rows);
}

function take(desk: Desk, rows: ReadonlyMap<string, SettingRow>): void {
  const isSame =
    rows.size === desk.inForce.rows.size &&
    [...rows].every(([name, row]) => desk.inForce.rows.get(name)?.revision === row.revision);
  if (isSame) return;
  const before = desk.inForce.settings;
  desk.inForce = inForceOf(desk, rows);
  for (const listener of desk.listeners) {
    try {
      listener(desk.inForce.settings, before);
    } catch (error) {
      desk.logger.error({ error: String(error) }, 'a changed setting could not be applied');
    }
  }
}

function inForceOf(
  { base, logger, defaults = {} }: Pick<SettingsDeskDeps, 'base' | 'logger' | 'defaults'>,
  rows: ReadonlyMap<string, SettingRow>,
): InForce {
  const stored = storedValues(rows);
  const { values: usual, ignored } = settingsFrom(stored);
  const isSet = (name: string) => Object.hasOwn(stored, name) && !ignored.includes(name);
  const own = Object.entries(defaults).filter(([name]) => !isSet(name));
  const values = { ...usual, ...Object.fromEntries(own) };
  if (ignored.length > 0) {
    logger.error({ settings: ignored }, 'stored settings do not fit and count as not set');
  }
  const sound = Object.fromEntries(
    Object.entries(stored).filter(([name]) => !ignored.includes(name)),
  );
  const intervals = intervalsWith(base, sound);
  if (!intervals.ok) {
    logger.error(
      { mistakes: intervals.mistakes },
      'the intervals of the configuration stay: the settings contradict them',
    );
  }
  return {
    rows,
    values,
    settings: settingsOf(values),
    intervals: intervals.ok ? intervals.intervals : base,
  };
}

function liveIntervals(desk: Desk): Intervals {
  const view = {};
  for (const name of Object.keys(INTERVALS) as (keyof Intervals)[]) {
    Object.defineProperty(view, name, {
      enumerable: true,
      get: () => desk.inForce.intervals[name],
    });
  }
  return Object.freeze(view) as Intervals;
}

function lookLoop(desk: Desk): UpkeepLoop {
  return {
    name: 'settings-look',
    runsOn: 'process',
    everyMs: SETTINGS_LOOK_INTERVAL_MS,
    async run() {
      await look(desk);
      return undefined;
    },
  };
}

function viewOf(
  { inForce: { rows, values }, defaults = {} }: Desk,
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
