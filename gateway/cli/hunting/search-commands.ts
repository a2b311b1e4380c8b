// `service-console searches ...`: saved searches. A file of searches is applied by their names, again and again.
// decision: D142
import type { Command } from 'commander';
import { parse } from 'yaml';
import type { StoredEvent } from '../../../machines/wire/event.ts';
import type { NewSearch, SavedSearchView } from '../../operator-plane/hunting/search-shapes.ts';
import { readInput } from '../license/input.ts';
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
import { formatOf, jsonLine, printList, printRecord, type View } from '../plumbing/output.ts';
import { plain } from '../plumbing/terminal.ts';
import { eventLine } from '../telemetry/event-line.ts';

const PATH = '/api/v2/saved-searches';
const RUN_FORMATS = ['compact', 'json', 'jsonl'] as const;
const RUN_MAX = 1_000_000;
type Timeout = Pick<SharedOptions, 'timeout'>;

const VIEW: View<SavedSearchView> = {
  name: (one) => one.search_id,
  empty: 'No saved searches. Save one: service-console searches apply -f FILE',
  columns: [
    { head: 'ID', read: (one) => one.search_id },
    { head: 'NAME', read: (one) => one.search_name },
    { head: 'STATE', read: (one) => one.state },
    { head: 'MATCHES', read: (one) => (one.threshold === null ? '-' : String(one.match_count)) },
    { head: 'THRESHOLD', read: (one) => String(one.threshold ?? '-') },
    { head: 'WINDOW', read: (one) => (one.window_secs === null ? '-' : `${one.window_secs} s`) },
    { head: 'CROSSED', read: (one) => one.last_crossed_at ?? 'never' },
    { head: 'TROUBLE', wide: true, read: (one) => one.trouble ?? '-' },
    { head: 'FILTER', wide: true, read: (one) => JSON.stringify(one.filter) },
  ],
};

/** Registers the commands. */
export function addCommands(program: Command, io: CommandIo): void {
  const searches = program.command('searches').description('saved searches');
  withOutput(searches.command('list').alias('ls').description('list saved searches')).action(
    async (options: SharedOptions) => {
      const shown = tableOptions(options);
      printList(io.terminal, await allOf(clientOf(io, options)), VIEW, shown);
    },
  );
  withOutput(searches.command('get').description('one saved search'))
    .argument('<name-or-id>')
    .action(async (which: string, options: SharedOptions) => {
      const shown = tableOptions(options);
      printRecord(io.terminal, await searchNamed(clientOf(io, options), which), VIEW, shown);
    });
  addApply(searches, io);
  addRun(searches, io);
  for (const act of ['pause', 'resume'] as const) {
    withTimeout(searches.command(act).description(`${act} counting and telling`))
      .argument('<name-or-id>')
      .action(async (which: string, options: Timeout) => {
        const client = clientOf(io, options);
        const { search_id: id } = await searchNamed(client, which);
        const one = await client.send<SavedSearchView>('POST', `${PATH}/${id}/${act}`, {});
        io.terminal.talk(`${plain(one.search_name)} is ${one.state}.`);
        io.terminal.out(id);
      });
  }
  withTimeout(searches.command('delete').description('remove a saved search'))
    .argument('<name-or-id>')
    .option('--yes', 'do not ask')
    .action(async (which: string, options: Timeout & { yes?: boolean }) => {
      const client = clientOf(io, options);
      const { search_id: id, search_name: name } = await searchNamed(client, which);
      const what = `the search ${plain(name)} is told of no more`;
      await confirm(io, { what, name, ...(options.yes === undefined ? {} : { yes: options.yes }) });
      await client.send('DELETE', `${PATH}/${id}`);
      io.terminal.talk(`${plain(name)} is removed.`);
      io.terminal.out(id);
    });
}

function addApply(searches: Command, io: CommandIo): void {
  withTimeout(searches.command('apply').description('save searches, or change those of that name'))
    .requiredOption('-f, --file <file>', 'YAML or JSON, one search or a list; - for standard input')
    .action(async (options: Timeout & { readonly file: string }) => {
      const wanted = searchesIn(await readInput(options.file));
      const client = clientOf(io, options);
      const known = await allOf(client);
      for (const one of wanted) {
        const before = known.find(({ search_name: name }) => name === one.search_name);
        const change = { ...one, threshold: one.threshold ?? null };
        const saved =
          before === undefined
            ? await client.send<SavedSearchView>('POST', PATH, one)
            : await client.send<SavedSearchView>('PATCH', `${PATH}/${before.search_id}`, {
                ...{ ...change, revision: before.revision },
              });
        const did = before === undefined ? 'saved' : 'changed';
        io.terminal.talk(`${plain(saved.search_name)} is ${did}.`);
        io.terminal.out(saved.search_id);
      }
    });
}

function addRun(searches: Command, io: CommandIo): void {
  withOutput(searches.command('run'), RUN_FORMATS)
    .description('the events of a saved search now')
    .argument('<name-or-id>')
    .option('--since <time>', 'RFC 3339 or relative, like 1h')
    .option('--limit <number>', 'at most this many', '100')
    .action(
      async (
        which: string,
        options: SharedOptions & { readonly since?: string; readonly limit: string },
      ) => {
        const format = formatOf(options.output, RUN_FORMATS);
        const limit = integerOf(options.limit, '--limit', RUN_MAX);
        const client = clientOf(io, options);
        const { search_id: id } = await searchNamed(client, which);
        const { since } = options;
        const from = since !== undefined && /^\d{1,6}[smhdw]$/.test(since) ? `now-${since}` : since;
        for await (const event of client.all<StoredEvent>(
          `${PATH}/${id}/events`,
          { from },
          limit,
        )) {
          io.terminal.out(
            format === 'compact' ? eventLine(event, io.terminal.colors) : jsonLine(event),
          );
        }
      },
    );
}

async function allOf(client: Client): Promise<readonly SavedSearchView[]> {
  return (await client.get<{ items: readonly SavedSearchView[] }>(PATH)).items;
}

async function searchNamed(client: Client, which: string): Promise<SavedSearchView> {
  const found = (await allOf(client)).find(
    ({ search_id: id, search_name: name }) => id === which || name === which,
  );
  if (found !== undefined) return found;
  throw new CommandFailure(EXIT.notFound, `no saved search is called ${plain(which)}`);
}

/** The Console judges what is in them. */
function searchesIn(text: string): readonly NewSearch[] {
  try {
    const read: unknown = parse(text, { maxAliasCount: 0 });
    return [read].flat() as readonly NewSearch[];
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandFailure(EXIT.usage, `the file cannot be read: ${plain(why)}`);
  }
}
