// Mutation testing: `npm run mutate` for the pure rules and machines, `MUTATE_FOLDER=sensor/spool npm run mutate` for a folder
// with tests of its own. What is left out is data or prose, where a mutant says nothing about behaviour; README.md beside this file
// gives the reasons and the latest score.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { forgetStaticSurvivors } from './again.ts';
import { ASKED_APART, FLOORS, wantedFolder } from './own-tests.ts';
import { wantedSample } from './sample.ts';

const wanted = wantedFolder();
const folder = wanted?.folder ?? null;
const isOfMachines = wanted?.isOfMachines ?? true;
const FILES = process.env['MUTATE'];
const ALL_MACHINES = ['machines/**/*.ts', ...ASKED_APART.map((apart) => `!${apart}/**`)];
const all = folder === null ? ALL_MACHINES : [`${folder}/**/*.ts`];
const REPORT = `node_modules/.cache/mutation${folder === null ? '' : `-${folder.replace('/', '-')}`}`;
const isAgain = process.env['MUTATE_AGAIN'] === '1';
if (isAgain) forgetStaticSurvivors(`${REPORT}.json`);
const MEMORY_DISK = '/dev/shm';
const sample = folder === null ? null : wantedSample(folder);

// Thousands of runs of tests that sync real files: a disk of memory, where there is one, takes minutes off, and no kill.
if (existsSync(MEMORY_DISK)) process.env['TMPDIR'] ??= MEMORY_DISK;

export default {
  mutate: [
    ...(sample ?? (FILES === undefined ? all : [FILES])),
    '!**/*.{test,fixture}.ts',
    '!machines/limits.ts',
    '!machines/errors.ts',
    '!machines/wire/{enrollment,event,heartbeat,inventory,stream}.ts',
  ],
  testRunner: 'vitest',
  // A thread with an open listener of the native server ends its process, so effect code runs in processes.
  vitest: {
    configFile: 'props/mutation/vitest.config.ts',
    related: folder === null,
    pool: isOfMachines ? 'threads' : 'forks',
  },
  plugins: ['@stryker-mutator/vitest-runner', join(import.meta.dirname, 'prose.ignorer.js')],
  ignorers: ['prose'],
  coverageAnalysis: 'perTest',
  concurrency: Number(process.env['MUTATE_WORKERS'] ?? 2),
  timeoutMS: isOfMachines && folder !== null ? 15_000 : 30_000,
  timeoutFactor: 1.5,
  inPlace: false,
  ignorePatterns: ['.git', 'coverage', 'props/bench'],
  tempDirName: 'coverage/mutation-sandbox',
  cleanTempDir: 'always',
  // `MUTATE_AGAIN=1` asks only those mutants again that new or changed tests or code may judge otherwise than the last run. It
  // counts all of that run's with them; any other run begins anew, so that no earlier sample is in its score.
  incremental: isAgain,
  incrementalFile: `${REPORT}.json`,
  // Asked again, the tool itself writes that file, and two writers would tear it.
  reporters: ['clear-text', 'progress-append-only', ...(isAgain ? [] : ['json'])],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  jsonReporter: { fileName: `${REPORT}.json` },
  thresholds: { high: 98, low: 95, break: isOfMachines ? FLOORS.machines : FLOORS.effects },
  allowEmpty: true,
  disableTypeChecks: false,
};
