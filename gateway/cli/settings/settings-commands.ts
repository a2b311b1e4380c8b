// `service-console settings ...`: see every setting, one, or change some. A value is read as JSON where it is JSON, else as
// text; a list may be written with commas.
import type { Command } from 'commander';
import type { Applies } from '../../../machines/console/settings/setting.ts';
import {
  type CommandIo,
  clientOf,
  type SharedOptions,
  tableOptions,
  withOutput,
} from '../plumbing/command-run.ts';
import { CommandFailure, EXIT } from '../plumbing/exit.ts';
import { printList, printRecord, type View } from '../plumbing/output.ts';

type Setting = {
  readonly name: string;
  readonly value: unknown;
  readonly default: unknown;
  readonly revision: number;
  readonly applies: Applies;
  readonly about: string;
  readonly changed_at: string | null;
  readonly changed_by: string | null;
};
type Answer = { readonly items: readonly Setting[] };
const PATH = '/api/v2/settings';

const VIEW: View<Setting> = {
  name: ({ name }) => name,
  empty: 'There are no settings.',
  columns: [
    { head: 'NAME', read: ({ name }) => name },
    { head: 'VALUE', read: ({ value }) => textOf(value) },
    { head: 'DEFAULT', read: (one) => textOf(one.default) },
    { head: 'APPLIES', read: ({ applies }) => (applies === 'live' ? 'at once' : 'waits') },
    { head: 'REVISION', read: ({ revision }) => String(revision), wide: true },
    { head: 'CHANGED BY', read: (one) => one.changed_by ?? '-', wide: true },
    { head: 'ABOUT', read: ({ about }) => about, wide: true },
  ],
};

/** Registers the commands. */
export function addCommands(program: Command, io: CommandIo): void {
  const settings = program.command('settings').description('the settings of this Console');

  withOutput(settings.command('list').alias('ls').description('every setting')).action(
    async (options: SharedOptions) => {
      const shown = tableOptions(options);
      const { items } = await clientOf(io, options).get<Answer>(PATH);
      printList(io.terminal, items, VIEW, shown);
    },
  );

  withOutput(settings.command('get').description('one setting'))
    .argument('<name>')
    .action(async (name: string, options: SharedOptions) => {
      const shown = tableOptions(options);
      const { items } = await clientOf(io, options).get<Answer>(PATH);
      printRecord(io.terminal, named(items, name), VIEW, shown);
    });

  withOutput(settings.command('set').description('change settings, all of them or none'))
    .argument('<name=value...>', 'name= gives a setting its default back')
    .action(async (pairs: readonly string[], options: SharedOptions) => {
      const shown = tableOptions(options);
      const client = clientOf(io, options);
      const { items } = await client.get<Answer>(PATH);
      const changes = pairs.map((pair) => changeOf(pair, items));
      const answer = await client.send<Answer>('PATCH', PATH, {
        values: Object.fromEntries(changes.map(({ name, value }) => [name, value])),
        revisions: Object.fromEntries(changes.map(({ name, revision }) => [name, revision])),
      });
      const changed = answer.items.filter(({ name }) => changes.some((one) => one.name === name));
      for (const { name, applies } of changed) {
        if (applies === 'live') continue;
        io.terminal.talk(`${name} waits: this version keeps it and does not act on it yet.`);
      }
      printList(io.terminal, changed, VIEW, shown);
    });
}

function changeOf(pair: string, items: readonly Setting[]) {
  const at = pair.indexOf('=');
  if (at < 1) throw new CommandFailure(EXIT.usage, `${pair} is not name=value`);
  const setting = named(items, pair.slice(0, at));
  const { name, revision } = setting;
  return { name, revision, value: readValue(pair.slice(at + 1), setting.default) };
}

function named(items: readonly Setting[], name: string): Setting {
  const found = items.find((one) => one.name === name);
  if (found !== undefined) return found;
  throw new CommandFailure(
    EXIT.notFound,
    `there is no setting ${name}`,
    'see: service-console settings list',
  );
}

/** What a person wrote, in the form of the setting's default. */
function readValue(text: string, example: unknown): unknown {
  if (text === '') return null;
  if (typeof example === 'string') return text;
  if (Array.isArray(example) && !text.startsWith('[')) {
    return text.split(',').map((one) => one.trim());
  }
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? '-' : value.join(', ');
  return value === '' ? '-' : String(value);
}
