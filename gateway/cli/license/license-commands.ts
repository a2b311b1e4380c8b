// `service-console license ...`: import a bundle, and show the one in force with its timeline.
import type { Command } from 'commander';
import {
  type CommandIo,
  clientOf,
  type SharedOptions,
  tableOptions,
  talkOnce,
  withOutput,
} from '../plumbing/command-run.ts';
import { CommandFailure, EXIT } from '../plumbing/exit.ts';
import { printRecord, type View } from '../plumbing/output.ts';
import { readInput } from './input.ts';

type License = {
  readonly phase: string;
  readonly trust_anchor: string;
  readonly license: {
    readonly license_id: string;
    readonly customer_id: string;
    readonly plan: string;
    readonly max_protected_nodes: number;
  } | null;
  readonly timeline: readonly {
    readonly phase: string;
    readonly from: string | null;
    readonly until: string | null;
    readonly is_current: boolean;
  }[];
  readonly banners: readonly { readonly level: string; readonly text: string }[];
  readonly enrollment: {
    readonly nodes_allowed: number | null;
    readonly protected_nodes: number;
  };
};
const PATH = '/api/v2/license';

/** Registers the commands. */
export function addCommands(program: Command, io: CommandIo): void {
  const license = program.command('license').description('the license of this Console');

  withOutput(license.command('import').description('import a license bundle'))
    .argument('<file>', 'the bundle; - for standard input')
    .action(async (file: string, options: SharedOptions) => {
      tableOptions(options);
      const body = bundleOf(await readInput(file), file);
      const answer = await clientOf(io, options).send<License>('POST', PATH, body);
      io.terminal.talk('The license was verified and is in force.');
      show(io, answer, options);
    });

  withOutput(license.command('show').description('the license and its timeline')).action(
    async (options: SharedOptions) => {
      tableOptions(options);
      show(io, await clientOf(io, options).get<License>(PATH), options);
    },
  );
}

function bundleOf(text: string, file: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new CommandFailure(EXIT.usage, `${file} is not JSON`);
  }
}

function show(io: CommandIo, answer: License, options: SharedOptions): void {
  for (const { level, text } of answer.banners) talkOnce(io, text, `${level}: ${text}`);
  printRecord(io.terminal, answer, viewOf(answer), tableOptions(options));
}

function viewOf({ timeline }: License): View<License> {
  const stretches = timeline.map(({ phase, from, until, is_current: isCurrent }) => ({
    head: phase.toUpperCase(),
    read: () => `${from ?? '...'} to ${until ?? '...'}${isCurrent ? '  <- now' : ''}`,
  }));
  return {
    name: ({ license }) => license?.license_id ?? '-',
    empty: '',
    columns: [
      { head: 'PHASE', read: ({ phase }) => phase },
      { head: 'TRUSTED KEY', read: (answer) => answer.trust_anchor },
      { head: 'LICENSE', read: ({ license }) => license?.license_id ?? '-' },
      { head: 'PLAN', read: ({ license }) => license?.plan ?? '-' },
      { head: 'CUSTOMER', read: ({ license }) => license?.customer_id ?? '-' },
      {
        head: 'NODES',
        read: ({ license, enrollment }) =>
          `${enrollment.protected_nodes} of ${license?.max_protected_nodes ?? 'any number'}`,
      },
      ...stretches,
    ],
  };
}
