// Runs seeds of the simulated fleet as they are drawn, in whatever checkout this file lies, until one does not hold; says
// in one line which, and by which checker. `plant.ts` runs it in a copy with a fault. By hand:
//   node props/mutation/plant-seeds.ts 40 smoke,nightly,deliveries
import { runSimulation } from '../simulation/run.ts';
import { drawByTurns, readProfiles } from '../simulation/turns.ts';

const seeds = Number(process.argv[2] ?? '40');
const profiles = readProfiles(process.argv[3] ?? 'smoke,nightly');

async function firstBroken(): Promise<string> {
  for (let seed = 1; seed <= seeds; seed += 1) {
    const options = drawByTurns(seed, profiles, 'planted-');
    const { outcome, violations, crashes } = await runSimulation(options);
    if (outcome === 'held') continue;
    const [violation] = violations;
    const by =
      violation === undefined ? `crash: ${(crashes[0] ?? '').slice(0, 80)}` : violation.checker;
    return `seed ${seed} of ${options.profile} (${by.replaceAll('|', '/').replaceAll('\n', ' ')})`;
  }
  return `none of ${seeds} seeds of ${profiles.join(', ')}`;
}

process.stdout.write(`${await firstBroken()}\n`);
process.exit(0);
