// `service-console sensors contain|release`: a node is cut off from everything but the Console, and let go.
import type { Command } from 'commander';
import type { SensorContainment } from '../../operator-plane/containment/containment.ts';
import {
  type CommandIo,
  clientOf,
  confirm,
  groupOf,
  type SharedOptions,
  withTimeout,
} from '../plumbing/command-run.ts';
import { findSensor } from '../plumbing/find-by-name.ts';

type Options = Pick<SharedOptions, 'timeout'> & {
  readonly reason: string;
  readonly until?: string;
  readonly yes?: boolean;
};

/** Registers the commands below `sensors`. */
export function addCommands(program: Command, io: CommandIo): void {
  const sensors = groupOf(program, 'sensors');
  withTimeout(sensors.command('contain').description('cut a node off from all but the Console'))
    .argument('<sensor>', 'id or node name')
    .requiredOption('--reason <text>', 'kept in the audit log')
    .option('--until <time>', 'when it ends: RFC 3339, or now+2h')
    .option('-y, --yes', 'do not ask')
    .action(async (name: string, options: Options) => {
      const client = clientOf(io, options);
      const sensor = await findSensor(client, name);
      await confirm(io, {
        ...options,
        what: `Containing ${sensor.node_name} (${sensor.sensor_id}) ends every connection but that to the Console`,
        name: sensor.node_name,
      });
      const { reason, until } = options;
      const answer = await client.send<SensorContainment>(
        'POST',
        `/api/v2/sensors/${sensor.sensor_id}/contain`,
        { reason, ...(until === undefined ? {} : { until }) },
      );
      io.terminal.talk(`${sensor.node_name} is ${answer.state}.`);
      for (const limit of answer.known_limits) io.terminal.talk(`  ${limit}`);
      io.terminal.out(sensor.sensor_id);
    });

  withTimeout(sensors.command('release').description('end the containment of a node'))
    .argument('<sensor>', 'id or node name')
    .requiredOption('--reason <text>', 'kept in the audit log')
    .action(async (name: string, options: Options) => {
      const client = clientOf(io, options);
      const sensor = await findSensor(client, name);
      const answer = await client.send<SensorContainment>(
        'POST',
        `/api/v2/sensors/${sensor.sensor_id}/release`,
        { reason: options.reason },
      );
      io.terminal.talk(`${sensor.node_name} is ${answer.state}.`);
      io.terminal.out(sensor.sensor_id);
    });
}
