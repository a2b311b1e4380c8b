// Setting up a second factor at the command line: the secret as a QR code and as text, the first code of the app, and the
// recovery codes, which are told once. decision: D39
import type { CommandIo } from '../plumbing/command-run.ts';
import { CommandFailure, EXIT } from '../plumbing/exit.ts';
import { plain } from '../plumbing/terminal.ts';

const CODE_QUESTION = 'Code that the app shows now: ';
type Send = <T>(method: 'POST', path: string, body?: unknown) => Promise<T>;
type Begun = { readonly secret: string; readonly otpauth_uri: string };

/** Enrolls whoever is logged in; the recovery codes. */
export async function setUpSecondFactor(
  io: CommandIo,
  send: Send,
  password: string,
): Promise<readonly string[]> {
  const begun = await send<Begun>('POST', '/auth/mfa/enroll', { password });
  // Loaded by who sets one up, and by no other command.
  const { default: qrcode } = await import('qrcode');
  const liveView = await qrcode.toString(begun.otpauth_uri, { type: 'utf8' });
  io.terminal.talk('Show this to an authenticator app, or type the secret into it:');
  io.terminal.talk(liveView.trimEnd());
  io.terminal.talk(`Secret: ${plain(begun.secret)}`);
  const code = await answerTo(io, CODE_QUESTION);
  const { recovery_codes: codes } = await send<{ readonly recovery_codes: readonly string[] }>(
    'POST',
    '/auth/mfa/confirm',
    { code },
  );
  io.terminal.talk('The second factor is on. Keep these recovery codes; each works once:');
  return codes;
}

async function answerTo(io: CommandIo, question: string): Promise<string> {
  if (io.askSecret === undefined) throw new Error('this program cannot ask for a secret');
  const answer = (await io.askSecret(question)).trim();
  if (answer !== '') return answer;
  throw new CommandFailure(EXIT.usage, 'nothing was entered', 'the second factor is not on yet');
}
