// `service-console investigations ...`. `verify` needs no Console: an archive is judged with a key alone. decision: D143
import { readFile, writeFile } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import { verifyArchive } from '../../../actors/hunting/investigation-archive.ts';
import { INVESTIGATION_OUTCOMES } from '../../../machines/console/hunting/investigation.machine.ts';
import type { StoredEvent } from '../../../machines/wire/event.ts';
import type {
  InvestigationView,
  TimelineItem,
} from '../../operator-plane/hunting/investigation-shapes.ts';
import { readInput } from '../license/input.ts';
import {
  type CommandIo,
  clientOf,
  integerOf,
  type SharedOptions,
  tableOptions,
  withOutput,
  withTimeout,
} from '../plumbing/command-run.ts';
import { CommandFailure, EXIT } from '../plumbing/exit.ts';
import { printList, printRecord, type View } from '../plumbing/output.ts';
import { plain } from '../plumbing/terminal.ts';

const PATH = '/api/v2/investigations';
const LIST_MAX = 10_000;
const ADD_MAX = 200;
type Timeout = Pick<SharedOptions, 'timeout'>;
type Words = Timeout & { readonly text?: string };

const VIEW: View<InvestigationView> = {
  name: (one) => one.investigation_id,
  empty: 'No investigations. Begin one: service-console investigations create',
  columns: [
    { head: 'ID', read: (one) => one.investigation_id },
    { head: 'NAME', read: (one) => one.name },
    { head: 'SEVERITY', read: (one) => one.severity },
    { head: 'STATE', read: (one) => one.state },
    { head: 'ASSIGNEE', read: (one) => one.assignee ?? '-' },
    { head: 'OUTCOME', read: (one) => one.outcome ?? '-' },
    { head: 'CHANGED', read: (one) => one.changed_at },
    { head: 'SUMMARY', wide: true, read: (one) => one.summary },
  ],
};
const TIMELINE_VIEW: View<TimelineItem> = {
  name: (one) => one.item_id ?? one.at,
  empty: 'Nothing was collected yet.',
  columns: [
    { head: 'TIME', read: (one) => one.at },
    { head: 'WHAT', read: (one) => one.event?.event_kind ?? one.what },
    { head: 'NODE', read: (one) => one.event?.node_name ?? '-' },
    { head: 'TOLD', read: toldOf },
    { head: 'NOTE', read: (one) => one.text || '-' },
    { head: 'BY', wide: true, read: (one) => one.by },
    { head: 'ITEM', wide: true, read: (one) => one.item_id ?? '-' },
  ],
};

/** Registers the commands. */
export function addCommands(program: Command, io: CommandIo): void {
  const group = program.command('investigations').description('what belongs to one suspicion');
  addReads(group, io);
  addCreate(group, io);
  addMoves(group, io);
  addCollecting(group, io);
  addArchive(group, io);
}

function addReads(group: Command, io: CommandIo): void {
  withOutput(group.command('list').alias('ls').description('list investigations')).action(
    async (options: SharedOptions) => {
      const shown = tableOptions(options);
      const found: InvestigationView[] = [];
      for await (const one of clientOf(io, options).all<InvestigationView>(PATH, {}, LIST_MAX)) {
        found.push(one);
      }
      printList(io.terminal, found, VIEW, shown);
    },
  );
  withOutput(group.command('get').description('one investigation'))
    .argument('<id>')
    .action(async (id: string, options: SharedOptions) => {
      const shown = tableOptions(options);
      const one = await clientOf(io, options).get<InvestigationView>(pathOf(id));
      printRecord(io.terminal, one, VIEW, shown);
    });
  withOutput(group.command('timeline').description('everything of it in the order of time'))
    .argument('<id>')
    .action(async (id: string, options: SharedOptions) => {
      const shown = tableOptions(options);
      const found: TimelineItem[] = [];
      const pages = clientOf(io, options).all<TimelineItem>(`${pathOf(id)}/timeline`, {}, LIST_MAX);
      for await (const one of pages) found.push(one);
      printList(io.terminal, found, TIMELINE_VIEW, shown);
    });
}

function addCreate(group: Command, io: CommandIo): void {
  withOutput(group.command('create').description('begin an investigation'))
    .requiredOption('--name <text>', 'how people call it')
    .option('--summary <text>', 'what it is about')
    .option('--severity <severity>', 'info, low, medium, high or critical')
    .action(
      async (options: SharedOptions & { name: string; summary?: string; severity?: string }) => {
        const shown = tableOptions(options);
        const { name, summary, severity } = options;
        const body = {
          name,
          ...(summary === undefined ? {} : { summary }),
          ...(severity === undefined ? {} : { severity }),
        };
        const made = await clientOf(io, options).send<InvestigationView>('POST', PATH, body);
        printRecord(io.terminal, made, VIEW, shown);
      },
    );
}

function addMoves(group: Command, io: CommandIo): void {
  const moved = async (id: string, options: Timeout, act: string, body: object): Promise<void> => {
    const path = `${pathOf(id)}/${act}`;
    const one = await clientOf(io, options).send<InvestigationView>('POST', path, body);
    io.terminal.talk(`${plain(one.name)} is ${one.state}.`);
    io.terminal.out(one.investigation_id);
  };
  for (const [act, description] of [
    ['take', 'look at it yourself'],
    ['reopen', 'open a closed one again'],
  ] as const) {
    withTimeout(group.command(act).description(description))
      .argument('<id>')
      .option('--text <text>', 'what is to be said of it')
      .action((id: string, options: Words) => moved(id, options, act, saidOf(options)));
  }
  withTimeout(group.command('hand-over').description('give it to somebody else'))
    .argument('<id>')
    .requiredOption('--to <e-mail>', 'who takes it')
    .option('--text <text>', 'what is to be said of it')
    .action((id: string, options: Words & { to: string }) =>
      moved(id, options, 'hand-over', { to: options.to, ...saidOf(options) }),
    );
  const outcome = new Option('--outcome <outcome>', 'what came of it');
  withTimeout(group.command('close').description('close it with its outcome'))
    .argument('<id>')
    .addOption(outcome.choices([...INVESTIGATION_OUTCOMES]).makeOptionMandatory())
    .option('--text <text>', 'what is to be said of it')
    .action((id: string, options: Words & { outcome: string }) =>
      moved(id, options, 'close', { outcome: options.outcome, ...saidOf(options) }),
    );
}

function addCollecting(group: Command, io: CommandIo): void {
  withTimeout(
    group.command('add').description('collect something; events are found by a condition'),
  )
    .argument('<id>')
    .option('--note <text>', 'a note, or why the rest is here')
    .option('--alert <id>', 'an alert')
    .option('--sensor <id>', 'a sensor')
    .option('-q, --query <condition>', 'events of which this is true')
    .option('--since <time>', 'of the events: RFC 3339 or relative, like 1h', '1h')
    .option('--limit <number>', 'at most so many events', '50')
    .action(
      async (
        id: string,
        options: Timeout & {
          readonly note?: string;
          readonly alert?: string;
          readonly sensor?: string;
          readonly query?: string;
          readonly since: string;
          readonly limit: string;
        },
      ) => {
        const client = clientOf(io, options);
        const { note, alert, sensor, query, since } = options;
        const why = note === undefined ? {} : { note };
        const bodies: object[] = [];
        if (alert !== undefined) bodies.push({ what: 'alert', alert_id: alert, ...why });
        if (sensor !== undefined) bodies.push({ what: 'sensor', sensor_id: sensor, ...why });
        if (query !== undefined) {
          const from = /^\d{1,6}[smhdw]$/.test(since) ? `now-${since}` : since;
          const limit = integerOf(options.limit, '--limit', ADD_MAX);
          const events: object[] = [];
          const found = client.all<StoredEvent>('/api/v2/events', { q: query, from }, limit);
          for await (const { event_id, sensor_id, observed_at } of found) {
            events.push({ event_id, sensor_id, observed_at });
          }
          if (events.length === 0) throw new CommandFailure(EXIT.notFound, 'no event matches');
          bodies.push({ what: 'events', events, ...why });
        }
        if (bodies.length === 0 && note !== undefined) bodies.push({ what: 'note', note });
        if (bodies.length === 0)
          throw new CommandFailure(EXIT.usage, 'say what is to be collected');
        let added = 0;
        for (const body of bodies) {
          const path = `${pathOf(id)}/items`;
          added += (await client.send<{ added: number }>('POST', path, body)).added;
        }
        io.terminal.out(String(added));
      },
    );
}

function addArchive(group: Command, io: CommandIo): void {
  withTimeout(group.command('export').description('write it as one signed archive'))
    .argument('<id>')
    .requiredOption('--file <file>', 'where to, like case.tar.gz')
    .action(async (id: string, options: Timeout & { readonly file: string }) => {
      const bytes = await clientOf(io, options).download(`${pathOf(id)}/archive`);
      await writeFile(options.file, bytes, { mode: 0o600, flag: 'wx' }).catch((error: unknown) => {
        const why = error instanceof Error ? error.message : String(error);
        throw new CommandFailure(EXIT.failed, `the archive cannot be written: ${plain(why)}`);
      });
      io.terminal.talk(`verify it: service-console investigations verify ${plain(options.file)}`);
      io.terminal.out(options.file);
    });
  group
    .command('verify')
    .description('judge an archive, without any Console')
    .argument('<file>')
    .option('--key <file>', 'PEM of the key that must have signed it')
    .action(async (file: string, options: { readonly key?: string }) => {
      const archive = await readFile(file).catch(() => {
        throw new CommandFailure(EXIT.usage, `${plain(file)} cannot be read`);
      });
      const key = options.key === undefined ? null : await readInput(options.key);
      const verdict = await verifyArchive(archive, key);
      if (!verdict.ok) throw new CommandFailure(EXIT.failed, plain(verdict.reason));
      const { name, exported_at, exported_by, files } = verdict.manifest;
      io.terminal.talk(`${plain(name)}: ${files.length} files, as they were exported.`);
      io.terminal.talk(`Exported at ${plain(exported_at)} by ${plain(exported_by)}.`);
      if (key === null) io.terminal.talk('Compare the key with the one of the Console:');
      io.terminal.out(`sha256:${verdict.keySha256}`);
    });
}

function saidOf({ text }: Words): { readonly text?: string } {
  return text === undefined ? {} : { text };
}

function toldOf({ event, is_gone: isGone, headline, what }: TimelineItem): string {
  if (event !== null) return event.message;
  return isGone ? 'kept no more' : (headline ?? what);
}

function pathOf(id: string): string {
  return `${PATH}/${encodeURIComponent(id)}`;
}
