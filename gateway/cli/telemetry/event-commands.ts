// `service-console events ...`
import type { Command } from 'commander';
import type { StoredEvent } from '../../../machines/wire/event.ts';
import type { Client } from '../plumbing/client.ts';
import {
  type CommandIo,
  clientOf,
  integerOf,
  type SharedOptions,
  withOutput,
} from '../plumbing/command-run.ts';
import { CommandFailure, EXIT } from '../plumbing/exit.ts';
import { formatOf, jsonLine, printList, type View } from '../plumbing/output.ts';
import { plain } from '../plumbing/terminal.ts';
import { followEvents } from './event-follow.ts';
import { eventLine } from './event-line.ts';
import { addProcessCommands } from './process-commands.ts';

const EVENT_FORMATS = ['compact', 'table', 'wide', 'json', 'jsonl', 'yaml', 'name'] as const;
const TAIL_FORMATS = ['compact', 'json', 'jsonl'] as const;
const TAIL_MAX = 500;
const PAGE_MAX = 500;
const SEARCH_MAX = 1_000_000;

type EventOptions = SharedOptions & {
  readonly since?: string;
  readonly until?: string;
  readonly eventKind?: readonly string[];
  readonly severity?: readonly string[];
  readonly sensor?: string;
  readonly processes?: string;
  readonly text?: string;
  readonly binary?: string;
  readonly query?: string;
  readonly order?: string;
  readonly limit: string;
};

/** Registers the commands. */
export function addCommands(program: Command, io: CommandIo): void {
  const events = program.command('events').description('runtime events');

  filtered(withOutput(events.command('tail'), TAIL_FORMATS), '20')
    .description('the latest events, then new ones as they come')
    .action(async (options: EventOptions) => {
      const format = formatOf(options.output, TAIL_FORMATS);
      const wanted = processFilterOf(options.processes);
      const { colors, out, talk } = io.terminal;
      await followEvents({
        client: clientOf(io, options),
        filter: filterOf(options),
        since: sinceOf(options.since),
        last: integerOf(options.limit, '--limit', TAIL_MAX),
        onEvent: (event) => {
          if (wanted(event)) out(format === 'compact' ? eventLine(event, colors) : jsonLine(event));
        },
        talk,
        signal: io.signal,
      });
    });

  filtered(withOutput(events.command('search').alias('list'), EVENT_FORMATS), '100')
    .description('search stored events, newest first')
    .argument('[text]', 'in the message, program, arguments, path or domain')
    .option('--until <time>', 'RFC 3339 or relative, like 10m')
    .option('--order <order>', 'ascending or descending')
    .option('--sql', 'show the statement that asks for them, and ask nothing')
    .action(async (text: string | undefined, options: EventOptions & { sql?: boolean }) => {
      const format = formatOf(options.output, EVENT_FORMATS);
      const limit = integerOf(options.limit, '--limit', SEARCH_MAX);
      const wanted = processFilterOf(options.processes);
      const query = {
        ...filterOf(options),
        from: sinceOf(options.since),
        to: sinceOf(options.until),
        order: options.order,
        ...(text === undefined ? {} : { text }),
      };
      const found: StoredEvent[] = [];
      const client = clientOf(io, options);
      if (options.sql === true) {
        await showStatement(io, client, { ...query, limit: String(Math.min(limit, PAGE_MAX)) });
        return;
      }
      for await (const event of client.all<StoredEvent>('/api/v2/events', query, limit)) {
        if (!wanted(event)) continue;
        if (format === 'compact') io.terminal.out(eventLine(event, io.terminal.colors));
        else found.push(event);
      }
      if (format === 'compact') return;
      printList(io.terminal, found, VIEW, { format, headers: options.headers });
    });

  addProcessCommands(events, io);
}

/** The statement stands alone on standard output, so that it can be piped into the store's client. */
async function showStatement(
  io: CommandIo,
  client: Client,
  query: Parameters<Client['get']>[1],
): Promise<void> {
  const { sql } = await client.get<{ readonly sql: string | null }>('/api/v2/events/sql', query);
  if (sql === null) throw new CommandFailure(EXIT.failed, 'this event store has no SQL');
  for (const line of sql.split('\n')) io.terminal.out(plain(line));
}

function filtered(command: Command, limit: string): Command {
  return command
    .option('--since <time>', 'RFC 3339 or relative, like 1h')
    .option('-e, --event-kind <kind...>', 'only these kinds')
    .option('--severity <severity...>', 'only these severities')
    .option('--sensor <id>', 'only this sensor')
    .option('--binary <part>', 'only processes whose path contains this')
    .option('--text <part>', 'only events that contain this')
    .option('-q, --query <condition>', 'only events of which this is true, like binary:*curl')
    .option('--processes <regexp>', 'only processes whose path matches')
    .option('--limit <number>', 'at most this many', limit);
}

function filterOf(options: EventOptions): Record<string, string | readonly string[]> {
  const filter: Record<string, string | readonly string[]> = {};
  if (options.eventKind !== undefined) filter['event_kind'] = options.eventKind;
  if (options.severity !== undefined) filter['severity'] = options.severity;
  if (options.sensor !== undefined) filter['sensor_id'] = options.sensor;
  if (options.binary !== undefined) filter['binary'] = options.binary;
  if (options.text !== undefined) filter['text'] = options.text;
  if (options.query !== undefined) filter['q'] = options.query;
  return filter;
}

/** `1h` means an hour ago; anything else goes to the Console as it is. */
function sinceOf(text: string | undefined): string | undefined {
  return text !== undefined && /^\d{1,6}[smhdw]$/.test(text) ? `now-${text}` : text;
}

function processFilterOf(pattern: string | undefined): (event: StoredEvent) => boolean {
  if (pattern === undefined) return () => true;
  try {
    const expression = new RegExp(pattern);
    return (event) => expression.test(event.process?.binary ?? '');
  } catch {
    throw new CommandFailure(EXIT.usage, `--processes ${pattern} is not a regular expression`);
  }
}

const VIEW: View<StoredEvent> = {
  name: (event) => event.event_id,
  empty: 'No events match.',
  columns: [
    { head: 'TIME', read: (event) => event.observed_at },
    { head: 'NODE', read: (event) => event.node_name },
    { head: 'KIND', read: (event) => event.event_kind },
    { head: 'SEVERITY', read: (event) => event.severity },
    { head: 'PROCESS', read: (event) => event.process?.binary ?? '-' },
    { head: 'MESSAGE', read: (event) => event.message },
    { head: 'PID', wide: true, read: (event) => String(event.process?.pid ?? '-') },
    { head: 'ARGUMENTS', wide: true, read: (event) => event.process?.arguments ?? '-' },
    { head: 'ID', wide: true, read: (event) => event.event_id },
  ],
};
