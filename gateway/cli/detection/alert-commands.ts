// `service-console alerts ...`: the inbox on the command line.
import { type Command, Option } from 'commander';
import { ALERT_SEVERITIES } from '../../../machines/console/delivery/alert.ts';
import {
  ALERT_RESOLUTIONS,
  ALERT_STATES,
} from '../../../machines/console/detection/alert.machine.ts';
import type { Alert, AlertWithNotes } from '../../operator-plane/detection/alert-shapes.ts';
import {
  type CommandIo,
  clientOf,
  type SharedOptions,
  tableOptions,
  watched,
  withOutput,
  withTimeout,
  withWatch,
} from '../plumbing/command-run.ts';
import { printList, printRecord, type View } from '../plumbing/output.ts';
import { plain } from '../plumbing/terminal.ts';

const PATH = '/api/v2/alerts';
type ListOptions = SharedOptions & {
  readonly state?: string;
  readonly severity?: string;
  readonly sensorId?: string;
  readonly ruleId?: string;
  readonly assignee?: string;
  readonly text?: string;
  readonly limit: string;
};

const COLUMNS: View<Alert>['columns'] = [
  { head: 'ID', read: (one) => one.alert_id },
  { head: 'STATE', read: (one) => one.state },
  { head: 'SEVERITY', read: (one) => one.severity },
  { head: 'COUNT', read: (one) => String(one.match_count) },
  { head: 'LAST', read: (one) => one.last_matched_at },
  { head: 'HEADLINE', read: (one) => one.headline },
  { head: 'ASSIGNEE', wide: true, read: (one) => one.assignee ?? '-' },
  { head: 'KIND', wide: true, read: (one) => one.alert_kind },
  { head: 'NODE', wide: true, read: (one) => one.node_name },
  { head: 'RULE', wide: true, read: (one) => one.rule_id },
];
const LIST: View<Alert> = { name: (one) => one.alert_id, empty: 'No alerts.', columns: COLUMNS };
const ONE: View<AlertWithNotes> = {
  name: ({ alert }) => alert.alert_id,
  empty: 'No alert.',
  columns: [
    ...COLUMNS.map(({ head, read }) => ({
      head,
      read: ({ alert }: AlertWithNotes) => read(alert),
    })),
    { head: 'DETAIL', read: ({ alert }) => alert.detail },
    { head: 'EVENTS', read: ({ alert }) => alert.event_ids },
    {
      head: 'HISTORY',
      read: ({ notes }) => notes.map((one) => `${one.at} ${one.actor} ${one.what} ${one.text}`),
    },
  ],
};

/** Registers the commands. */
export function addCommands(program: Command, io: CommandIo): void {
  const alerts = program.command('alerts').description('what people should know');
  addListCommand(alerts, io);
  withOutput(alerts.command('get').description('one alert with what happened to it'))
    .argument('<alert-id>')
    .action(async (id: string, options: SharedOptions) => {
      const shown = tableOptions(options);
      const one = await clientOf(io, options).get<AlertWithNotes>(pathOf(id));
      printRecord(io.terminal, one, ONE, shown);
    });
  const act = (name: string, description: string) =>
    withTimeout(alerts.command(name).description(description)).argument('<alert-id>');
  const send = async (id: string, what: string, body: object, options: Timeout) => {
    const one = await clientOf(io, options).send<Alert>('POST', `${pathOf(id)}/${what}`, body);
    io.terminal.talk(`It is ${plain(one.state)}.`);
    io.terminal.out(one.alert_id);
  };
  act('ack', 'take an alert: somebody works on it').action((id: string, options: Timeout) =>
    send(id, 'acknowledge', {}, options),
  );
  act('resolve', 'settle an alert')
    .addOption(
      new Option('--as <resolution>', 'why').choices([...ALERT_RESOLUTIONS]).default('fixed'),
    )
    .option('--comment <text>', 'what there is to say')
    .action((id: string, options: Timeout & { readonly as: string; readonly comment?: string }) => {
      const { as: resolution, comment } = options;
      return send(id, 'resolve', { resolution, ...(comment ? { comment } : {}) }, options);
    });
  act('reopen', 'open a settled alert again, as a new one').action((id: string, options: Timeout) =>
    send(id, 'reopen', {}, options),
  );
  act('assign', 'give an alert to somebody; without a name to nobody')
    .argument('[assignee]')
    .action((id: string, assignee: string | undefined, options: Timeout) =>
      send(id, 'assign', { assignee: assignee ?? null }, options),
    );
  act('comment', 'write something about an alert')
    .argument('<text>')
    .action((id: string, text: string, options: Timeout) =>
      send(id, 'comments', { text }, options),
    );
}
type Timeout = Pick<SharedOptions, 'timeout'>;

function addListCommand(alerts: Command, io: CommandIo): void {
  withWatch(withOutput(alerts.command('list').alias('ls').description('newest first')))
    .addOption(new Option('--state <state>', 'only in this state').choices([...ALERT_STATES]))
    .addOption(new Option('--severity <severity>', 'only these').choices([...ALERT_SEVERITIES]))
    .option('--sensor-id <id>', 'only of this sensor')
    .option('--rule-id <id>', 'only of this rule')
    .option('--assignee <name>', 'only of this person')
    .option('--text <text>', 'part of the headline or of the node')
    .option('--limit <count>', 'how many', '50')
    .action(async (options: ListOptions) => {
      const shown = tableOptions(options);
      const query = new URLSearchParams({ limit: options.limit });
      for (const [name, value] of [
        ['state', options.state],
        ['severity', options.severity],
        ['sensor_id', options.sensorId],
        ['rule_id', options.ruleId],
        ['assignee', options.assignee],
        ['text', options.text],
      ] as const) {
        if (value !== undefined) query.set(name, value);
      }
      const client = clientOf(io, options);
      await watched(io, options, async () => {
        const { items } = await client.get<{ items: readonly Alert[] }>(`${PATH}?${query}`);
        printList(io.terminal, items, LIST, shown);
      });
    });
}

function pathOf(id: string): string {
  return `${PATH}/${encodeURIComponent(id)}`;
}
