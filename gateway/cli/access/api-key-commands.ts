// `service-console api-keys ...`: the secret is the data on stdout, everything about it is talk. A key makes no keys, so
// making one asks for the password. decision: D36, D43
import type { Command } from 'commander';
import { KEY_SCOPES } from '../../../machines/trust/api-key.rules.ts';
import type { ApiKeyView, IssuedKeyView } from '../../operator-plane/access/api-keys.ts';
import {
  type CommandIo,
  clientOf,
  integerOf,
  type SharedOptions,
  tableOptions,
  timeoutOf,
  withOutput,
  withTimeout,
} from '../plumbing/command-run.ts';
import { currentContext, resolveConnection } from '../plumbing/context-file.ts';
import { CommandFailure } from '../plumbing/exit.ts';
import { json, jsonLine, printList, type View } from '../plumbing/output.ts';
import { age } from '../plumbing/terminal.ts';
import { type PersonSession, withSession } from './person-session.ts';

const DAY_MS = 86_400_000;
const DAYS_MAX = 365;
const LIST_MAX = 100_000;

type AsPerson = Pick<SharedOptions, 'timeout'> & { readonly email?: string };
type CreateOptions = SharedOptions &
  AsPerson & {
    readonly name: string;
    readonly scope: readonly string[];
    readonly days?: string;
    readonly never?: boolean;
  };
type ListOptions = SharedOptions & { readonly all?: boolean; readonly limit: string };
type RevokeOptions = AsPerson & { readonly all?: boolean };

/** Registers the commands. */
export function addCommands(program: Command, io: CommandIo): void {
  const keys = program.command('api-keys').description('keys for programs');

  withOutput(keys.command('create').description('make a key; asks for your password'))
    .requiredOption('--name <text>', 'what it is for')
    .requiredOption('--scope <scope...>', 'what it may do, within what you may')
    .option('--days <number>', 'how long it lasts; else 90')
    .option('--never', 'it never expires; for admins')
    .option('--email <address>', 'who you are')
    .addHelpText('after', `\nScopes: ${KEY_SCOPES.join(', ')}`)
    .action((options: CreateOptions) => create(io, options));

  withOutput(keys.command('list').alias('ls').description('list your keys, newest first'))
    .option('--all', 'those of everybody')
    .option('--limit <number>', 'at most this many', '100')
    .action(async (options: ListOptions) => {
      const limit = integerOf(options.limit, '--limit', LIST_MAX);
      const shown = tableOptions(options);
      const path = options.all === true ? '/api/v2/all-api-keys' : '/api/v2/api-keys';
      const found: ApiKeyView[] = [];
      for await (const one of clientOf(io, options).all<ApiKeyView>(path, {}, limit)) {
        found.push(one);
      }
      printList(io.terminal, found, viewOf(io.now()), shown);
    });

  withTimeout(keys.command('revoke').description('make a key unusable, at once and for good'))
    .argument('<key-id>')
    .option('--all', 'also when it is somebody else’s; for admins')
    .option('--email <address>', 'who you are')
    .action(async (id: string, options: RevokeOptions) => {
      const key = await revoke(io, id, options);
      io.terminal.talk(`The key is ${key.status}.`);
      io.terminal.out(key.key_id);
    });
}

async function create(io: CommandIo, options: CreateOptions): Promise<void> {
  const { format } = tableOptions(options);
  const { name, scope: scopes, days, never } = options;
  const life =
    days === undefined ? undefined : integerOf(days, '--days', DAYS_MAX) * DAY_MS + io.now();
  const ends = life === undefined ? {} : { expires_at: new Date(life).toISOString() };
  const expires = never === true ? { expires_at: null } : ends;
  const issued = await asPerson(io, options, (session) =>
    session.send<IssuedKeyView>('POST', '/api-keys', { name, scopes, ...expires }),
  );
  if (format === 'json') return io.terminal.out(json(issued));
  if (format === 'jsonl') return io.terminal.out(jsonLine(issued));
  const until = issued.expires_at === null ? 'for ever' : `until ${issued.expires_at}`;
  io.terminal.talk(`Usable ${until}; it is not shown again.`);
  return io.terminal.out(issued.secret);
}

/** With the key of the context where that is enough, else as a person. */
async function revoke(io: CommandIo, id: string, options: RevokeOptions): Promise<ApiKeyView> {
  const client = clientOf(io, options);
  const part = encodeURIComponent(id);
  if (options.all === true) return client.send('DELETE', `/api/v2/all-api-keys/${part}`);
  try {
    return await client.send<ApiKeyView>('DELETE', `/api/v2/api-keys/${part}`);
  } catch (error) {
    if (!(error instanceof CommandFailure) || codeOf(error.problem) !== 'session_required') {
      throw error;
    }
    return asPerson(io, options, (session) => session.send('DELETE', `/api-keys/${part}`));
  }
}

function asPerson<T>(
  io: CommandIo,
  options: AsPerson,
  run: (session: PersonSession) => Promise<T>,
): Promise<T> {
  const connection = resolveConnection({
    ...io.env,
    // Whoever logs in needs no key of the context.
    SERVICE_TOKEN: io.env['SERVICE_TOKEN'] ?? currentContext(io.env)?.context.token ?? 'none',
  });
  return withSession(io, { connection, email: options.email, timeoutMs: timeoutOf(options) }, run);
}

function codeOf(problem: unknown): unknown {
  return typeof problem === 'object' && problem !== null && 'code' in problem ? problem.code : null;
}

function viewOf(nowMs: number): View<ApiKeyView> {
  return {
    name: (key) => key.key_id,
    empty: 'No API keys. Make one: service-console api-keys create',
    columns: [
      { head: 'ID', read: (key) => key.key_id },
      { head: 'NAME', read: (key) => key.name },
      { head: 'STATUS', read: (key) => key.status },
      { head: 'EXPIRES', read: (key) => key.expires_at ?? 'never' },
      { head: 'USED', read: (key) => age(key.last_used_at, nowMs) },
      { head: 'AGE', read: (key) => age(key.created_at, nowMs) },
      { head: 'SCOPES', wide: true, read: (key) => key.scopes.join(' ') },
      { head: 'USER', wide: true, read: (key) => key.user_id ?? '-' },
    ],
  };
}
