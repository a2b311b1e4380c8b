// Runs kept inputs again, or one iteration of a search again, and says what happens.
//   node props/fuzz/replay.ts <target> <file>...
//   node props/fuzz/replay.ts <target> --seed <seed> --iteration <number>
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { execute } from './execute.ts';
import { runWorker } from './run-targets.ts';
import { loadTarget } from './targets.ts';
import { makeShared } from './worker-task.ts';

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seed: { type: 'string' }, iteration: { type: 'string' } },
});
const [name = '', ...files] = positionals;
let broken = 0;

if (values.seed !== undefined) {
  // The inputs of a search depend on those before them, so the search is done again up to the one asked for.
  const iterations = Number(values.iteration ?? 0) + 1;
  const task = { target: name, seed: values.seed, seconds: 0, iterations, keeps: false };
  const report = await runWorker({ ...task, shared: makeShared() }, say);
  for (const { kind, detail, iteration, file } of report.findings) {
    say(`iteration ${iteration}: ${kind}\n${detail}\n${file}`);
  }
  broken = report.findings.length;
} else {
  const target = await loadTarget(name);
  for (const file of files) {
    const features: string[] = [];
    const finding = await execute(target, readFileSync(file), (one) => features.push(one));
    say(`${file}: ${finding === null ? `holds (${features.join('; ')})` : finding.kind}`);
    if (finding !== null) {
      broken += 1;
      say(finding.detail);
    }
  }
}
process.exitCode = broken > 0 ? 2 : 0;
