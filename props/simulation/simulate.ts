// `npm run simulate`: one run by its seed, told to a person. Exit codes: 0 held, 1 the simulation or a product process
// crashed, 2 a promise was broken, 3 the fleet did not recover, 64 the command makes no sense.
import { parseArgs } from 'node:util';
import { describeOptions, drawOptions, PROFILES, type Profile } from './options.ts';
import { runSimulation } from './run.ts';

const EXIT = { held: 0, crash: 1, safety: 2, liveness: 3 } as const;

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
    profile: { type: 'string', default: 'nightly' },
    sensors: { type: 'string' },
    consoles: { type: 'string' },
    days: { type: 'string' },
    hours: { type: 'string' },
    faults: { type: 'string' },
  },
});
const { seed } = values;
const profile = PROFILES.find((one) => one === values.profile) as Profile;
const hours =
  values.days !== undefined ? Number(values.days) * 24 : Number(values.hours ?? Number.NaN);
const options = drawOptions(seed, profile, {
  ...(values.sensors === undefined ? {} : { sensors: Number(values.sensors) }),
  ...(values.consoles === undefined ? {} : { consoles: Number(values.consoles) }),
  ...(Number.isNaN(hours) ? {} : { hours }),
  ...(values.faults === undefined ? {} : { faultsPerHour: Number(values.faults) }),
});
console.log(describeOptions(options));
const began = process.cpuUsage();
const result = await runSimulation(options);
const { user, system } = process.cpuUsage(began);
const seconds = (user + system) / 1_000_000;
console.log(JSON.stringify({ faults: result.faults, observations: result.observations }, null, 1));
console.log(
  `${result.outcome} after ${(result.fleet.world.scheduler.sleptMs() / 3_600_000).toFixed(2)} h asleep of ${(result.simulatedMs / 3_600_000).toFixed(2)} h, ${result.sensorHours.toFixed(1)} sensor-hours, ` +
    `${result.steps} steps in ${seconds.toFixed(1)} s of a core (${Math.round((result.sensorHours / seconds) * 60)} sensor-hours a minute), log ${result.hash.slice(0, 16)}`,
);
for (const one of result.crashes) console.log(`crash: ${one}`);
for (const one of result.violations) {
  console.log(`${one.kind}: ${one.checker} at ${(one.atMs / 1_000).toFixed(3)} s: ${one.detail}`);
}
process.exit(EXIT[result.outcome]);
