// `service-console login` and `logout`: a person logs in once, and the commands go on with an API key of its own that
// can do what the person can, for a while. decision: D17, D43
import { hostname, userInfo } from 'node:os';
import type { Command } from 'commander';
import { API_KEY_TTL_DEFAULT_MS, LABEL_NAME_MAX_CHARS } from '../../../machines/limits.ts';
import type { ApiKeyView, IssuedKeyView } from '../../operator-plane/access/api-keys.ts';
import { createClient, type Page } from '../plumbing/client.ts';
import {
  type CommandIo,
  integerOf,
  type SharedOptions,
  timeoutOf,
  withTimeout,
} from '../plumbing/command-run.ts';
import {
  type Context,
  contextNamed,
  currentContext,
  removeContext,
  saveContext,
} from '../plumbing/context-file.ts';
import { CommandFailure, EXIT } from '../plumbing/exit.ts';
import { trustedCa } from '../plumbing/first-trust.ts';
import { plain } from '../plumbing/terminal.ts';
import { askFor, type PersonSession, withSession } from './person-session.ts';

const DAY_MS = 86_400_000;
const DAYS_MAX = 365;

type LoginOptions = Pick<SharedOptions, 'timeout'> & {
  readonly url?: string;
  readonly email?: string;
  readonly caFingerprint?: string;
  readonly caFile?: string;
  readonly context?: string;
  readonly days: string;
  readonly scope?: readonly string[];
};
type LogoutOptions = Pick<SharedOptions, 'timeout'> & {
  readonly context?: string;
  readonly force?: boolean;
};

/** Registers the commands. */
export function addCommands(program: Command, io: CommandIo): void {
  withTimeout(program.command('login').description('log in, and keep a key for the commands'))
    .option('--url <url>', 'where the Console is')
    .option('--email <address>', 'who logs in')
    .option('--ca-fingerprint <sha256>', 'of the CA, as the Console prints it')
    .option('--ca-file <file>', 'the CA to trust')
    .option('--context <name>', 'the name to keep it under; else the host of the Console')
    .option('--days <number>', 'how long the key lasts', String(API_KEY_TTL_DEFAULT_MS / DAY_MS))
    .option('--scope <scope...>', 'only these scopes; else all that the account holds')
    .addHelpText(
      'after',
      '\nWithout a terminal, the password and the code are lines of standard input.',
    )
    .action((options: LoginOptions) => login(io, options));

  withTimeout(program.command('logout').description('revoke the key and forget the context'))
    .option('--context <name>', 'which one; else the current one')
    .option('--force', 'forget it also when the key cannot be revoked')
    .action((options: LogoutOptions) => logout(io, options));
}

async function login(io: CommandIo, options: LoginOptions): Promise<void> {
  const days = integerOf(options.days, '--days', DAYS_MAX);
  const timeoutMs = timeoutOf(options);
  const url = await urlOf(io, options);
  const name = options.context ?? new URL(url).host;
  const before = contextNamed(io.env, name);
  const known = before?.url === url ? (before.ca_pem ?? null) : null;
  const { caFile, caFingerprint } = options;
  const ca = await trustedCa(io, { url, timeoutMs, known, caFile, caFingerprint });
  const at = { connection: { url, ca }, email: options.email, timeoutMs };
  const issued = await withSession(io, at, async (session) => {
    const scopes = options.scope ?? (await scopesOf(session));
    const expires = new Date(io.now() + days * DAY_MS).toISOString();
    // The key of an earlier login is replaced, so that keys do not pile up.
    const old = before?.url === url ? before.key_id : undefined;
    if (old !== undefined) await session.send('DELETE', keyPath(old)).catch(() => undefined);
    const asked = { name: keyName(), scopes, expires_at: expires };
    return session.send<IssuedKeyView>('POST', '/api-keys', asked);
  });
  const path = saveContext(io.env, name, {
    ...{ url, token: issued.secret, key_id: issued.key_id },
    ...(ca === null ? {} : { ca_pem: ca }),
  });
  io.terminal.talk(
    `Logged in at ${url} until ${issued.expires_at ?? 'it is revoked'}; see ${path}.`,
  );
  io.terminal.out(plain(name));
}

async function urlOf(io: CommandIo, options: LoginOptions): Promise<string> {
  const known = io.env['SERVICE_CONSOLE_URL'] ?? currentContext(io.env)?.context.url;
  const url = options.url ?? known ?? (await askFor(io, 'Where is the Console? https://', '--url'));
  const whole = url.includes('://') ? url : `https://${url}`;
  if (URL.canParse(whole)) {
    const { protocol, origin } = new URL(whole);
    if (protocol === 'https:') return origin;
  }
  throw new CommandFailure(EXIT.usage, `the Console address ${whole} is not an https:// URL`);
}

async function scopesOf(session: PersonSession): Promise<readonly string[]> {
  return (await session.send<{ readonly scopes: readonly string[] }>('GET', '/auth/session'))
    .scopes;
}

function keyName(): string {
  return `cli ${userInfo().username}@${hostname()}`.slice(0, LABEL_NAME_MAX_CHARS);
}

function keyPath(keyId: string): string {
  return `/api-keys/${encodeURIComponent(keyId)}`;
}

async function logout(io: CommandIo, options: LogoutOptions): Promise<void> {
  const found = options.context === undefined ? currentContext(io.env) : null;
  const name = options.context ?? found?.name;
  const context = name === undefined ? null : contextNamed(io.env, name);
  if (name === undefined || context === null) {
    throw new CommandFailure(EXIT.notFound, 'there is no such context', 'service-console login');
  }
  try {
    await revokeOwn(context, timeoutOf(options));
  } catch (error) {
    const isOver = error instanceof CommandFailure && error.exitCode === EXIT.notAuthenticated;
    if (!isOver && options.force !== true) throw error;
  }
  removeContext(io.env, name);
  io.terminal.talk(`Logged out of ${context.url}.`);
  io.terminal.out(plain(name));
}

async function revokeOwn(context: Context, timeoutMs: number): Promise<void> {
  const { url, token, ca_pem: pem } = context;
  const client = createClient({ url, token, ca: pem ?? null }, timeoutMs);
  const keyId = context.key_id ?? (await onlyKeyOf(client));
  if (keyId === null) {
    const next = 'service-console api-keys list';
    throw new CommandFailure(EXIT.failed, 'it is not known which key this context holds', next);
  }
  await client.send('DELETE', `/api/v2${keyPath(keyId)}`);
}

/** The key's own id, where it sees no other. */
async function onlyKeyOf(client: ReturnType<typeof createClient>): Promise<string | null> {
  const { items } = await client.get<Page<ApiKeyView>>('/api/v2/api-keys');
  const [only, another] = items;
  return another === undefined ? (only?.key_id ?? null) : null;
}
