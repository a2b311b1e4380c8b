// `service-console whoami`: which Console the commands talk to, as whom, and for how long.
import type { Command } from 'commander';
import type { WhoAmIView } from '../../operator-plane/access/auth-whoami.ts';
import {
  type CommandIo,
  clientOf,
  type SharedOptions,
  tableOptions,
  withOutput,
} from '../plumbing/command-run.ts';
import { printRecord, type View } from '../plumbing/output.ts';

type Asked = WhoAmIView & { readonly url: string };

const VIEW: View<Asked> = {
  name: ({ user, actor }) => user?.email ?? actor,
  empty: '',
  columns: [
    { head: 'CONSOLE', read: ({ url }) => url },
    { head: 'WHO', read: ({ user, actor }) => user?.email ?? actor },
    { head: 'ROLE', read: ({ role }) => role },
    { head: 'KEY', read: ({ name, id }) => (name === null ? '-' : `${name} (${id})`) },
    { head: 'EXPIRES', read: (one) => one.expires_at ?? 'never' },
    { head: 'MAY', read: ({ scopes }) => scopes.join(' ') || 'nothing' },
  ],
};

/** Registers the command. */
export function addCommands(program: Command, io: CommandIo): void {
  withOutput(
    program.command('whoami').description('which Console this is, who you are, what you may do'),
  ).action(async (options: SharedOptions) => {
    const shown = tableOptions(options);
    const client = clientOf(io, options);
    const who = await client.get<WhoAmIView>('/api/v2/auth/whoami');
    printRecord(io.terminal, { url: client.connection.url, ...who }, VIEW, shown);
  });
}
