// UNTUNED.md: which seeds find each planted bug with nothing tuned.
import type { PlantedBug } from './planted-bug.ts';

/** One run with a bug, under a seed as it is drawn. */
export type Look = {
  readonly bug: string;
  /** By turns under the ordinary profiles, or the profile that was asked for. */
  readonly drawn: string;
  readonly seed: string;
  readonly profile: string;
  readonly found: boolean;
  /** The checker that ended the run, or its outcome. */
  readonly ended: string;
};

type Row = {
  readonly bug: PlantedBug;
  readonly first: Look | undefined;
  readonly turns: readonly Look[];
  readonly own: readonly Look[];
  /** Looks that another checker, or a crash, ended. */
  readonly noticed: Look | undefined;
};

const GROUPS: readonly (readonly [title: string, isIn: (row: Row) => boolean])[] = [
  ['By ordinary seeds', ({ first }) => first?.drawn === 'untuned'],
  ['By seeds of the profile that is about it', ({ first }) => first !== undefined],
  ['By its own checker in no seed, by another', ({ noticed }) => noticed !== undefined],
  ['By tuned runs alone, so far', ({ turns, own }) => turns.length + own.length > 0],
  ['Not looked for', () => true],
];

/** The whole file. */
export function untunedTable(
  bugs: readonly PlantedBug[],
  looks: readonly Look[],
  day: string,
): string {
  let rows = bugs.map((bug) => rowOf(bug, looks));
  const parts: string[] = [];
  const counts: string[] = [];
  for (const [title, isIn] of GROUPS) {
    const some = rows.filter(isIn);
    rows = rows.filter((row) => !isIn(row));
    if (some.length === 0) continue;
    counts.push(`- ${title}: ${some.length}`);
    const lines = some.map(({ bug, ...row }) => {
      const cells = [bug.name, bug.foundBy, bug.pinnedSeed, foundIn(row), triedOf(row)];
      return `| ${cells.join(' | ')} |`;
    });
    parts.push(`## ${title}\n\n${HEAD}\n${lines.join('\n')}\n`);
  }
  return `${intro(bugs.length, day)}\n${counts.join('\n')}\n\n${parts.join('\n')}`;
}

const HEAD = `| bug | checker | tuned | untuned | tried before |
| --- | --- | --- | --- | --- |`;

function intro(count: number, day: string): string {
  return `# Planted bugs with nothing tuned

Written by \`node props/simulation/planted/look-untuned.ts --write\` on ${day}. Each of the ${count} bugs was put in, and seeds
were run from 1 on until the checker that must notice ended one. Ordinary seeds are of smoke, deliveries and nightly by
turns; one that has nobody, or no accident, that the bug needs counts without a run. Some of what the first three do not
find was looked for under the profile that is about it (\`subjects.ts\`), by two to eight seeds. Tuned: the seed that finds it
with the options of the bug (\`planted.test.ts\`). A run that another checker ended did not pass either: its name stands there.
`;
}

function rowOf(bug: PlantedBug, looks: readonly Look[]): Row {
  const ofBug = looks.filter((look) => look.bug === bug.name).sort((a, b) => +a.seed - +b.seed);
  const turns = ofBug.filter(({ drawn }) => drawn === 'untuned');
  const own = ofBug.filter(({ drawn }) => drawn !== 'untuned');
  const all = [...turns, ...own];
  const first = all.find(({ found }) => found);
  const noticed = all.find(({ found, ended }) => !found && isNotice(ended));
  return { bug, first, turns, own, noticed };
}

function isNotice(ended: string): boolean {
  return ended !== 'held' && !ended.startsWith('no ');
}

function foundIn({ first, noticed }: Omit<Row, 'bug'>): string {
  if (first !== undefined) return `${first.seed} of ${first.profile}`;
  if (noticed === undefined) return 'none';
  return `${noticed.seed} of ${noticed.profile}: ${noticed.ended}`;
}

/** How many seeds did not find it, and what ended them but the end. */
function triedOf({ turns, own }: Omit<Row, 'bug'>): string {
  const parts = [
    ['ordinary', turns] as const,
    [own[0]?.profile ?? '', own.filter((look) => look.profile === own[0]?.profile)] as const,
  ].flatMap(([name, looks]) => {
    const missed = looks.filter(({ found }) => !found);
    if (missed.length === 0) return [];
    const ends = new Set(missed.map(({ ended }) => ended).filter(isNotice));
    return [`${missed.length} ${name}${ends.size === 0 ? '' : ` (${[...ends].join(', ')})`}`];
  });
  return parts.join(', ') || '-';
}
