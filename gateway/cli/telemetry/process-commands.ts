// `service-console events tree|timeline`: one process of one sensor. decision: D141
import type { Command } from 'commander';
import type { StoredEvent } from '../../../machines/wire/event.ts';
import type { ProcessTreeView } from '../../operator-plane/telemetry/event-processes.ts';
import {
  type CommandIo,
  clientOf,
  integerOf,
  type SharedOptions,
  withOutput,
} from '../plumbing/command-run.ts';
import { formatOf, jsonLine, printList, type View } from '../plumbing/output.ts';
import { plain } from '../plumbing/terminal.ts';
import { eventLine } from './event-line.ts';

type Node = ProcessTreeView['items'][number];
type ProcessOptions = SharedOptions & {
  readonly sensor: string;
  readonly since?: string;
  readonly until?: string;
  readonly limit?: string;
};
const TREE_FORMATS = ['tree', 'table', 'wide', 'json', 'jsonl', 'yaml', 'name'] as const;
const TIMELINE_FORMATS = ['compact', 'json', 'jsonl'] as const;
const TIMELINE_MAX = 1_000_000;

/** Registers the commands below `events`. */
export function addProcessCommands(events: Command, io: CommandIo): void {
  ofProcess(withOutput(events.command('tree'), TREE_FORMATS))
    .description('what started a process, and what it started')
    .action(async (execId: string, options: ProcessOptions) => {
      const format = formatOf(options.output, TREE_FORMATS);
      const client = clientOf(io, options);
      const tree = await client.get<ProcessTreeView>(
        '/api/v2/events/tree',
        queryOf(execId, options),
      );
      if (tree.is_cut) io.terminal.talk('There is more than is shown; narrow --since and --until.');
      if (format !== 'tree') {
        printList(io.terminal, tree.items, VIEW, { format, headers: options.headers });
        return;
      }
      for (const line of treeLines(tree)) io.terminal.out(line);
    });

  ofProcess(withOutput(events.command('timeline'), TIMELINE_FORMATS))
    .description('everything that a process did, in the order of time')
    .option('--limit <number>', 'at most this many', '1000')
    .action(async (execId: string, options: ProcessOptions) => {
      const format = formatOf(options.output, TIMELINE_FORMATS);
      const limit = integerOf(options.limit ?? '', '--limit', TIMELINE_MAX);
      const { out, colors } = io.terminal;
      const pages = clientOf(io, options).all<StoredEvent>(
        '/api/v2/events/timeline',
        queryOf(execId, options),
        limit,
      );
      for await (const event of pages) {
        out(format === 'compact' ? eventLine(event, colors) : jsonLine(event));
      }
    });
}

function ofProcess(command: Command): Command {
  return command
    .argument('<exec-id>', 'the execution, as events name it')
    .requiredOption('--sensor <id>', 'the sensor that saw it')
    .option('--since <time>', 'RFC 3339 or relative, like 1h')
    .option('--until <time>', 'RFC 3339 or relative, like 10m');
}

function queryOf(execId: string, { sensor, since, until }: ProcessOptions) {
  return {
    ...{ sensor_id: sensor, exec_id: execId },
    ...(since === undefined ? {} : { from: instantOf(since) }),
    ...(until === undefined ? {} : { to: instantOf(until) }),
  };
}

/** `1h` means an hour ago. */
function instantOf(text: string): string {
  return /^\d{1,6}[smhdw]$/.test(text) ? `now-${text}` : text;
}

/** A line for each process, drawn below what started it. */
export function treeLines({ items, exec_id: wanted }: ProcessTreeView): readonly string[] {
  const top = Math.min(0, ...items.map(({ depth }) => depth));
  return items.map((node) => {
    const indent = '  '.repeat(node.depth - top);
    const mark = node.exec_id === wanted ? '* ' : '';
    const ended = node.ended_at === null ? '' : ` until ${node.ended_at}`;
    const what = `${node.binary} ${node.arguments}`.trim();
    const since = node.started_at === null ? '' : ` since ${node.started_at}`;
    return plain(`${indent}${mark}${what} (${node.pid}) ${node.events} events${since}${ended}`);
  });
}

const VIEW: View<Node> = {
  name: (node) => node.exec_id,
  empty: 'No process.',
  columns: [
    { head: 'DEPTH', read: (node) => String(node.depth) },
    { head: 'PID', read: (node) => String(node.pid) },
    { head: 'PROGRAM', read: (node) => node.binary },
    { head: 'EVENTS', read: (node) => String(node.events) },
    { head: 'STARTED', read: (node) => node.started_at ?? '-' },
    { head: 'ARGUMENTS', wide: true, read: (node) => node.arguments },
    { head: 'ID', wide: true, read: (node) => node.exec_id },
  ],
};
