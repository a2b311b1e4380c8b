// `service-console deliveries ...`: every alert on its way, its attempts, and sending again.
import { type Command, Option } from 'commander';
import type {
  Delivery,
  DeliveryWithAttempts,
} from '../../operator-plane/delivery/webhook-shapes.ts';
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

const PATH = '/api/v2/deliveries';
const STATES = ['waiting', 'sending', 'delivered', 'folded', 'dead'];
type ListOptions = SharedOptions & {
  readonly webhookId?: string;
  readonly state?: string;
  readonly limit: string;
};

const COLUMNS: View<Delivery>['columns'] = [
  { head: 'ID', read: (one) => one.delivery_id },
  { head: 'KIND', read: (one) => one.alert_kind },
  { head: 'NODE', read: (one) => one.node_name },
  { head: 'STATE', read: (one) => one.state },
  { head: 'ATTEMPTS', read: (one) => String(one.attempts) },
  { head: 'CREATED', read: (one) => one.created_at },
  { head: 'DUE', read: (one) => one.due_at ?? '-' },
  { head: 'WEBHOOK', wide: true, read: (one) => one.webhook_id },
  { head: 'REASON', wide: true, read: (one) => one.reason ?? '-' },
  { head: 'HEADLINE', wide: true, read: (one) => one.headline },
];
const LIST: View<Delivery> = {
  name: (one) => one.delivery_id,
  empty: 'No deliveries.',
  columns: COLUMNS,
};
const ONE: View<DeliveryWithAttempts> = {
  name: ({ delivery }) => delivery.delivery_id,
  empty: 'No delivery.',
  columns: [
    ...COLUMNS.map(({ head, read }) => ({
      head,
      read: ({ delivery }: DeliveryWithAttempts) => read(delivery),
    })),
    {
      head: 'TRIED',
      read: ({ tried }) =>
        tried.map((one) => `${one.at} ${one.outcome} ${one.status ?? '-'} ${one.duration_ms} ms`),
    },
    { head: 'CARRIES', read: ({ folded }) => folded },
  ],
};

/** Registers the commands. */
export function addCommands(program: Command, io: CommandIo): void {
  const deliveries = program.command('deliveries').description('alerts on their way to webhooks');
  const state = new Option('--state <state>', 'only in this state').choices(STATES);
  withWatch(withOutput(deliveries.command('list').alias('ls').description('newest first')))
    .option('--webhook-id <id>', 'only to this webhook')
    .addOption(state)
    .option('--limit <count>', 'how many', '50')
    .action(async (options: ListOptions) => {
      const shown = tableOptions(options);
      const query = new URLSearchParams({ limit: options.limit });
      if (options.webhookId !== undefined) query.set('webhook_id', options.webhookId);
      if (options.state !== undefined) query.set('state', options.state);
      const client = clientOf(io, options);
      await watched(io, options, async () => {
        const { items } = await client.get<{ items: readonly Delivery[] }>(`${PATH}?${query}`);
        printList(io.terminal, items, LIST, shown);
      });
    });
  withOutput(deliveries.command('get').description('one delivery with its attempts'))
    .argument('<delivery-id>')
    .action(async (id: string, options: SharedOptions) => {
      const shown = tableOptions(options);
      const one = await clientOf(io, options).get<DeliveryWithAttempts>(pathOf(id));
      printRecord(io.terminal, one, ONE, shown);
    });
  withTimeout(deliveries.command('replay').description('send one again'))
    .argument('<delivery-id>')
    .action(async (id: string, options: Pick<SharedOptions, 'timeout'>) => {
      const path = `${pathOf(id)}/replay`;
      const one = await clientOf(io, options).send<Delivery>('POST', path, {});
      io.terminal.talk(`It is ${plain(one.state)}.`);
      io.terminal.out(one.delivery_id);
    });
}

function pathOf(id: string): string {
  return `${PATH}/${encodeURIComponent(id)}`;
}
