// `service-console users ...`: accounts by id or e-mail address. The secret of a link is the data on stdout, everything
// about it is talk.
import { X509Certificate } from 'node:crypto';
import type { Command } from 'commander';
import { ROLES } from '../../../machines/trust/roles.rules.ts';
import { foldLine } from '../../operator-plane/trust/enroll-line.ts';
import type { Client } from '../plumbing/client.ts';
import {
  type CommandIo,
  clientOf,
  confirm,
  integerOf,
  type SharedOptions,
  tableOptions,
  watched,
  withOutput,
  withTimeout,
  withWatch,
} from '../plumbing/command-run.ts';
import { resolveConnection } from '../plumbing/context-file.ts';
import { CommandFailure, EXIT } from '../plumbing/exit.ts';
import { json, jsonLine, printList, printRecord, type View } from '../plumbing/output.ts';
import { programPath } from '../plumbing/program-path.ts';
import { age, plain } from '../plumbing/terminal.ts';
import { addUserLabelCommands } from './user-label-commands.ts';

const COLUMNS = 80;
const LIST_MAX = 10_000;
const ROLE_NAMES = ROLES.join('|');
const ENDED =
  'This role gives more, so what it got in with has ended: password, second factor, API keys, sessions.';

type User = {
  readonly user_id: string;
  readonly email: string;
  readonly display_name: string;
  readonly role: string;
  readonly status: string;
  readonly tags: readonly string[];
  readonly can_log_in_with_password: boolean;
  readonly mfa_state: string;
  readonly created_at: string;
  readonly last_login_at: string | null;
  readonly revision: number;
};
type ChangedUser = User & { readonly credentials_ended: boolean };
type Session = {
  readonly session_id: string;
  readonly stage: string;
  readonly method: string;
  readonly address: string;
  readonly user_agent: string;
  readonly created_at: string;
  readonly last_seen_at: string;
};
type Link = { readonly secret: string; readonly expires_at: string };
type Timeout = Pick<SharedOptions, 'timeout'>;

/** Registers the commands. */
export function addCommands(program: Command, io: CommandIo): void {
  const users = program.command('users').description('accounts of people');
  addReading(users, io);
  addMaking(users, io);
  addChanging(users, io);
  addAccess(users, io);
  addUserLabelCommands(users, io);
  addSecondFactor(users, io);
}

function addReading(users: Command, io: CommandIo): void {
  withWatch(withOutput(users.command('list').alias('ls').description('list accounts by address')))
    .option('--limit <number>', 'at most this many', '100')
    .action(async (options: SharedOptions & { readonly limit: string }) => {
      const limit = integerOf(options.limit, '--limit', LIST_MAX);
      const shown = tableOptions(options);
      const client = clientOf(io, options);
      await watched(io, options, async () => {
        const found: User[] = [];
        for await (const one of client.all<User>('/api/v2/users', {}, limit)) found.push(one);
        printList(io.terminal, found, viewOf(io.now()), shown);
      });
    });

  withOutput(users.command('get').description('one account'))
    .argument('<user>', 'id or e-mail address')
    .action(async (name: string, options: SharedOptions) => {
      const shown = tableOptions(options);
      const user = await findUser(clientOf(io, options), name);
      printRecord(io.terminal, user, viewOf(io.now()), shown);
    });
}

function addMaking(users: Command, io: CommandIo): void {
  withOutput(users.command('create').description('make an account, and a link to set its password'))
    .argument('<email>')
    .requiredOption('--role <role>', ROLE_NAMES)
    .option('--name <text>', 'the name people see')
    .option('--no-link', 'for whoever logs in through a provider')
    .action(
      async (
        email: string,
        options: SharedOptions & {
          readonly role: string;
          readonly name?: string;
          readonly link: boolean;
        },
      ) => {
        const { format } = tableOptions(options);
        const client = clientOf(io, options);
        const name = options.name === undefined ? {} : { display_name: options.name };
        const body = { email, role: roleOf(options.role), ...name };
        const user = await client.send<User>('POST', '/api/v2/users', body);
        const link = options.link ? await linkFor(client, user) : null;
        const told = link === null ? user : { ...user, reset_link: link };
        if (format === 'json') return io.terminal.out(json(told));
        if (format === 'jsonl') return io.terminal.out(jsonLine(told));
        io.terminal.talk(`${plain(user.email)} is ${user.role}, id ${user.user_id}.`);
        if (link !== null) tellLink(io, link);
        return io.terminal.out(link === null ? user.user_id : link.secret);
      },
    );

  withTimeout(users.command('remove').alias('rm').description('remove an account'))
    .argument('<user>', 'id or e-mail address')
    .option('-y, --yes', 'do not ask')
    .action(async (name: string, options: Timeout & { readonly yes?: boolean }) => {
      const client = clientOf(io, options);
      const user = await findUser(client, name);
      const what = `This removes ${plain(user.email)} with its sessions and keys`;
      await confirm(io, { ...options, what, name: user.email });
      await client.send('DELETE', pathOf(user));
      io.terminal.talk(`${plain(user.email)} was removed.`);
      io.terminal.out(user.user_id);
    });
}

function addChanging(users: Command, io: CommandIo): void {
  const change = async (
    name: string,
    options: Timeout & { readonly link?: boolean },
    patch: Readonly<Record<string, string>>,
  ): Promise<void> => {
    const client = clientOf(io, options);
    const { revision, ...user } = await findUser(client, name);
    const changed = await client.send<ChangedUser>('PATCH', pathOf(user), { revision, ...patch });
    io.terminal.talk(`${plain(changed.email)} is ${changed.status}, ${changed.role}.`);
    if (!changed.credentials_ended) return io.terminal.out(changed.user_id);
    io.terminal.talk(ENDED);
    // Whoever comes in through a provider needs none.
    if (!user.can_log_in_with_password || options.link === false) {
      return io.terminal.out(changed.user_id);
    }
    const link = await linkFor(client, user);
    tellLink(io, link);
    return io.terminal.out(link.secret);
  };

  withTimeout(users.command('set-role').description('give an account another role'))
    .argument('<user>', 'id or e-mail address')
    .argument('<role>', ROLE_NAMES)
    .option('--no-link', 'make no link to set the next password')
    .addHelpText(
      'after',
      '\nA role that gives more ends all the account got in with, since somebody else may know it;\n' +
        'the secret of a link to set the next password is what this prints then.',
    )
    .action((name: string, role: string, options: Timeout & { readonly link: boolean }) =>
      change(name, options, { role: roleOf(role) }),
    );
  withTimeout(users.command('disable').description('end the sessions and keys of an account'))
    .argument('<user>', 'id or e-mail address')
    .action((name: string, options: Timeout) => change(name, options, { status: 'disabled' }));
  withTimeout(users.command('enable').description('let a disabled account in again'))
    .argument('<user>', 'id or e-mail address')
    .action((name: string, options: Timeout) => change(name, options, { status: 'active' }));
}

function addAccess(users: Command, io: CommandIo): void {
  withOutput(users.command('reset-link').description('make a one-time link to set a password'))
    .argument('<user>', 'id or e-mail address')
    .action(async (name: string, options: SharedOptions) => {
      const { format } = tableOptions(options);
      const client = clientOf(io, options);
      const link = await linkFor(client, await findUser(client, name));
      if (format === 'json') return io.terminal.out(json(link));
      if (format === 'jsonl') return io.terminal.out(jsonLine(link));
      tellLink(io, link);
      return io.terminal.out(link.secret);
    });

  withOutput(users.command('sessions').description('the live sessions of an account'))
    .argument('<user>', 'id or e-mail address')
    .option('--end', 'end all of them')
    .action(async (name: string, options: SharedOptions & { readonly end?: boolean }) => {
      const shown = tableOptions(options);
      const client = clientOf(io, options);
      const path = `${pathOf(await findUser(client, name))}/sessions`;
      if (options.end === true) {
        const { ended } = await client.send<{ readonly ended: number }>('DELETE', path);
        io.terminal.talk(`${ended} sessions were ended.`);
        return;
      }
      const { items } = await client.get<{ readonly items: readonly Session[] }>(path);
      printList(io.terminal, items, sessionViewOf(io.now()), shown);
    });
}

function addSecondFactor(users: Command, io: CommandIo): void {
  withTimeout(users.command('reset-mfa').description('take the second factor from an account'))
    .argument('<user>', 'id or e-mail address')
    .option('-y, --yes', 'do not ask')
    .action(async (name: string, options: Timeout & { readonly yes?: boolean }) => {
      const client = clientOf(io, options);
      const user = await findUser(client, name);
      const what = `This takes the second factor from ${plain(user.email)} and ends its sessions`;
      await confirm(io, { ...options, what, name: user.email });
      await client.send('DELETE', `${pathOf(user)}/mfa`);
      io.terminal.talk(
        `${plain(user.email)} logs in with the password alone until it sets one up.`,
      );
      io.terminal.out(user.user_id);
    });
}

async function findUser(client: Client, name: string): Promise<User> {
  if (!name.includes('@')) return client.get(`/api/v2/users/${encodeURIComponent(name)}`);
  const query = { email: name };
  const { items } = await client.get<{ readonly items: readonly User[] }>('/api/v2/users', query);
  const [user] = items;
  if (user !== undefined) return user;
  throw new CommandFailure(EXIT.notFound, `there is no account ${name}`);
}

function pathOf({ user_id: id }: Pick<User, 'user_id'>): string {
  return `/api/v2/users/${encodeURIComponent(id)}`;
}

function linkFor(client: Client, user: Pick<User, 'user_id'>): Promise<Link> {
  return client.send('POST', `${pathOf(user)}/reset-link`);
}

function tellLink(io: CommandIo, { expires_at: expiresAt }: Link): void {
  io.terminal.talk(`The secret sets a password once, until ${expiresAt}; it is not shown again:`);
  const { url, ca } = resolveConnection(io.env);
  const line = `${programPath()} password reset --url ${plain(url)}`;
  io.terminal.talk(foldLine(`${line}${trustWords(ca)}`, COLUMNS));
}

// Whoever sets the password may never have spoken to this Console.
function trustWords(ca: string | null): string {
  if (ca === null) return '';
  const fingerprint = new X509Certificate(ca).fingerprint256.replaceAll(':', '').toLowerCase();
  return ` --ca-fingerprint ${fingerprint}`;
}

function roleOf(text: string): string {
  if (ROLES.some((role) => role === text)) return text;
  throw new CommandFailure(EXIT.usage, `${text} is not a role`, `one of ${ROLES.join(', ')}`);
}

function viewOf(nowMs: number): View<User> {
  return {
    name: (user) => user.user_id,
    empty: 'No accounts. Make one: service-console users create EMAIL --role ROLE',
    columns: [
      { head: 'EMAIL', read: (user) => user.email },
      { head: 'ROLE', read: (user) => user.role },
      { head: 'STATUS', read: (user) => user.status },
      { head: 'MFA', read: (user) => user.mfa_state },
      { head: 'LAST LOGIN', read: (user) => lastLogin(user, nowMs) },
      { head: 'ID', read: (user) => user.user_id },
      { head: 'NAME', wide: true, read: (user) => user.display_name || '-' },
      { head: 'TAGS', wide: true, read: (user) => user.tags.join(',') || '-' },
      { head: 'AGE', wide: true, read: (user) => age(user.created_at, nowMs) },
    ],
  };
}

function lastLogin({ last_login_at: at }: User, nowMs: number): string {
  return at === null ? 'never' : age(at, nowMs);
}

function sessionViewOf(nowMs: number): View<Session> {
  return {
    name: (session) => session.session_id,
    empty: 'No live sessions.',
    columns: [
      { head: 'ID', read: (session) => session.session_id },
      { head: 'STAGE', read: (session) => session.stage },
      { head: 'METHOD', read: (session) => session.method },
      { head: 'FROM', read: (session) => session.address },
      { head: 'AGE', read: (session) => age(session.created_at, nowMs) },
      { head: 'SEEN', read: (session) => age(session.last_seen_at, nowMs) },
      { head: 'AGENT', wide: true, read: (session) => session.user_agent || '-' },
    ],
  };
}
