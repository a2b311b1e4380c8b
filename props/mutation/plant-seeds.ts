// Runs seeds of the simulated fleet as they are drawn, in whatever checkout this file lies, until one does not hold; says
// in one line which, and by which checker. `plant.ts` runs it in a copy with a fault.
import { drawOptions } from '../simulation/options.ts';
import { runSimulation } from '../simulation/run.ts';

const seeds = Number(process.argv[2] ?? '40');

async function firstBroken(): Promise<string> {
  for (let seed = 1; seed <= seeds; seed += 1) {
    const options = drawOptions(`planted-${seed}`, seed % 2 === 1 ? 'smoke' : 'nightly');
    const { outcome, violations, crashes } = await runSimulation(options);
    if (outcome === 'held') continue;
    const [violation] = violations;
    const by =
      violation === undefined ? `crash: ${(crashes[0] ?? '').slice(0, 80)}` : violation.checker;
    return `seed ${seed} (${by.replaceAll('|', '/').replaceAll('\n', ' ')})`;
  }
  return `none of ${seeds} seeds`;
}

process.stdout.write(`${await firstBroken()}\n`);
process.exit(0);
