// `service-console webhooks ...`: where alerts are sent. A secret comes from a file or from standard input, never from the
// command line; one that the Console made is printed once. decision: D104
import { type Command, Option } from 'commander';
import { ALERT_KINDS, ALERT_SEVERITIES } from '../../../machines/console/delivery/alert.ts';
import { WEBHOOK_TYPES } from '../../../machines/console/delivery/formats/formats.ts';
import type {
  MadeWebhook,
  TestResult,
  Webhook,
} from '../../operator-plane/delivery/webhook-shapes.ts';
import { readInput } from '../license/input.ts';
import {
  type CommandIo,
  clientOf,
  confirm,
  type SharedOptions,
  tableOptions,
  withOutput,
  withTimeout,
} from '../plumbing/command-run.ts';
import { CommandFailure, EXIT } from '../plumbing/exit.ts';
import { printList, printRecord, type View } from '../plumbing/output.ts';
import { plain } from '../plumbing/terminal.ts';

const PATH = '/api/v2/webhooks';
type Timeout = Pick<SharedOptions, 'timeout'>;
type Chosen = {
  readonly kind?: readonly string[];
  readonly minSeverity?: string;
  readonly groupId?: readonly string[];
  readonly rule?: readonly string[];
  readonly ratePerMinute?: string;
  readonly caFile?: string;
  readonly proxy?: string;
  readonly quiet?: string;
  readonly quietZone: string;
  readonly quietPasses: string;
};
type CreateOptions = SharedOptions &
  Chosen & {
    readonly type: string;
    readonly name: string;
    readonly url: string;
    readonly secretFile?: string;
  };
type ChangeOptions = SharedOptions &
  Chosen & { readonly name?: string; readonly url?: string; readonly secretFile?: string };

const VIEW: View<Webhook> = {
  name: (one) => one.webhook_id,
  empty: 'No webhooks. Add one: service-console webhooks create',
  columns: [
    { head: 'ID', read: (one) => one.webhook_id },
    { head: 'TYPE', read: (one) => one.webhook_type },
    { head: 'NAME', read: (one) => one.name },
    { head: 'STATE', read: stateOf },
    { head: 'DELIVERED', read: (one) => one.last_delivered_at ?? 'never' },
    { head: 'FAILURE', read: (one) => one.last_failure ?? '-' },
    { head: 'TARGET', wide: true, read: (one) => one.target_url },
    { head: 'KINDS', wide: true, read: ({ options }) => options.alert_kinds.join(', ') || 'all' },
    { head: 'SEVERITY', wide: true, read: ({ options }) => options.min_severity },
    { head: 'GROUPS', wide: true, read: ({ options }) => options.group_ids.join(', ') || 'all' },
    { head: 'QUIET', wide: true, read: ({ options }) => quietText(options.quiet_hours) },
    { head: 'RATE', wide: true, read: ({ options }) => `${options.rate_per_minute}/min` },
  ],
};

/** Registers the commands. */
export function addCommands(program: Command, io: CommandIo): void {
  const webhooks = program.command('webhooks').description('where alerts are sent');
  withOutput(webhooks.command('list').alias('ls').description('list webhooks')).action(
    async (options: SharedOptions) => {
      const shown = tableOptions(options);
      const { items } = await clientOf(io, options).get<{ items: readonly Webhook[] }>(PATH);
      printList(io.terminal, items, VIEW, shown);
    },
  );
  withOutput(webhooks.command('get').description('one webhook'))
    .argument('<webhook-id>')
    .action(async (id: string, options: SharedOptions) => {
      const shown = tableOptions(options);
      const one = await clientOf(io, options).get<Webhook>(pathOf(id));
      printRecord(io.terminal, one, VIEW, shown);
    });
  addCreate(webhooks, io);
  addChange(webhooks, io);
  addRotation(webhooks, io);
  addActs(webhooks, io);
}

function addCreate(webhooks: Command, io: CommandIo): void {
  const type = new Option('--type <type>', 'what receives it').choices([...WEBHOOK_TYPES]);
  withChoices(withOutput(webhooks.command('create').description('add a webhook')))
    .addOption(type.makeOptionMandatory())
    .requiredOption('--name <text>', 'how people call it')
    .requiredOption('--url <url>', 'where it is; https only')
    .option('--secret-file <file>', 'signing secret or key of the receiver; - for standard input')
    .action(async (options: CreateOptions) => {
      const shown = tableOptions(options);
      const made = await clientOf(io, options).send<MadeWebhook>('POST', PATH, {
        ...{ webhook_type: options.type, name: options.name, target_url: options.url },
        ...(await secretOf(options.secretFile)),
        options: await choicesOf(options),
      });
      tellSecret(io, made);
      printRecord(io.terminal, made.webhook, VIEW, shown);
    });
}

function addChange(webhooks: Command, io: CommandIo): void {
  withChoices(withOutput(webhooks.command('change').description('change a webhook')))
    .argument('<webhook-id>')
    .option('--name <text>', 'how people call it')
    .option('--url <url>', 'where it is; https only')
    .option('--secret-file <file>', 'a new secret, which counts at once; - for standard input')
    .action(async (id: string, options: ChangeOptions) => {
      const shown = tableOptions(options);
      const client = clientOf(io, options);
      const { revision } = await client.get<Webhook>(pathOf(id));
      const changed = await client.send<Webhook>('PATCH', pathOf(id), {
        revision,
        ...(options.name === undefined ? {} : { name: options.name }),
        ...(options.url === undefined ? {} : { target_url: options.url }),
        ...(await secretOf(options.secretFile)),
        options: await choicesOf(options),
      });
      printRecord(io.terminal, changed, VIEW, shown);
    });
}

function addRotation(webhooks: Command, io: CommandIo): void {
  withTimeout(webhooks.command('rotate-secret').description('give a webhook another secret'))
    .argument('<webhook-id>')
    .option('--overlap-hours <hours>', 'how long the old one signs, too; 0 ends it now', '24')
    .option('--secret-file <file>', 'the new secret; - for standard input; made when absent')
    .action(
      async (
        id: string,
        options: Timeout & { readonly overlapHours: string; readonly secretFile?: string },
      ) => {
        const hours = Number(options.overlapHours);
        if (!/^\d{1,4}$/.test(options.overlapHours)) {
          throw new CommandFailure(
            EXIT.usage,
            `--overlap-hours ${options.overlapHours} is no number`,
          );
        }
        const body = { overlap_hours: hours, ...(await secretOf(options.secretFile)) };
        const path = `${pathOf(id)}/rotate-secret`;
        const made = await clientOf(io, options).send<MadeWebhook>('POST', path, body);
        tellSecret(io, made);
        const { rotates_at: until } = made.webhook;
        io.terminal.talk(
          until === null ? 'The new secret signs.' : `The old secret signs, too, until ${until}.`,
        );
        io.terminal.out(id);
      },
    );
}

function addActs(webhooks: Command, io: CommandIo): void {
  for (const [name, description] of [
    ['pause', 'let deliveries wait'],
    ['resume', 'send what waits'],
  ] as const) {
    withTimeout(webhooks.command(name).description(description))
      .argument('<webhook-id>')
      .action(async (id: string, options: Timeout) => {
        const one = await clientOf(io, options).send<Webhook>('POST', `${pathOf(id)}/${name}`, {});
        io.terminal.talk(`${plain(one.name)} is ${stateOf(one)}.`);
        io.terminal.out(one.webhook_id);
      });
  }
  withTimeout(webhooks.command('test').description('send a test now'))
    .argument('<webhook-id>')
    .action(async (id: string, options: Timeout) => {
      const path = `${pathOf(id)}/test`;
      const tested = await clientOf(io, options).send<TestResult>('POST', path, {});
      if (!tested.is_delivered) {
        throw new CommandFailure(EXIT.failed, `${tested.outcome}: ${plain(tested.detail)}`);
      }
      io.terminal.talk(plain(tested.detail));
      io.terminal.out(`${tested.duration_ms} ms`);
    });
  withTimeout(webhooks.command('replay-dead').description('send dead deliveries again'))
    .argument('<webhook-id>')
    .action(async (id: string, options: Timeout) => {
      const path = `${pathOf(id)}/replay-dead`;
      const { replayed } = await clientOf(io, options).send<{ replayed: number }>('POST', path, {});
      io.terminal.out(String(replayed));
    });
  withTimeout(webhooks.command('remove').description('remove a webhook with its deliveries'))
    .argument('<webhook-id>')
    .option('--yes', 'do not ask')
    .action(async (id: string, options: Timeout & { yes?: boolean }) => {
      const client = clientOf(io, options);
      const { name } = await client.get<Webhook>(pathOf(id));
      const what = `${plain(name)} is told of nothing any more, and its deliveries go`;
      await confirm(io, { what, name, ...(options.yes === undefined ? {} : { yes: options.yes }) });
      await client.send('DELETE', pathOf(id));
      io.terminal.talk(`${plain(name)} is removed.`);
      io.terminal.out(id);
    });
}

function withChoices(command: Command): Command {
  const kinds = new Option('--kind <kind...>', 'only alerts of these kinds');
  const least = new Option('--min-severity <severity>', 'only alerts at least so severe');
  return command
    .addOption(kinds.choices([...ALERT_KINDS]))
    .addOption(least.choices([...ALERT_SEVERITIES]))
    .option('--group-id <id...>', 'only sensors of one of these groups')
    .option('--rule <id...>', 'only alerts of one of these rules or saved searches')
    .option('--rate-per-minute <count>', 'how many deliveries it is sent in a minute')
    .option('--ca-file <file>', 'PEM of the CA that its certificate chains to')
    .option('--proxy <url>', 'HTTP proxy that stands between; none: connect directly')
    .option('--quiet <from-to>', 'hours in which less severe alerts wait, 22:00-07:00; or none')
    .option('--quiet-zone <zone>', 'time zone of the quiet hours', 'UTC')
    .addOption(
      new Option('--quiet-passes <severity>', 'told at once in quiet hours, too')
        .choices([...ALERT_SEVERITIES])
        .default('critical'),
    );
}

async function choicesOf(options: Chosen): Promise<Record<string, unknown>> {
  const { kind, minSeverity, groupId, rule, ratePerMinute, caFile } = options;
  return {
    ...(kind === undefined ? {} : { alert_kinds: kind }),
    ...(minSeverity === undefined ? {} : { min_severity: minSeverity }),
    ...(groupId === undefined ? {} : { group_ids: groupId }),
    ...(rule === undefined ? {} : { rule_ids: rule }),
    ...(ratePerMinute === undefined ? {} : { rate_per_minute: Number(ratePerMinute) }),
    ...(caFile === undefined ? {} : { ca_pem: await readInput(caFile) }),
    ...(options.proxy === undefined
      ? {}
      : { proxy_url: options.proxy === 'none' ? null : options.proxy }),
    ...(options.quiet === undefined ? {} : { quiet_hours: quietOf(options.quiet, options) }),
  };
}

function quietOf(text: string, { quietZone, quietPasses }: Chosen) {
  if (text === 'none') return null;
  const [, from, to] = /^(\d\d:\d\d)-(\d\d:\d\d)$/.exec(text) ?? [];
  if (from === undefined || to === undefined) {
    throw new CommandFailure(EXIT.usage, `--quiet ${text} is not like 22:00-07:00`);
  }
  return { from, to, time_zone: quietZone, days: [], passes: quietPasses };
}

function quietText(hours: Webhook['options']['quiet_hours']): string {
  return hours === null ? '-' : `${hours.from}-${hours.to} ${hours.time_zone}`;
}

async function secretOf(file: string | undefined): Promise<{ readonly signing_secret?: string }> {
  if (file === undefined) return {};
  const secret = (await readInput(file)).replace(/\r?\n$/, '');
  if (secret === '') throw new CommandFailure(EXIT.usage, 'the secret is empty');
  return { signing_secret: secret };
}

function tellSecret(io: CommandIo, { signing_secret: secret }: MadeWebhook): void {
  if (secret === null) return;
  io.terminal.talk('The signing secret, shown this once:');
  io.terminal.talk(plain(secret));
}

function stateOf(one: Webhook): string {
  if (one.is_paused) return 'paused';
  return one.breaker === 'closed' ? 'active' : 'failing';
}

function pathOf(id: string): string {
  return `${PATH}/${encodeURIComponent(id)}`;
}
