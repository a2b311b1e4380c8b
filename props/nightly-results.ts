// Writes what a part of `.ci/nightly` found into props/RESULTS.md, in place of what stood there of that part.
//   node props/nightly-results.ts PART passed|FAILED SECONDS FILE-WITH-WHAT-IT-SAID
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

const RESULTS = join(import.meta.dirname, 'RESULTS.md');
const FIRST_LINES = 8;
const LAST_LINES = 30;
const [part = '', how = '', seconds = '0', file = ''] = process.argv.slice(2);

const said = stripVTControlCharacters(readFileSync(file, 'utf8'))
  .split('\n')
  .map((line) => line.trimEnd())
  // Rulers of tables say nothing.
  .filter((line) => line !== '' && !line.startsWith('├'));
const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
const minutes = Math.round(Number(seconds) / 6) / 10;
const section = [
  `## ${part}`,
  '',
  `${how}, ${new Date().toISOString().slice(0, 10)}, at ${commit}, ${minutes} minutes, ${availableParallelism()} cores. What it said, first and last:`,
  '',
  '```',
  ...(said.length <= FIRST_LINES + LAST_LINES
    ? said
    : [...said.slice(0, FIRST_LINES), '...', ...said.slice(-LAST_LINES)]),
  '```',
  '',
].join('\n');

const [head = '', ...sections] = readFileSync(RESULTS, 'utf8').split(/^(?=## )/m);
const others = sections.filter((one) => !one.startsWith(`## ${part}\n`));
const all = [...others.map((one) => `${one.trimEnd()}\n`), section].sort();
writeFileSync(RESULTS, `${head}${all.join('\n')}`);
