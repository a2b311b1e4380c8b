// `service-console teams ...` and `groups ...`: one set of commands for both; only teams have people. decision: D43
import type { Command } from 'commander';
import type { LabelDetail, LabelView } from '../../operator-plane/fleet/labels.ts';
import type { Client } from '../plumbing/client.ts';
import {
  type CommandIo,
  clientOf,
  confirm,
  integerOf,
  type SharedOptions,
  tableOptions,
  withOutput,
  withTimeout,
} from '../plumbing/command-run.ts';
import { CommandFailure, EXIT } from '../plumbing/exit.ts';
import { findLabel, findSensor, findUserId } from '../plumbing/find-by-name.ts';
import { printList, printRecord, type View } from '../plumbing/output.ts';
import { age, plain } from '../plumbing/terminal.ts';

const LIST_MAX = 100_000;

type Kind = {
  readonly path: 'teams' | 'groups';
  readonly noun: string;
  readonly about: string;
};
const KINDS: readonly Kind[] = [
  { path: 'teams', noun: 'team', about: 'who owns which sensors' },
  { path: 'groups', noun: 'group', about: 'sensors gathered under a name' },
];

type Options = Pick<SharedOptions, 'timeout'>;
type Fields = { readonly name?: string; readonly description?: string };
type Members = { readonly user?: readonly string[]; readonly sensor?: readonly string[] };

/** Registers the commands. */
export function addCommands(program: Command, io: CommandIo): void {
  for (const kind of KINDS) {
    const labels = program.command(kind.path).description(kind.about);
    addReading(labels, kind, io);
    addChanging(labels, kind, io);
    addMembers(labels, kind, io);
  }
}

function addReading(labels: Command, { path, noun }: Kind, io: CommandIo): void {
  withOutput(labels.command('list').alias('ls').description(`list ${path} by name`))
    .option('--limit <number>', 'at most this many', '1000')
    .action(async (options: SharedOptions & { readonly limit: string }) => {
      const limit = integerOf(options.limit, '--limit', LIST_MAX);
      const shown = tableOptions(options);
      const found: LabelView[] = [];
      const client = clientOf(io, options);
      for await (const one of client.all<LabelView>(`/api/v2/${path}`, {}, limit)) found.push(one);
      printList(io.terminal, found, viewOf(path, io.now()), shown);
    });

  withOutput(labels.command('get').description(`one ${noun} with its members`))
    .argument(`<${noun}>`, 'id or name')
    .action(async (name: string, options: SharedOptions) => {
      const shown = tableOptions(options);
      const client = clientOf(io, options);
      const { id } = await findLabel(client, path, name);
      const detail = await client.get<LabelDetail>(`/api/v2/${path}/${id}`);
      const view = viewOf(path, io.now());
      const ids = (of: readonly string[] | undefined) => of?.join(' ') || '-';
      const columns = [
        ...view.columns,
        { head: 'SENSOR-IDS', read: (one: LabelDetail) => ids(one.sensor_ids) },
        ...(path === 'teams'
          ? [{ head: 'USER-IDS', read: (one: LabelDetail) => ids(one.user_ids) }]
          : []),
      ];
      printRecord<LabelDetail>(io.terminal, detail, { ...view, columns }, shown);
    });
}

function addChanging(labels: Command, { path, noun }: Kind, io: CommandIo): void {
  withTimeout(labels.command('create').description(`make a ${noun}`))
    .argument('<name>')
    .option('--description <text>')
    .action(async (name: string, options: Options & Fields) => {
      const { description } = options;
      const body = { name, ...(description === undefined ? {} : { description }) };
      const made = await clientOf(io, options).send<LabelDetail>('POST', `/api/v2/${path}`, body);
      io.terminal.talk(plain(`The ${noun} ${made.name} is made.`));
      io.terminal.out(made.id);
    });

  withTimeout(labels.command('change').description(`rename or describe a ${noun}`))
    .argument(`<${noun}>`, 'id or name')
    .option('--name <name>')
    .option('--description <text>')
    .action(async (asked: string, options: Options & Fields) => {
      const { name, description } = options;
      if (name === undefined && description === undefined) {
        throw new CommandFailure(EXIT.usage, 'nothing is to be changed', '--name or --description');
      }
      const client = clientOf(io, options);
      const { id } = await findLabel(client, path, asked);
      const body = {
        ...(name === undefined ? {} : { name }),
        ...(description === undefined ? {} : { description }),
      };
      const changed = await client.send<LabelDetail>('PATCH', `/api/v2/${path}/${id}`, body);
      io.terminal.talk(plain(`The ${noun} is ${changed.name} now.`));
      io.terminal.out(changed.id);
    });

  withTimeout(labels.command('remove').description(`remove a ${noun}; its members stay`))
    .argument(`<${noun}>`, 'id or name')
    .option('-y, --yes', 'do not ask')
    .action(async (asked: string, options: Options & { readonly yes?: boolean }) => {
      const client = clientOf(io, options);
      const { id, name } = await findLabel(client, path, asked);
      await confirm(io, { ...options, what: `Removing the ${noun} ${plain(name)}`, name });
      await client.send('DELETE', `/api/v2/${path}/${id}`);
      io.terminal.talk(plain(`The ${noun} ${name} is removed.`));
      io.terminal.out(id);
    });
}

function addMembers(labels: Command, { path, noun }: Kind, io: CommandIo): void {
  for (const [verb, about] of [
    ['add', `add members to a ${noun}, all or none`],
    ['drop', `take members from a ${noun}, all or none`],
  ] as const) {
    const command = withTimeout(labels.command(verb).description(about))
      .argument(`<${noun}>`, 'id or name')
      .option('--sensor <sensor...>', 'ids or node names');
    if (path === 'teams') command.option('--user <user...>', 'ids or e-mail addresses');
    command.action(async (asked: string, options: Options & Members) => {
      const client = clientOf(io, options);
      const { id } = await findLabel(client, path, asked);
      const body = await changeOf(client, verb === 'add' ? 'add' : 'remove', options);
      const at = `/api/v2/${path}/${id}/members`;
      const changed = await client.send<LabelDetail>('POST', at, body);
      const people = changed.users === undefined ? '' : `${changed.users} users, `;
      io.terminal.talk(
        plain(`The ${noun} ${changed.name} has ${people}${changed.sensors} sensors.`),
      );
      io.terminal.out(id);
    });
  }
}

async function changeOf(
  client: Client,
  verb: 'add' | 'remove',
  { user = [], sensor = [] }: Members,
) {
  if (user.length + sensor.length === 0) {
    throw new CommandFailure(EXIT.usage, 'no member is named', '--sensor or --user');
  }
  const sensors = [];
  for (const one of sensor) sensors.push((await findSensor(client, one)).sensor_id);
  const users = [];
  for (const one of user) users.push(await findUserId(client, one));
  return {
    ...(sensors.length === 0 ? {} : { [`${verb}_sensors`]: sensors }),
    ...(users.length === 0 ? {} : { [`${verb}_users`]: users }),
  };
}

function viewOf(path: Kind['path'], nowMs: number): View<LabelView> {
  return {
    name: (one) => one.id,
    empty: `No ${path}. Make one: service-console ${path} create <name>`,
    columns: [
      { head: 'NAME', read: (one) => one.name },
      { head: 'ID', read: (one) => one.id },
      ...(path === 'teams' ? [{ head: 'USERS', read: (one: LabelView) => String(one.users) }] : []),
      { head: 'SENSORS', read: (one) => String(one.sensors) },
      { head: 'AGE', read: (one) => age(one.created_at, nowMs) },
      { head: 'DESCRIPTION', wide: true, read: (one) => one.description || '-' },
    ],
  };
}
