// `service-sensor enroll` as the command line shows it.
import type { SensorCommand } from '../../capability.ts';

export const enrollCommand: SensorCommand = {
  name: 'enroll',
  description: 'exchange a token for an identity',
  takesTrust: true,
  options: [
    ['--node-name <name>', 'name shown in the Console'],
    ['--flavor <flavor>', 'standard or telecom'],
    ['--declared-role <role>', 'network function role'],
    ['--label <key=value...>', 'labels'],
    ['--timeout <seconds>', 'give up after this time', '60'],
  ],
  async run({ config, flags, readToken }) {
    const { runEnroll } = await import('./enroll.ts');
    return runEnroll(config, readToken, String(flags['timeout']));
  },
};
