// `service-console digests ...`: what is told once a day. A digest is applied from a YAML file and found by its name; its
// secret comes from a file of its own or from standard input, never from the command line. decision: D166
import type { Command } from 'commander';
import type {
  DigestOut,
  DigestPreview,
  DigestTestResult,
} from '../../operator-plane/digest/digest-shapes.ts';
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

const PATH = '/api/v2/digests';
type Timeout = Pick<SharedOptions, 'timeout'>;

const VIEW: View<DigestOut> = {
  name: (one) => one.digest_id,
  empty: 'No digests. Set one up: service-console digests apply --file digest.yaml',
  columns: [
    { head: 'ID', read: (one) => one.digest_id },
    { head: 'NAME', read: (one) => plain(one.name) },
    { head: 'ON', read: (one) => (one.is_on ? 'yes' : 'no') },
    { head: 'AT', read: (one) => `${one.at} ${one.time_zone}` },
    { head: 'TO', read: (one) => placeOf(one) },
    { head: 'LAST DAY', read: (one) => one.last?.day ?? '-' },
    { head: 'STATE', read: (one) => one.last?.state ?? '-' },
    { head: 'REASON', read: (one) => plain(one.last?.reason ?? '-') },
    { head: 'GROUP', wide: true, read: (one) => one.group_id ?? 'fleet' },
    { head: 'NEXT TRY', wide: true, read: (one) => one.last?.next_try_at ?? '-' },
  ],
};

/** Registers the commands. */
export function addCommands(program: Command, io: CommandIo): void {
  const digests = program.command('digests').description('what is told once a day');
  withOutput(digests.command('list').alias('ls').description('list daily digests')).action(
    async (options: SharedOptions) => {
      const shown = tableOptions(options);
      printList(io.terminal, await listed(io, options), VIEW, shown);
    },
  );
  withOutput(digests.command('get').description('one daily digest'))
    .argument('<digest-id>')
    .action(async (id: string, options: SharedOptions) => {
      const shown = tableOptions(options);
      const one = await clientOf(io, options).get<DigestOut>(pathOf(id));
      printRecord(io.terminal, one, VIEW, shown);
    });
  addApply(digests, io);
  addActs(digests, io);
}

function addApply(digests: Command, io: CommandIo): void {
  withOutput(
    digests.command('apply').description('set up a daily digest, or change the one of its name'),
  )
    .requiredOption(
      '--file <file>',
      'YAML: name, group_id, time_zone, at, is_on, mail or webhook; - for standard input',
    )
    .option('--secret-file <file>', 'password of the mail server, or what a webhook is signed with')
    .action(async (options: SharedOptions & { file: string; secretFile?: string }) => {
      const shown = tableOptions(options);
      const given = await readFields(options.file);
      const body = { ...given, ...(await secretOf(options.secretFile)) };
      const client = clientOf(io, options);
      const known = (await listed(io, options)).find(({ name }) => name === given['name']);
      const put =
        known === undefined
          ? await client.send<DigestOut>('POST', PATH, body)
          : await client.send<DigestOut>('PUT', pathOf(known.digest_id), {
              ...{ ...body, revision: known.revision },
            });
      io.terminal.talk(`${plain(put.name)} is ${known === undefined ? 'set up' : 'changed'}.`);
      printRecord(io.terminal, put, VIEW, shown);
    });
}

function addActs(digests: Command, io: CommandIo): void {
  withTimeout(digests.command('preview').description('what would be sent now, as text'))
    .argument('<digest-id>')
    .option('--html', 'as HTML')
    .action(async (id: string, options: Timeout & { html?: boolean }) => {
      const made = await clientOf(io, options).get<DigestPreview>(`${pathOf(id)}/preview`);
      if (options.html === true) io.terminal.out(made.html);
      else for (const line of made.text.split('\n')) io.terminal.out(plain(line));
    });
  withTimeout(digests.command('test').description('send one now, marked as a test'))
    .argument('<digest-id>')
    .action(async (id: string, options: Timeout) => {
      const path = `${pathOf(id)}/test`;
      const tested = await clientOf(io, options).send<DigestTestResult>('POST', path, {});
      if (!tested.is_taken) throw new CommandFailure(EXIT.failed, plain(tested.detail));
      io.terminal.out(plain(tested.detail));
    });
  withTimeout(digests.command('delete').description('remove a daily digest'))
    .argument('<digest-id>')
    .option('--yes', 'do not ask')
    .action(async (id: string, options: Timeout & { yes?: boolean }) => {
      const client = clientOf(io, options);
      const { name } = await client.get<DigestOut>(pathOf(id));
      const what = `${plain(name)} is not sent any more`;
      await confirm(io, { what, name, ...(options.yes === undefined ? {} : { yes: options.yes }) });
      await client.send('DELETE', pathOf(id));
      io.terminal.talk(`${plain(name)} is removed.`);
      io.terminal.out(id);
    });
}

function placeOf({ mail, webhook }: DigestOut): string {
  return plain(mail === null ? (webhook?.target_url ?? '-') : mail.recipients.join(', '));
}

async function listed(io: CommandIo, options: Timeout): Promise<readonly DigestOut[]> {
  const { items } = await clientOf(io, options).get<{ items: readonly DigestOut[] }>(PATH);
  return items;
}

async function secretOf(path: string | undefined): Promise<{ readonly secret?: string }> {
  return path === undefined ? {} : { secret: (await readInput(path)).replace(/\r?\n$/, '') };
}

function pathOf(id: string): string {
  return `${PATH}/${encodeURIComponent(id)}`;
}
