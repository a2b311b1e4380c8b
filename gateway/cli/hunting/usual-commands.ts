// `service-console usual ...`: what is declared to be usual. decision: D147
import type { Command } from 'commander';
import type { UsualMarkView } from '../../operator-plane/hunting/usual.ts';
import {
  type CommandIo,
  clientOf,
  type SharedOptions,
  tableOptions,
  withOutput,
  withTimeout,
} from '../plumbing/command-run.ts';
import { printList, printRecord, type View } from '../plumbing/output.ts';

const PATH = '/api/v2/usual-marks';

const VIEW: View<UsualMarkView> = {
  name: (one) => one.mark_id,
  empty: 'Nothing is declared to be usual.',
  columns: [
    { head: 'ID', read: (one) => one.mark_id },
    { head: 'PROGRAM', read: (one) => one.binary ?? 'every' },
    { head: 'SENSOR', read: (one) => one.sensor_id ?? 'every' },
    { head: 'REASON', read: (one) => one.reason },
    { head: 'BY', read: (one) => one.by },
    { head: 'UNTIL', read: (one) => one.until ?? '-' },
  ],
};

/** Registers the commands. */
export function addCommands(program: Command, io: CommandIo): void {
  const usual = program.command('usual').description('programs and sensors that raise no anomaly');
  withOutput(usual.command('list').alias('ls').description('what is declared to be usual')).action(
    async (options: SharedOptions) => {
      const shown = tableOptions(options);
      const { items } = await clientOf(io, options).get<{ items: readonly UsualMarkView[] }>(PATH);
      printList(io.terminal, items, VIEW, shown);
    },
  );
  withOutput(usual.command('mark').description('declare a program or a sensor to be usual'))
    .option('--binary <path>', 'the program; every one when absent')
    .option('--sensor <id>', 'the sensor; every one when absent')
    .requiredOption('--reason <text>', 'why')
    .option('--until <time>', 'RFC 3339; for good when absent')
    .action(
      async (
        options: SharedOptions & {
          readonly binary?: string;
          readonly sensor?: string;
          readonly reason: string;
          readonly until?: string;
        },
      ) => {
        const shown = tableOptions(options);
        const { binary, sensor, reason, until } = options;
        const body = {
          ...(binary === undefined ? {} : { binary }),
          ...(sensor === undefined ? {} : { sensor_id: sensor }),
          ...(until === undefined ? {} : { until }),
          reason,
        };
        const made = await clientOf(io, options).send<UsualMarkView>('POST', PATH, body);
        printRecord(io.terminal, made, VIEW, shown);
      },
    );
  withTimeout(usual.command('remove').description('let it count as before'))
    .argument('<id>')
    .action(async (id: string, options: Pick<SharedOptions, 'timeout'>) => {
      await clientOf(io, options).send('DELETE', `${PATH}/${encodeURIComponent(id)}`);
      io.terminal.out(id);
    });
}
