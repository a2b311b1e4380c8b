// `service-console loops ...`: what runs periodically on this Console, and one of it now. decision: D60
import type { Command } from 'commander';
import type { LoopItem } from '../../operator-plane/system/loop-view.ts';
import {
  type CommandIo,
  clientOf,
  type SharedOptions,
  tableOptions,
  withOutput,
} from '../plumbing/command-run.ts';
import { CommandFailure, EXIT } from '../plumbing/exit.ts';
import { printList, printRecord, type View } from '../plumbing/output.ts';

type Answer = {
  readonly items: readonly LoopItem[];
  readonly designation: {
    readonly stands: boolean;
    readonly is_designated: boolean;
    readonly last: { readonly holder: string; readonly since: string } | null;
  };
};
const PATH = '/api/v2/system/loops';
const EVERY: readonly (readonly [string, number])[] = [
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
];

const VIEW: View<LoopItem> = {
  name: ({ name }) => name,
  empty: 'This Console has no loops.',
  columns: [
    { head: 'NAME', read: ({ name }) => name },
    { head: 'RUNS ON', read: ({ runs_on: place }) => place },
    { head: 'EVERY', read: ({ every_ms: ms }) => intervalOf(ms) },
    { head: 'STATE', read: ({ state }) => state.replace('_', ' ') },
    { head: 'LAST RUN', read: (one) => one.last_run?.ended_at ?? '-' },
    { head: 'RESULT', read: (one) => one.last_run?.result ?? '-' },
    { head: 'NEXT RUN', read: (one) => one.next_run_at ?? '-' },
    { head: 'TOOK', read: (one) => (one.last_run === null ? '-' : tookOf(one)), wide: true },
    { head: 'RUNS', read: ({ runs }) => String(runs), wide: true },
    { head: 'FAILED', read: (one) => String(one.failed_runs), wide: true },
    { head: 'FAILURE', read: (one) => one.last_run?.failure ?? '-', wide: true },
  ],
};

/** Registers the commands. */
export function addCommands(program: Command, io: CommandIo): void {
  const loops = program.command('loops').description('the periodic work of this Console');

  withOutput(
    loops.command('list').alias('ls').description('every loop, its last and next run'),
  ).action(async (options: SharedOptions) => {
    const shown = tableOptions(options);
    const { items, designation } = await clientOf(io, options).get<Answer>(PATH);
    io.terminal.talk(designationText(designation));
    printList(io.terminal, items, VIEW, shown);
  });

  withOutput(loops.command('run').description('run a loop now and wait for its end'))
    .argument('<name>')
    .action(async (name: string, options: SharedOptions) => {
      const shown = tableOptions(options);
      const path = `${PATH}/${encodeURIComponent(name)}/run`;
      const loop = await clientOf(io, options).send<LoopItem>('POST', path);
      printRecord(io.terminal, loop, VIEW, shown);
      if (loop.state === 'running') io.terminal.talk('It still runs.');
      else if (loop.last_run?.result === 'failed') {
        const why = loop.last_run.failure ?? 'no reason was given';
        throw new CommandFailure(EXIT.failed, `${name} failed: ${why}`);
      }
    });
}

function designationText({ stands, is_designated, last }: Answer['designation']): string {
  if (is_designated) return 'This Console is designated: it runs the loops of the fleet.';
  const who = last === null ? 'nobody was designated yet' : `designated last: ${last.holder}`;
  return stands
    ? `This Console is not designated; ${who}.`
    : `Background tasks are off on this Console; ${who}.`;
}

function intervalOf(ms: number): string {
  const [unit, size] = EVERY.find(([, least]) => ms >= least && ms % least === 0) ?? ['ms', 1];
  return `${ms / size} ${unit}`;
}

function tookOf({ last_run: run }: LoopItem): string {
  return `${run?.duration_ms ?? 0} ms`;
}
