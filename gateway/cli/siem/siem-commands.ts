// `service-console siem ...`: where stored events are forwarded to. A destination is applied from a file of JSON, found by its
// name; a token comes from a file or from standard input, never from the command line. decision: D153
import type { Command } from 'commander';
import type { SiemDestination, SiemTestResult } from '../../operator-plane/siem/siem-shapes.ts';
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
import { readFields } from '../plumbing/fields-file.ts';
import { printList, printRecord, type View } from '../plumbing/output.ts';
import { plain } from '../plumbing/terminal.ts';

const PATH = '/api/v2/siem-destinations';
type Timeout = Pick<SharedOptions, 'timeout'>;

const VIEW: View<SiemDestination> = {
  name: (one) => one.destination_id,
  empty: 'No SIEM destinations. Add one: service-console siem apply --file siem.json',
  columns: [
    { head: 'ID', read: (one) => one.destination_id },
    { head: 'KIND', read: (one) => one.kind },
    { head: 'NAME', read: (one) => one.name },
    { head: 'STATE', read: (one) => one.state },
    { head: 'LAG', read: (one) => `${one.lag_seconds} s` },
    { head: 'SENT', read: (one) => String(one.sent_events) },
    { head: 'REFUSED', read: (one) => String(one.refused_events) },
    { head: 'FAILURE', read: (one) => one.last_failure ?? '-' },
    { head: 'TARGET', wide: true, read: (one) => one.target_url },
    { head: 'FILTER', wide: true, read: (one) => one.filter || 'all' },
    { head: 'UP TO', wide: true, read: (one) => one.sent_up_to },
  ],
};

/** Registers the commands. */
export function addCommands(program: Command, io: CommandIo): void {
  const siem = program.command('siem').description('where stored events are forwarded to');
  withOutput(siem.command('list').alias('ls').description('list SIEM destinations')).action(
    async (options: SharedOptions) => {
      const shown = tableOptions(options);
      printList(io.terminal, await listed(io, options), VIEW, shown);
    },
  );
  withOutput(siem.command('get').description('one SIEM destination'))
    .argument('<destination-id>')
    .action(async (id: string, options: SharedOptions) => {
      const shown = tableOptions(options);
      const one = await clientOf(io, options).get<SiemDestination>(pathOf(id));
      printRecord(io.terminal, one, VIEW, shown);
    });
  addApply(siem, io);
  addActs(siem, io);
}

function addApply(siem: Command, io: CommandIo): void {
  withOutput(
    siem.command('apply').description('add a SIEM destination, or change the one of its name'),
  )
    .requiredOption(
      '--file <file>',
      'YAML or JSON: kind, name, target_url, filter, options; - for standard input',
    )
    .option('--token-file <file>', 'the token; - for standard input')
    .action(async (options: SharedOptions & { file: string; tokenFile?: string }) => {
      const shown = tableOptions(options);
      const wanted = await bodyOf(options);
      const client = clientOf(io, options);
      const known = (await listed(io, options)).find(({ name }) => name === wanted['name']);
      if (known === undefined) {
        const made = await client.send<SiemDestination>('POST', PATH, wanted);
        io.terminal.talk(`${plain(made.name)} is added.`);
        printRecord(io.terminal, made, VIEW, shown);
        return;
      }
      const { kind, start_at: _start, ...change } = wanted;
      if (kind !== undefined && kind !== known.kind) {
        throw new CommandFailure(EXIT.failed, `${plain(known.name)} is of kind ${known.kind}`);
      }
      const body = { ...change, revision: known.revision };
      const changed = await client.send<SiemDestination>(
        'PATCH',
        pathOf(known.destination_id),
        body,
      );
      io.terminal.talk(`${plain(changed.name)} is changed.`);
      printRecord(io.terminal, changed, VIEW, shown);
    });
}

function addActs(siem: Command, io: CommandIo): void {
  withTimeout(siem.command('test').description('send one test event now'))
    .argument('<destination-id>')
    .action(async (id: string, options: Timeout) => {
      const path = `${pathOf(id)}/test`;
      const tested = await clientOf(io, options).send<SiemTestResult>('POST', path, {});
      if (!tested.is_accepted) throw new CommandFailure(EXIT.failed, plain(tested.detail));
      io.terminal.talk(plain(tested.detail));
      io.terminal.out(`${tested.duration_ms} ms`);
    });
  withTimeout(siem.command('pause').description('forward nothing'))
    .argument('<destination-id>')
    .action((id: string, options: Timeout) => act(io, { id, options, name: 'pause', body: {} }));
  withTimeout(siem.command('resume').description('forward on'))
    .argument('<destination-id>')
    .option('--from <instant>', 'send again what was received from then on, like now-2h')
    .action((id: string, options: Timeout & { from?: string }) => {
      const body = options.from === undefined ? {} : { start_at: options.from };
      return act(io, { id, options, name: 'resume', body });
    });
  withTimeout(siem.command('delete').description('remove a SIEM destination'))
    .argument('<destination-id>')
    .option('--yes', 'do not ask')
    .action(async (id: string, options: Timeout & { yes?: boolean }) => {
      const client = clientOf(io, options);
      const { name } = await client.get<SiemDestination>(pathOf(id));
      const what = `${plain(name)} gets no events any more`;
      await confirm(io, { what, name, ...(options.yes === undefined ? {} : { yes: options.yes }) });
      await client.send('DELETE', pathOf(id));
      io.terminal.talk(`${plain(name)} is removed.`);
      io.terminal.out(id);
    });
}

async function act(
  io: CommandIo,
  of: {
    readonly id: string;
    readonly options: Timeout;
    readonly name: string;
    readonly body: object;
  },
): Promise<void> {
  const path = `${pathOf(of.id)}/${of.name}`;
  const one = await clientOf(io, of.options).send<SiemDestination>('POST', path, of.body);
  io.terminal.talk(`${plain(one.name)} is ${one.state}.`);
  io.terminal.out(one.destination_id);
}

async function listed(io: CommandIo, options: Timeout): Promise<readonly SiemDestination[]> {
  const { items } = await clientOf(io, options).get<{ items: readonly SiemDestination[] }>(PATH);
  return items;
}

async function bodyOf(of: { readonly file: string; readonly tokenFile?: string }) {
  const body = await readFields(of.file);
  if (of.tokenFile === undefined) return body;
  return { ...body, token: (await readInput(of.tokenFile)).replace(/\r?\n$/, '') };
}

function pathOf(id: string): string {
  return `${PATH}/${encodeURIComponent(id)}`;
}
