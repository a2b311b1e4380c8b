// `service-console packs rehearsal|enforce`: what an assignment that monitors would have stopped, and enforcing it.
// decision: D125
import type { Command } from 'commander';
import type { RehearsalView } from '../../operator-plane/policy/rehearsal.ts';
import type { Client } from '../plumbing/client.ts';
import {
  type CommandIo,
  clientOf,
  groupOf,
  type SharedOptions,
  tableOptions,
  withOutput,
  withTimeout,
} from '../plumbing/command-run.ts';
import { printList, printRecord, type View } from '../plumbing/output.ts';
import { age, plain } from '../plumbing/terminal.ts';
import { targetOf } from './find-pack.ts';

type Policy = RehearsalView['policies'][number];
type Reading = SharedOptions & { readonly since: string; readonly until?: string };
type Enforcing = Pick<SharedOptions, 'timeout'> & { readonly dryRun?: boolean };

const POLICIES = (nowMs: number): View<Policy> => ({
  name: (one) => one.name,
  empty: 'The version has no policy.',
  columns: [
    { head: 'POLICY', read: (one) => one.name },
    { head: 'MATCHED', read: (one) => String(one.matched) },
    {
      head: 'WOULD HAVE',
      read: ({ acts }) =>
        Object.entries(acts)
          .map(([act, times]) => `${act} ${times}`)
          .join(', ') || '-',
    },
    { head: 'SENSORS', read: (one) => String(one.sensors) },
    { head: 'LAST', read: (one) => (one.last_at === null ? '-' : age(one.last_at, nowMs)) },
    {
      head: 'MOSTLY ON',
      wide: true,
      read: (one) => one.top_sensors.map(({ sensor_id }) => sensor_id)[0] ?? '-',
    },
  ],
});
const WHOLE: View<RehearsalView> = {
  name: (one) => one.assignment.assignment_id,
  empty: '',
  columns: [],
};

/** Adds the commands to `packs`. */
export function addCommands(program: Command, io: CommandIo): void {
  const packs = groupOf(program, 'packs');

  withOutput(
    packs.command('rehearsal').description('what an assignment matched and would have stopped'),
  )
    .argument('<target>', 'sensor:NAME, group:NAME, tag:NAME or fleet')
    .option('--since <instant>', 'RFC 3339 or relative: now-24h', 'now-7d')
    .option('--until <instant>', 'RFC 3339 or relative; now when absent')
    .action(async (text: string, options: Reading) => {
      const shown = tableOptions(options);
      const client = clientOf(io, options);
      const until = options.until === undefined ? '' : `&to=${encodeURIComponent(options.until)}`;
      const query = `?from=${encodeURIComponent(options.since)}${until}`;
      const at = `${await pathOf(client, text)}/rehearsal${query}`;
      const found = await client.get<RehearsalView>(at);
      if (shown.format === 'json' || shown.format === 'yaml') {
        printRecord(io.terminal, found, WHOLE, shown);
        return;
      }
      printList(io.terminal, found.policies, POLICIES(io.now()), shown);
      io.terminal.talk(plain(sentenceOf(found)));
    });

  withTimeout(packs.command('enforce').description('enforce what was rehearsed in monitor'))
    .argument('<target>', 'sensor:NAME, group:NAME, tag:NAME or fleet')
    .option('--dry-run', 'say what it would have stopped, and change nothing')
    .action(async (text: string, options: Enforcing) => {
      const client = clientOf(io, options);
      const path = await pathOf(client, text);
      const { assignment } = await client.get<RehearsalView>(`${path}/rehearsal`);
      const done = await client.send<RehearsalView>('POST', `${path}/enforce`, {
        assignment_id: assignment.assignment_id,
        dry_run: options.dryRun === true,
      });
      const verb = options.dryRun === true ? 'would be' : 'is';
      const { version, pack_name, assignment_id } = done.assignment;
      io.terminal.talk(plain(sentenceOf(done)));
      io.terminal.talk(plain(`Version ${version} of ${pack_name} ${verb} enforced on ${text}.`));
      io.terminal.out(assignment_id);
    });
}

async function pathOf(client: Client, text: string): Promise<string> {
  const { kind, id } = await targetOf(client, text);
  return `/api/v2/assignments/${kind}/${encodeURIComponent(id)}`;
}

function sentenceOf({ from, to, sensors, matched, would_have_acted: would }: RehearsalView) {
  return `From ${from} to ${to} on ${sensors} sensors: ${matched} matches, ${would} would have been stopped.`;
}
