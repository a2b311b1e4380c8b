// Plants each fault of `planted-faults.ts` in a copy of the checkout and asks who notices: the simulated fleet as seeds draw
// it, nothing tuned, and the tests of that part. Not part of `npm test`. By hand:
//   node props/mutation/plant.ts [--seeds 40] [--profiles smoke,nightly] [--tests] [--only 'a word of the name'] [--write]
// Seeds are of those profiles by turns. `--tests` runs the tests too, `--write` puts the table into PLANTED-RESULTS.md.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readProfiles } from '../simulation/turns.ts';
import { PLANTED_FAULTS, type PlantedFault } from './planted-faults.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const FOLDERS = ['machines', 'actors', 'gateway', 'storage', 'sensor', 'props'];
const FILES = ['package.json', 'tsconfig.json', 'README.md', 'CHANGELOG.md'];
const RUN_MS = 1_800_000;

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '40' },
    profiles: { type: 'string', default: 'smoke,nightly' },
    tests: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    write: { type: 'boolean', default: false },
  },
});
const profiles = readProfiles(values.profiles);

/** A copy to plant in; what is installed is shared. */
function copyOf(): string {
  const folder = mkdtempSync(join(tmpdir(), 'planted-'));
  for (const name of [...FOLDERS, ...FILES]) {
    cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

function plant(folder: string, { name, file, replace, by }: PlantedFault): void {
  const text = readFileSync(join(ROOT, file), 'utf8');
  if (text.split(replace).length !== 2) throw new Error(`${name}: not once in ${file}`);
  writeFileSync(
    join(folder, file),
    text.replace(replace, () => by),
  );
}

/** What the simulated fleet says within so many seeds. */
function fleetSays(folder: string): string {
  const args = ['props/mutation/plant-seeds.ts', values.seeds, profiles.join(',')];
  const run = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8', timeout: RUN_MS });
  const last = run.stdout.trim().split('\n').at(-1) ?? '';
  return last === '' ? `the run ended: ${(run.stderr || String(run.error)).slice(0, 200)}` : last;
}

/** The first test that fails, or that none does. */
function testsSay(folder: string, tests: readonly string[]): string {
  const isOfServices = tests.some((path) => path.endsWith('.services.test.ts'));
  const config = isOfServices
    ? 'props/mutation/plant-services.config.ts'
    : 'props/vitest.config.ts';
  const args = ['run', '--config', config, '--configLoader', 'native'];
  const run = spawnSync(
    process.execPath,
    ['node_modules/vitest/vitest.mjs', ...args, '--bail', '1', '--maxWorkers', '1', ...tests],
    { cwd: folder, encoding: 'utf8', timeout: RUN_MS, env: { ...process.env, NO_COLOR: '1' } },
  );
  if (run.status === 0) return 'nothing';
  const failed = /^ *FAIL +(?:\|?[\w-]+\|? +)?(.+)$/m.exec(run.stdout + run.stderr)?.[1];
  return failed ?? `ended with ${run.status}, naming no test`;
}

const wanted = PLANTED_FAULTS.filter(({ name }) => name.includes(values.only));
const folder = copyOf();
const rows: string[] = [];
try {
  for (const fault of wanted) {
    plant(folder, fault);
    const fleet = fleetSays(folder);
    const tests = values.tests ? testsSay(folder, fault.tests) : 'not run';
    cpSync(join(ROOT, fault.file), join(folder, fault.file));
    rows.push(`| ${[fault.name, `\`${fault.file}\``, fleet, tests].join(' | ')} |`);
    process.stdout.write(`${rows.at(-1)}\n`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
if (values.write) {
  const head = `# Who notices a planted fault

Written by \`node props/mutation/plant.ts --write\` on ${new Date().toISOString().slice(0, 10)}: up to ${values.seeds} seeds of the simulated fleet as they are drawn, by
turns ${profiles.join(', ')}, and the tests of the part, until the first that fails.

| fault | product file | simulated fleet | tests |
| ----- | ------------ | --------------- | ----- |
`;
  writeFileSync(join(import.meta.dirname, 'PLANTED-RESULTS.md'), `${head}${rows.join('\n')}\n`);
}
