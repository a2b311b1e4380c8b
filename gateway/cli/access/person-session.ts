// A person's session for as long as one command runs: password, second factor, then what only people may do. The cookie
// lives in this process alone and the session is ended with the command. decision: D37, D43
import { exchange, type HttpAnswer, parseAnswer, refusedBy } from '../plumbing/client.ts';
import type { CommandIo } from '../plumbing/command-run.ts';
import type { Connection } from '../plumbing/context-file.ts';
import { CommandFailure, EXIT } from '../plumbing/exit.ts';
import { plain } from '../plumbing/terminal.ts';
import { setUpSecondFactor } from './second-factor.ts';
import { type LastLoginView, tellLastLogin } from './since-last-login.ts';

const COOKIE = '__Host-service_session';
/** What a page of the Console would send: this program is where the request begins. */
const OWN = { 'sec-fetch-site': 'same-origin', 'x-service-csrf': '1' };

export type PersonSession = {
  send<T>(method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown): Promise<T>;
  /** As it was entered. */
  readonly password: string;
  readonly hasSecondFactor: boolean;
  /** The second factor had to be set up to log in; its recovery codes were told. */
  readonly wasSetUp: boolean;
};
type Send = PersonSession['send'];
type Standing = {
  readonly stage: 'partial' | 'full';
  readonly needs: 'totp' | 'password_change' | 'totp_enrollment' | null;
};

/** Logs in, runs, and logs out whatever happens. */
export async function withSession<T>(
  io: CommandIo,
  at: {
    readonly connection: Omit<Connection, 'token'>;
    readonly email?: string | undefined;
    readonly timeoutMs: number;
  },
  run: (session: PersonSession) => Promise<T>,
): Promise<T> {
  let cookie: string | null = null;
  const send: Send = async <A>(method: string, path: string, body?: unknown) => {
    const answer = await exchange(
      { ...at.connection, token: '' },
      {
        ...{ method, path: `/api/v2${path}`, body, timeoutMs: at.timeoutMs },
        headers: { ...OWN, ...(cookie === null ? {} : { cookie: `${COOKIE}=${cookie}` }) },
      },
    );
    cookie = cookieOf(answer) ?? cookie;
    const value = parseAnswer(answer.text);
    if (answer.status >= 400) throw refusedBy(answer.status, value);
    return value as A;
  };
  try {
    const person = await logIn(io, send, at.email);
    // What cannot be told now stops nothing.
    const told = await send<LastLoginView>('GET', '/auth/last-login').catch(() => null);
    if (told !== null) tellLastLogin(io, told);
    return await run({ send, ...person });
  } finally {
    // Whatever went wrong before is what is told; a session that cannot be ended now ends by itself.
    if (cookie !== null) await send('POST', '/auth/logout').catch(() => undefined);
  }
}

async function logIn(
  io: CommandIo,
  send: Send,
  asked: string | undefined,
): Promise<Omit<PersonSession, 'send'>> {
  const email = asked ?? (await askFor(io, 'E-mail: ', '--email'));
  const password = await secret(io, 'Password: ');
  let standing = await send<Standing>('POST', '/auth/login', { email, password });
  let session = { password, hasSecondFactor: false, wasSetUp: false };
  if (standing.needs === 'totp') {
    io.terminal.talk('A terminal cannot ask a security key; the app beside it shows a code.');
    const code = await secret(io, 'Code of the authenticator app, or a recovery code: ');
    standing = await send<Standing>('POST', '/auth/mfa/verify', { code });
    session = { ...session, hasSecondFactor: true };
  }
  if (standing.needs === 'password_change') {
    io.terminal.talk('This password was given to you; set one of your own before anything else.');
    const own = await newPassword(io);
    const change = { current_password: password, new_password: own };
    standing = await send<Standing>('POST', '/auth/password', change);
    session = { ...session, password: own };
  }
  if (standing.needs === 'totp_enrollment') {
    io.terminal.talk('This account must set up a second factor before it can do more.');
    const codes = await setUpSecondFactor(io, send, session.password);
    for (const code of codes) io.terminal.talk(`  ${plain(code)}`);
    session = { ...session, hasSecondFactor: true, wasSetUp: true };
  }
  return session;
}

/** Asks for a password to be, twice where fingers slip. */
export async function newPassword(io: CommandIo): Promise<string> {
  const password = await secret(io, 'New password: ');
  // A pipe says what it means.
  if (!io.terminal.isInteractive) return password;
  if ((await secret(io, 'The new password again: ')) === password) return password;
  throw new CommandFailure(EXIT.usage, 'the two passwords differ');
}

/** Asks for what is no secret; without a terminal it must come with the command. */
export async function askFor(io: CommandIo, question: string, option: string): Promise<string> {
  if (!io.terminal.isInteractive) {
    throw new CommandFailure(EXIT.usage, `${option} is needed without a terminal`);
  }
  const answer = (await io.ask(question)).trim();
  if (answer !== '') return answer;
  throw new CommandFailure(EXIT.usage, 'nothing was entered');
}

/** Asks for what nobody may see; without a terminal it is the next line of standard input. */
export async function secret(io: CommandIo, question: string): Promise<string> {
  if (io.askSecret === undefined) throw new Error('this program cannot ask for a secret');
  const answer = await io.askSecret(question);
  if (answer !== '') return answer;
  throw new CommandFailure(EXIT.usage, 'nothing was entered');
}

function cookieOf({ setCookies }: HttpAnswer): string | null {
  for (const line of setCookies) {
    const [pair = ''] = line.split(';');
    const [name, value = ''] = pair.trim().split('=');
    if (name === COOKIE && value !== '') return value;
  }
  return null;
}
