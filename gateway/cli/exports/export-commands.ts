// `service-console exports ...`: days of the event store as Parquet files. The target is a YAML file; its secret comes from a
// file of its own or from standard input, never from the command line. decision: D158
import type { Command } from 'commander';
import type {
  ExportRun,
  ExportRunWhole,
  ExportTargetOut,
  ExportTestResult,
} from '../../operator-plane/exports/export-shapes.ts';
import { readInput } from '../license/input.ts';
import {
  type CommandIo,
  clientOf,
  type SharedOptions,
  tableOptions,
  withOutput,
  withTimeout,
} from '../plumbing/command-run.ts';
import { CommandFailure, EXIT } from '../plumbing/exit.ts';
import { readFields } from '../plumbing/fields-file.ts';
import { printList, printRecord, type View } from '../plumbing/output.ts';
import { plain } from '../plumbing/terminal.ts';

const PATH = '/api/v2/exports';
type Timeout = Pick<SharedOptions, 'timeout'>;

const RUNS: View<ExportRun> = {
  name: (one) => one.export_id,
  empty: 'Nothing was exported. Say where to: service-console exports apply --file target.yaml',
  columns: [
    { head: 'ID', read: (one) => one.export_id },
    { head: 'STATE', read: (one) => one.state },
    { head: 'ROWS', read: (one) => String(one.rows ?? '-') },
    { head: 'PARTS', read: (one) => (one.parts === null ? '-' : `${one.copied}/${one.parts}`) },
    { head: 'ENDED', read: (one) => one.ended_at ?? '-' },
    { head: 'REASON', read: (one) => plain(one.reason ?? '-') },
    { head: 'DUE', wide: true, read: (one) => one.due_at ?? '-' },
    { head: 'FAILURES', wide: true, read: (one) => String(one.failures) },
  ],
};
const WHOLE: View<ExportRunWhole> = {
  name: ({ run }) => run.export_id,
  empty: '',
  columns: [
    ...RUNS.columns.map((column) => ({
      ...column,
      read: (one: ExportRunWhole) => column.read(one.run),
    })),
    { head: 'OBJECTS', read: ({ objects }) => objects.map(({ name }) => name).join(' ') || '-' },
    { head: 'HASHES', wide: true, read: (one) => one.hash_sum ?? '-' },
  ],
};
const TARGET: View<ExportTargetOut> = {
  name: (one) => one.kind,
  empty: '',
  columns: [
    { head: 'KIND', read: (one) => one.kind },
    { head: 'ON', read: (one) => (one.is_on ? 'yes' : 'no') },
    { head: 'WHERE', read: (one) => (one.s3 ? `${one.s3.endpoint}/${one.s3.bucket}` : 'exports') },
    { head: 'PREFIX', read: (one) => one.prefix || '-' },
    { head: 'FROM', read: (one) => one.from_day },
    { head: 'TABLES', read: (one) => one.tables.join(', ') },
  ],
};

/** Registers the commands. */
export function addCommands(program: Command, io: CommandIo): void {
  const exports = program.command('exports').description('days of events as Parquet files');
  withOutput(exports.command('list').alias('ls').description('list exports, the newest day first'))
    .option('--table <table>', 'only of this table')
    .option('--state <state>', 'only in this state')
    .option('--limit <count>', 'how many', '50')
    .action(
      async (
        options: SharedOptions & { table?: string; state?: string; readonly limit: string },
      ) => {
        const query = new URLSearchParams({ limit: options.limit });
        for (const name of ['table', 'state'] as const) {
          const value = options[name];
          if (value !== undefined) query.set(name, value);
        }
        const shown = tableOptions(options);
        const page = await clientOf(io, options).get<{ items: readonly ExportRun[] }>(
          `${PATH}?${query}`,
        );
        printList(io.terminal, page.items, RUNS, shown);
      },
    );
  withOutput(exports.command('get').description('one export with its objects'))
    .argument('<export-id>', 'as runtime_events.2026-01-31')
    .action(async (id: string, options: SharedOptions) => {
      const shown = tableOptions(options);
      const one = await clientOf(io, options).get<ExportRunWhole>(
        `${PATH}/${encodeURIComponent(id)}`,
      );
      printRecord(io.terminal, one, WHOLE, shown);
    });
  withTimeout(exports.command('run').description('export days again from the start'))
    .argument('<export-id...>', 'as runtime_events.2026-01-31')
    .action(async (ids: readonly string[], options: Timeout) => {
      for (const id of ids) {
        const path = `${PATH}/${encodeURIComponent(id)}/run`;
        const run = await clientOf(io, options).send<ExportRun>('POST', path, {});
        io.terminal.out(run.export_id);
      }
    });
  addTargetCommands(exports, io);
}

function addTargetCommands(exports: Command, io: CommandIo): void {
  withOutput(exports.command('target').description('where exports go')).action(
    async (options: SharedOptions) => {
      const shown = tableOptions(options);
      const { target } = await targetOf(io, options);
      if (target === null) throw new CommandFailure(EXIT.failed, 'exports have no target yet');
      printRecord(io.terminal, target, TARGET, shown);
    },
  );
  withOutput(exports.command('apply').description('say where exports go'))
    .requiredOption(
      '--file <file>',
      'YAML: kind, s3, prefix, tables, from_day, is_on; - for standard input',
    )
    .option('--secret-file <file>', 'the secret access key of the bucket')
    .action(async (options: SharedOptions & { readonly file: string; secretFile?: string }) => {
      const shown = tableOptions(options);
      const given = await readFields(options.file);
      const { target } = await targetOf(io, options);
      const secret =
        options.secretFile === undefined
          ? {}
          : { secret_access_key: (await readInput(options.secretFile)).replace(/\r?\n$/, '') };
      const s3 = 's3' in given ? { s3: { ...(given['s3'] as object), ...secret } } : {};
      const body = { ...given, ...s3, revision: target?.revision ?? 0 };
      const path = `${PATH}/target`;
      const put = await clientOf(io, options).send<ExportTargetOut>('PUT', path, body);
      printRecord(io.terminal, put, TARGET, shown);
    });
  withTimeout(
    exports.command('test').description('write, read back and remove a small object'),
  ).action(async (options: Timeout) => {
    const path = `${PATH}/target/test`;
    const tested = await clientOf(io, options).send<ExportTestResult>('POST', path, {});
    if (!tested.is_written) throw new CommandFailure(EXIT.failed, plain(tested.detail));
    io.terminal.out(plain(tested.detail));
  });
}

function targetOf(io: CommandIo, options: Timeout) {
  return clientOf(io, options).get<{ readonly target: ExportTargetOut | null }>(`${PATH}/target`);
}
