// `service-sensor policies`: what is to be in force here, read and verified from the disk; works offline.
import { EXIT } from '../../../machines/sensor/node.rules.ts';
import type { SensorCommand } from '../../capability.ts';

export const policiesCommand: SensorCommand = {
  name: 'policies',
  description: 'the policies of this node, verified anew; works offline',
  options: [['-o, --output <format>', 'table or json', 'table']],
  async run({ flags, config }) {
    const format = String(flags['output']);
    if (format !== 'table' && format !== 'json') {
      process.stderr.write('service-sensor: --output is table or json\n');
      return EXIT.usage;
    }
    const { readPoliciesOf } = await import('./read-policies.ts');
    const found = await readPoliciesOf(config);
    if (format === 'json') process.stdout.write(`${JSON.stringify(found, null, 2)}\n`);
    else process.stdout.write(found.lines.map((line) => `${line}\n`).join(''));
    return found.is_good ? EXIT.ok : EXIT.notFound;
  },
};
