// One seed for every property of a run. It is printed, and PROPS_SEED replays it. `npm test` tries each property forty times;
// PROPS_RUNS=1 as often as fast-check would, a hundred times.
import fc from 'fast-check';
import { runs } from './runs.ts';

const RUNS = 100;
const seed = Number(process.env['PROPS_SEED'] ?? 20_261_121);
fc.configureGlobal({ seed, numRuns: runs(RUNS), ...fc.readConfigureGlobal() });
if (process.env['VITEST_POOL_ID'] === '1')
  process.stderr.write(`properties run with PROPS_SEED=${seed}\n`);
