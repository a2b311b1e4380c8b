// `service-console packs assign|unassign|rollback|assignments`: who has which version. decision: D83
import type { Command } from 'commander';
import { ASSIGNMENT_PRIORITY_MAX } from '../../../machines/limits.ts';
import type { AssignmentView } from '../../operator-plane/policy/assignments.ts';
import type { Client } from '../plumbing/client.ts';
import {
  type CommandIo,
  clientOf,
  groupOf,
  integerOf,
  type SharedOptions,
  tableOptions,
  withOutput,
  withTimeout,
} from '../plumbing/command-run.ts';
import { CommandFailure, EXIT } from '../plumbing/exit.ts';
import { printList, type View } from '../plumbing/output.ts';
import { age, plain } from '../plumbing/terminal.ts';
import { findPack, latestOf, targetOf } from './find-pack.ts';

const LIST_MAX = 100_000;
const VERSION_MAX = 1_000_000_000;
type Assign = Pick<SharedOptions, 'timeout'> & {
  readonly to: string;
  readonly version?: string;
  readonly mode: string;
  readonly namespace?: readonly string[];
  readonly priority: string;
  readonly whenUnsupported: string;
};

const VIEW = (nowMs: number): View<AssignmentView> => ({
  name: (one) => one.assignment_id,
  empty: 'Nothing is assigned. Assign: service-console packs assign <pack> --to fleet',
  columns: [
    {
      head: 'TARGET',
      read: ({ target }) => (target.kind === 'fleet' ? 'fleet' : `${target.kind}:${target.id}`),
    },
    { head: 'PACK', read: (one) => one.pack_name },
    { head: 'VERSION', read: (one) => String(one.version) },
    { head: 'MODE', read: (one) => one.mode },
    { head: 'NAMESPACES', read: (one) => one.namespace_scope?.join(',') ?? 'all' },
    { head: 'AGE', read: (one) => age(one.created_at, nowMs) },
    { head: 'BY', wide: true, read: (one) => one.created_by },
  ],
});

/** Adds the commands to `packs`. */
export function addCommands(program: Command, io: CommandIo): void {
  const packs = groupOf(program, 'packs');

  withOutput(packs.command('assignments').description('who is assigned which version')).action(
    async (options: SharedOptions) => {
      const shown = tableOptions(options);
      const rows = await allAssignments(clientOf(io, options));
      printList(io.terminal, rows, VIEW(io.now()), shown);
    },
  );

  withTimeout(
    packs.command('assign').description('assign a version, in place of what the target had'),
  )
    .argument('<pack>', 'id or name')
    .requiredOption('--to <target>', 'sensor:NAME, group:NAME, tag:NAME or fleet')
    .option('--version <number>', 'the newest when absent')
    .option('--mode <mode>', 'enforce or monitor', 'monitor')
    .option('--namespace <name...>', 'only in these Kubernetes namespaces')
    .option('--priority <number>', 'among groups the higher one wins', '0')
    .option('--when-unsupported <what>', 'fail or skip what an engine cannot honour', 'fail')
    .action(async (asked: string, options: Assign) => {
      const client = clientOf(io, options);
      const pack = await findPack(client, asked);
      const priority = Number(options.priority);
      if (!Number.isInteger(priority) || priority < 0 || priority > ASSIGNMENT_PRIORITY_MAX) {
        throw new CommandFailure(EXIT.usage, `--priority is 0 to ${ASSIGNMENT_PRIORITY_MAX}`);
      }
      const { version: text } = options;
      const made = await client.send<AssignmentView>('POST', '/api/v2/assignments', {
        target: await targetOf(client, options.to),
        pack_id: pack.pack_id,
        version: text === undefined ? latestOf(pack) : integerOf(text, '--version', VERSION_MAX),
        mode: options.mode,
        namespace_scope: options.namespace ?? null,
        ...{ priority, when_unsupported: options.whenUnsupported },
      });
      io.terminal.talk(
        plain(`Version ${made.version} of ${made.pack_name} is assigned to ${options.to}.`),
      );
      io.terminal.out(made.assignment_id);
    });

  withTimeout(packs.command('unassign').description('take away what is assigned to a target'))
    .argument('<target>', 'sensor:NAME, group:NAME, tag:NAME or fleet')
    .action(async (text: string, options: Pick<SharedOptions, 'timeout'>) => {
      const client = clientOf(io, options);
      const { kind, id } = await targetOf(client, text);
      await client.send('DELETE', `/api/v2/assignments/${kind}/${encodeURIComponent(id)}`);
      io.terminal.talk(plain(`Nothing is assigned to ${text} any more.`));
    });

  addRollbackCommand(packs, io);
}

function addRollbackCommand(packs: Command, io: CommandIo): void {
  withTimeout(
    packs.command('rollback').description('return a target to an older version that is allowed'),
  )
    .argument('<target>', 'sensor:NAME, group:NAME, tag:NAME or fleet')
    .argument('<version>', 'one that rollback_to of the assigned version names')
    .action(async (text: string, number: string, options: Pick<SharedOptions, 'timeout'>) => {
      const client = clientOf(io, options);
      const target = await targetOf(client, text);
      const held = (await allAssignments(client)).find(
        (one) => one.target.kind === target.kind && one.target.id === target.id,
      );
      if (held === undefined)
        throw new CommandFailure(EXIT.notFound, `nothing is assigned to ${text}`);
      const { pack_id, mode, namespace_scope, priority, when_unsupported } = held;
      const version = integerOf(number, 'version', VERSION_MAX);
      const more = { mode, namespace_scope, priority, when_unsupported };
      const body = { target, pack_id, version, ...more };
      const made = await client.send<AssignmentView>('POST', '/api/v2/assignments', body);
      io.terminal.talk(plain(`${text} returns to version ${made.version} of ${made.pack_name}.`));
      io.terminal.out(made.assignment_id);
    });
}

async function allAssignments(client: Client): Promise<readonly AssignmentView[]> {
  const rows: AssignmentView[] = [];
  const path = '/api/v2/assignments';
  for await (const one of client.all<AssignmentView>(path, {}, LIST_MAX)) rows.push(one);
  return rows;
}
