// One seed for every property of a run. It is printed, and PROPS_SEED replays it.
import fc from 'fast-check';

const seed = Number(process.env['PROPS_SEED'] ?? 20_261_121);
fc.configureGlobal({ seed, ...fc.readConfigureGlobal() });
if (process.env['VITEST_POOL_ID'] === '1')
  process.stderr.write(`properties run with PROPS_SEED=${seed}\n`);
