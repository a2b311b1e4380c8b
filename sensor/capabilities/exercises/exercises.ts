// Exercises on this node: harmless steps that somebody with a shell here runs by hand. A running Sensor has no part in it,
// and no Console can begin one. decision: D146
import { EXIT } from '../../../machines/sensor/node.rules.ts';
import type { SensorCapability, SensorCommand } from '../../capability.ts';

const exerciseCommand: SensorCommand = {
  name: 'exercise <act> [step]',
  description: 'list the harmless steps of exercises, or run one here by hand',
  options: [['-o, --output <format>', 'of the list: table or json', 'table']],
  async run({ flags, words: [act = '', step = ''] }) {
    const { listSteps, runStep } = await import('./run-step.ts');
    const write = (line: string): void => void process.stdout.write(`${line}\n`);
    const complain = (line: string): void => void process.stderr.write(`service-sensor: ${line}\n`);
    if (act === 'list') {
      for (const line of listSteps(flags['output'] === 'json')) write(line);
      return EXIT.ok;
    }
    if (act !== 'run') {
      complain('say `exercise list`, or `exercise run <step>`');
      return EXIT.usage;
    }
    const ran = await runStep(step);
    if (!ran.ok) {
      complain(ran.reason);
      return EXIT.usage;
    }
    write(ran.text);
    return EXIT.ok;
  },
};

export const exercises: SensorCapability<null> = {
  name: 'exercises',
  open: () => ({ service: null }),
  commands: [exerciseCommand],
};
