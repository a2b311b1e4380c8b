// A mail server of the tests: SMTP on 127.0.0.1, in TLS or by STARTTLS, with a certificate of a CA of its own. It keeps every
// mail as the bytes that came, and refuses or falls silent where a test wants it.
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';
import { borrowAuthority } from './peer-authority.ts';

export type ReceivedMail = {
  readonly from: string;
  readonly to: readonly string[];
  readonly raw: Buffer;
  readonly user: string | null;
  readonly isSecure: boolean;
};
/** What it does with a mail. */
type Answer = 'take' | 'refuse' | 'later' | 'silence' | 'hang up';
export const MAIL_USER = 'console';
export const MAIL_PASSWORD = 'P4ss of the mail server';

/** Starts a server. */
export async function openMailReceiver(security: 'tls' | 'starttls', mayLogin = true) {
  const { authority, giveBack } = await borrowAuthority();
  const tls = await authority.issueServerCertificate(['localhost', '127.0.0.1'], Date.now());
  const received: ReceivedMail[] = [];
  const waiting: (() => void)[] = [];
  const sessions: string[] = [];
  let answer: Answer = 'take';
  let refusedRecipient: string | null = null;
  const server = new SMTPServer({
    ...{ secure: security === 'tls', key: tls.keyPem, cert: tls.pem, closeTimeout: 100 },
    ...{ authOptional: !mayLogin, disabledCommands: mayLogin ? [] : ['AUTH'] },
    onConnect(session, done) {
      sessions.push(session.remoteAddress);
      done();
    },
    onAuth({ username, password }, _session, done) {
      const isKnown = username === MAIL_USER && password === MAIL_PASSWORD;
      if (isKnown) done(null, { user: username });
      else done(new Error('nobody we know'));
    },
    onRcptTo({ address }, _session, done) {
      if (address === refusedRecipient) done(statusError(550, 'no such box'));
      else done();
    },
    onData(stream, session, done) {
      void buffer(stream).then((raw) => {
        const { mailFrom, rcptTo } = session.envelope;
        if (answer === 'take') {
          received.push({
            ...{ raw, from: mailFrom === false ? '' : mailFrom.address },
            to: rcptTo.map(({ address }) => address),
            ...{ user: session.user ?? null, isSecure: session.secure },
          });
        }
        for (const tell of waiting.splice(0)) tell();
        if (answer === 'take') done();
        else if (answer === 'refuse') done(statusError(554, 'not from you'));
        else if (answer === 'later') done(statusError(451, 'come again'));
        else if (answer === 'hang up') server.close();
      });
    },
  });
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  const { port } = server.server.address() as AddressInfo;
  return {
    ...{ port, caPem: authority.rootsPem, received, sessions },
    behave(next: Answer, refused: string | null = null): void {
      answer = next;
      refusedRecipient = refused;
    },
    /** Resolves when so many mails were taken. */
    async has(count: number): Promise<readonly ReceivedMail[]> {
      while (received.length < count) await new Promise<void>((resolve) => waiting.push(resolve));
      return received;
    },
    async close(): Promise<void> {
      await new Promise<void>((resolve) => server.close(() => resolve()));
      giveBack();
    },
  };
}
export type MailReceiver = Awaited<ReturnType<typeof openMailReceiver>>;

function statusError(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}
