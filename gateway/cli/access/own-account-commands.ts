// `service-console mfa enable` and `password change|reset`: what people do with their own account. A session of the command
// does it, since no key may. decision: D37, D39
import type { Command } from 'commander';
import { createClient } from '../plumbing/client.ts';
import {
  type CommandIo,
  type SharedOptions,
  timeoutOf,
  withTimeout,
} from '../plumbing/command-run.ts';
import { type Connection, currentContext, resolveConnection } from '../plumbing/context-file.ts';
import { CommandFailure, EXIT } from '../plumbing/exit.ts';
import { trustedCa } from '../plumbing/first-trust.ts';
import { plain } from '../plumbing/terminal.ts';
import { newPassword, secret, withSession } from './person-session.ts';
import { setUpSecondFactor } from './second-factor.ts';

type Options = Pick<SharedOptions, 'timeout'> & { readonly email?: string };
type ResetOptions = Options & {
  readonly url?: string;
  readonly caFile?: string;
  readonly caFingerprint?: string;
};

/** Registers the commands. */
export function addCommands(program: Command, io: CommandIo): void {
  const mfa = program.command('mfa').description('your second factor');
  withTimeout(mfa.command('enable').description('set up an authenticator app'))
    .option('--email <address>', 'who you are')
    .addHelpText('after', '\nThe recovery codes are on stdout, everything else on stderr.')
    .action((options: Options) => enable(io, options));

  const password = program.command('password').description('your password');
  withTimeout(password.command('change').description('set a new one; every other session ends'))
    .option('--email <address>', 'who you are')
    .action((options: Options) => change(io, options));
  withTimeout(password.command('reset').description('set one with the link that an admin made'))
    .option('--url <url>', 'where the Console is; else that of the context')
    .option('--ca-fingerprint <sha256>', 'of the CA, as the Console prints it')
    .option('--ca-file <file>', 'the CA to trust')
    .addHelpText('after', '\nThe link begins with svcl_. It is asked for, then the new password.')
    .action((options: ResetOptions) => reset(io, options));
}

async function enable(io: CommandIo, options: Options): Promise<void> {
  const codes = await withSession(io, { ...at(io, options), email: options.email }, (session) => {
    const { wasSetUp, hasSecondFactor, password } = session;
    if (wasSetUp) return Promise.resolve([]);
    if (!hasSecondFactor) return setUpSecondFactor(io, session.send, password);
    throw new CommandFailure(EXIT.refused, 'this account has a second factor already');
  });
  for (const code of codes) io.terminal.out(plain(code));
}

async function change(io: CommandIo, options: Options): Promise<void> {
  await withSession(io, { ...at(io, options), email: options.email }, async (session) => {
    const next = await newPassword(io);
    const body = { current_password: session.password, new_password: next };
    await session.send('POST', '/auth/password', body);
  });
  io.terminal.talk('The password is changed; every other session has ended.');
}

async function reset(io: CommandIo, options: ResetOptions): Promise<void> {
  const timeoutMs = timeoutOf(options);
  const { url, caFile, caFingerprint } = options;
  const connection =
    url === undefined
      ? at(io, options).connection
      : { url, ca: await trustedCa(io, { url, timeoutMs, known: null, caFile, caFingerprint }) };
  const link = await secret(io, 'The link: ');
  const password = await newPassword(io);
  const client = createClient({ ...connection, token: '' }, timeoutMs);
  const { email } = await client.send<{ readonly email: string }>('POST', '/api/v2/auth/reset', {
    ...{ secret: link, password },
  });
  io.terminal.talk(`The password of ${plain(email)} is set. Log in: service-console login`);
  io.terminal.out(plain(email));
}

function at(io: CommandIo, options: Options): { connection: Connection; timeoutMs: number } {
  const token = io.env['SERVICE_TOKEN'] ?? currentContext(io.env)?.context.token ?? 'none';
  const connection = resolveConnection({ ...io.env, SERVICE_TOKEN: token });
  return { connection, timeoutMs: timeoutOf(options) };
}
