// Looks for planted bugs by seeds as they are drawn, and writes UNTUNED.md. An hour of a core for all; what is done stands
// in the log, and is not done again. By hand:
//   node props/simulation/planted/look-untuned.ts --log FILE [--tries 3] [--only 'a word of the name'] [--write]
// `--tries 0 --write` writes the table from the log alone.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { RARE_KINDS } from '../faults/kinds.ts';
import type { Options } from '../options.ts';
import { runSimulation } from '../run.ts';
import { PLANTED } from './all.ts';
import { type Drawn, endOf, isFound, optionsFor } from './find.ts';
import { profileThatFinds } from './found-under.ts';
import type { PlantedBug } from './planted-bug.ts';
import { type Look, untunedTable } from './untuned-table.ts';

/** A profile that is about a bug has to show it by then. */
const OWN_TRIES = 8;
const WHO = ['people', 'keepers', 'wardens', 'publishers', 'receivers'] as const;
/** Where a bug's own run has one of these, it shows by nothing else. */
const ALONE = ['node.clone', 'console.new_root', ...RARE_KINDS] as const;

const { values } = parseArgs({
  options: {
    log: { type: 'string' },
    tries: { type: 'string', default: '3' },
    only: { type: 'string', default: '' },
    write: { type: 'boolean', default: false },
  },
});
const { log } = values;
if (log === undefined) throw new Error('--log FILE keeps what was tried');
const looks = existsSync(log) ? readLog(log) : [];
const tries = Number(values.tries);

for (const bug of tries > 0 ? PLANTED.filter(({ name }) => name.includes(values.only)) : []) {
  const profile = profileThatFinds(bug.name);
  if (await isFoundBy(bug, 'untuned', tries)) continue;
  if (profile !== null) await isFoundBy(bug, profile, OWN_TRIES);
}
if (values.write) {
  const day = new Date().toISOString().slice(0, 10);
  writeFileSync(join(import.meta.dirname, 'UNTUNED.md'), untunedTable(PLANTED, looks, day));
}

async function isFoundBy(bug: PlantedBug, drawn: Drawn, most: number): Promise<boolean> {
  for (let at = 1; at <= most; at += 1) {
    if ((await lookOnce(bug, drawn, String(at))).found) return true;
  }
  return false;
}

/** Runs the seed, unless the log has it. */
async function lookOnce(bug: PlantedBug, drawn: Drawn, seed: string): Promise<Look> {
  const known = looks.find(
    (one) => one.bug === bug.name && one.drawn === drawn && one.seed === seed,
  );
  if (known !== undefined) return known;
  const options = optionsFor(bug, seed, drawn);
  const missing = whatIsMissing(bug, options);
  const how =
    missing === undefined ? await run(bug, options) : { found: false, ended: `no ${missing}` };
  const look = { bug: bug.name, drawn, seed, profile: options.profile, ...how };
  looks.push(look);
  appendFileSync(log ?? '', `${JSON.stringify(look)}\n`);
  process.stdout.write(`${look.bug}: seed ${seed} of ${look.profile}: ${look.ended}\n`);
  return look;
}

/** What the bug cannot show without, and the seed does not draw. */
function whatIsMissing(bug: PlantedBug, options: Options): string | undefined {
  const kinds = ALONE.filter((kind) => bug.options.kinds.includes(kind));
  return (
    WHO.find((who) => bug.options[who] > 0 && options[who] === 0) ??
    kinds.find((kind) => !options.kinds.includes(kind))
  );
}

async function run(bug: PlantedBug, options: Options): Promise<Pick<Look, 'found' | 'ended'>> {
  const result = await runSimulation(options, { bug });
  return { found: isFound(bug, result), ended: endOf(result) };
}

function readLog(path: string): Look[] {
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line): Look => JSON.parse(line));
}
