// What `npm run simulate` was asked for. Everything is checked before anything runs; a mistake is answered with a
// sentence, never guessed around.
import { parseArgs } from 'node:util';
import { FAULT_KINDS, type FaultKind, RARE_KINDS } from './faults/kinds.ts';
import { type Options, PROFILES, type Profile } from './options.ts';

const LONG_DAYS = 5;

export type Given = Partial<
  Pick<Options, 'sensors' | 'consoles' | 'hours' | 'faultsPerHour' | 'kinds'>
>;
const DATABASES = ['memory', 'postgres'] as const;

export type Command = {
  readonly seed: string;
  readonly profile: Profile;
  readonly given: Given;
  /** Name of a planted bug. */
  readonly bug: string | null;
  /** A kept case to run instead of a seed. */
  readonly replay: string | null;
  /** Where the page of a failing run goes; null for a name of its own. */
  readonly report: string | null;
  /** Keep a failing run as a regression, with this story. */
  readonly save: string | null;
  readonly shrink: boolean;
  readonly json: boolean;
  readonly coverage: boolean;
  /** What answers the Consoles: a real PostgreSQL is not replayable to the bit. */
  readonly database: (typeof DATABASES)[number];
};

const SENSORS_MAX = 1_000;
const CONSOLES_MAX = 8;
const HOURS_MAX = 24 * 366;
const FAULTS_MAX = 100_000;

export const USAGE = `npm run simulate -- [options]
  --seed TEXT       what everything is drawn from; drawn itself and printed when absent
  --profile NAME    ${PROFILES.join(', ')}; nightly when absent, long for ${LONG_DAYS} days or more
  --sensors N, --consoles N, --days N or --hours N, --faults N (an hour), --kinds a,b
                    instead of what the seed draws
  --database NAME   ${DATABASES.join(' or ')}: a real PostgreSQL beside the simulated one; not replayable to the bit
  --bug NAME        with a planted bug
  --replay FILE     runs a kept case
  --shrink          makes a failing run smaller
  --save STORY      keeps a failing run in props/simulation/regressions, with what went wrong in a sentence
  --report FILE     where the page of a failing run goes
  --coverage        names every state and transition that was not visited
  --json            the report for programs`;

/** Reads the arguments; answers every mistake at once. */
export function readCommand(
  args: readonly string[],
  drawSeed: () => string,
):
  | { readonly ok: true; readonly command: Command }
  | { readonly ok: false; readonly mistakes: readonly string[] } {
  const mistakes: string[] = [];
  const values = valuesOf(args, mistakes);
  if (values === null) return { ok: false, mistakes };

  function number(
    name: 'sensors' | 'consoles' | 'days' | 'hours' | 'faults',
    most: number,
  ): number | null {
    const text = values?.[name];
    if (text === undefined) return null;
    const value = Number(text);
    const isCount = name === 'sensors' || name === 'consoles';
    const isFine = text.trim() !== '' && value > 0 && value <= most;
    if (isFine && (!isCount || Number.isInteger(value))) return value;
    mistakes.push(
      `--${name} is a ${isCount ? 'whole ' : ''}number above 0, at most ${most}; not ${text}`,
    );
    return null;
  }

  const profile = PROFILES.find((one) => one === (values.profile ?? usualProfile(values.days)));
  if (profile === undefined)
    mistakes.push(`--profile is one of ${PROFILES.join(', ')}; not ${values.profile}`);
  if (values.days !== undefined && values.hours !== undefined)
    mistakes.push('give --days or --hours, not both');
  const days = number('days', HOURS_MAX / 24);
  const given = withoutNulls({
    sensors: number('sensors', SENSORS_MAX),
    consoles: number('consoles', CONSOLES_MAX),
    hours: number('hours', HOURS_MAX) ?? (days === null ? null : days * 24),
    faultsPerHour: number('faults', FAULTS_MAX),
    kinds: kindsOf(values.kinds, mistakes),
  });
  if (
    values.replay !== undefined &&
    (values.seed !== undefined || values.profile !== undefined || Object.keys(given).length > 0)
  ) {
    mistakes.push(
      '--replay runs a case as it was kept: no seed, profile or option of the run beside it',
    );
  }
  const database = DATABASES.find((one) => one === (values.database ?? 'memory'));
  if (database === undefined) {
    mistakes.push(`--database is one of ${DATABASES.join(', ')}; not ${values.database}`);
  }
  if (database === 'postgres' && (values.shrink === true || values.save !== undefined)) {
    mistakes.push('what a real PostgreSQL did cannot be kept: no --shrink or --save beside it');
  }
  if (values.seed === '') mistakes.push('--seed is a text of at least one sign');
  if (values.bug !== undefined && values.save !== undefined) {
    mistakes.push('--save keeps failing runs of the product; a planted bug is none of its own');
  }
  if (mistakes.length > 0 || profile === undefined || database === undefined)
    return { ok: false, mistakes };
  const { bug = null, replay = null, report = null, save = null } = values;
  const { shrink = false, json = false, coverage = false } = values;
  const seed = values.seed ?? drawSeed();
  return {
    ok: true,
    command: { seed, profile, given, bug, replay, report, save, shrink, json, coverage, database },
  };
}

function valuesOf(args: readonly string[], mistakes: string[]) {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  try {
    return parseArgs({
      args: [...args],
      options: {
        seed: text,
        profile: text,
        sensors: text,
        consoles: text,
        days: text,
        hours: text,
        faults: text,
        kinds: text,
        database: text,
        bug: text,
        replay: text,
        report: text,
        save: text,
        shrink: flag,
        json: flag,
        coverage: flag,
      },
    }).values;
  } catch (error) {
    mistakes.push(error instanceof Error ? error.message : String(error));
    return null;
  }
}

function kindsOf(text: string | undefined, mistakes: string[]): readonly FaultKind[] | null {
  if (text === undefined) return null;
  const names = text.split(',').filter((name) => name !== '' && name !== 'none');
  const kinds = [...FAULT_KINDS, ...RARE_KINDS].filter((kind) => names.includes(kind));
  for (const name of names) {
    if (!kinds.some((kind) => kind === name)) mistakes.push(`there is no kind of accident ${name}`);
  }
  return kinds;
}

function withoutNulls(
  values: { readonly [K in keyof Required<Given>]: Required<Given>[K] | null },
): Given {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
}

/** The command line that runs this again, from the same seed. */
export function describeCommand(command: Command): string {
  const { seed, profile, given, bug, replay, database } = command;
  const words = ['npm', 'run', 'simulate', '--'];
  if (replay !== null) words.push('--replay', quote(replay));
  else words.push('--seed', quote(seed), '--profile', profile);
  const { faultsPerHour, kinds, ...counts } = given;
  for (const [name, value] of Object.entries(counts)) words.push(`--${name}`, String(value));
  if (faultsPerHour !== undefined) words.push('--faults', String(faultsPerHour));
  if (kinds !== undefined) words.push('--kinds', kinds.join(',') || 'none');
  if (database !== 'memory') words.push('--database', database);
  if (bug !== null) words.push('--bug', bug);
  return words.join(' ');
}

function quote(word: string): string {
  return /^[A-Za-z0-9_./:-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Weeks are told with the accidents of weeks, nights with those of nights. */
function usualProfile(days: string | undefined): Profile {
  return Number(days ?? 0) >= LONG_DAYS ? 'long' : 'nightly';
}
