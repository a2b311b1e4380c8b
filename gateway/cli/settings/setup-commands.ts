// `service-console setup`: the first run from a terminal or from a file, through the API that the page uses. The Console is
// known by the fingerprint it printed with the code.
import type { Command } from 'commander';
import { createClient } from '../plumbing/client.ts';
import {
  type CommandIo,
  pause,
  type SharedOptions,
  timeoutOf,
  withTimeout,
} from '../plumbing/command-run.ts';
import { CommandFailure, EXIT } from '../plumbing/exit.ts';
import { trustedCa } from '../plumbing/first-trust.ts';
import { plain } from '../plumbing/terminal.ts';

const DEFAULT_URL = 'https://localhost:15483';
const LOOK_AGAIN_MS = 500;
const STARTS_WITHIN_MS = 180_000;

type Options = Pick<SharedOptions, 'timeout'> & {
  readonly url?: string;
  readonly code?: string;
  readonly caFingerprint?: string;
  readonly caFile?: string;
  readonly from?: string;
  readonly wait: boolean;
};

/** Registers the command. */
export function addCommands(program: Command, io: CommandIo): void {
  withTimeout(program.command('setup').description('set up a Console that has no configuration'))
    .option('--url <url>', 'where it listens', io.env['SERVICE_CONSOLE_URL'] ?? DEFAULT_URL)
    .option('--code <code>', 'the setup code; SERVICE_SETUP_CODE is not seen by others')
    .option('--ca-fingerprint <sha256>', 'of its CA, as it was printed with the code')
    .option('--ca-file <file>', 'the CA to trust')
    .option('--from <file>', 'answers as YAML or JSON; without it they are asked for')
    .option('--no-wait', 'do not wait until it serves')
    .action((options: Options) => runSetup(io, options));
}

async function runSetup(io: CommandIo, options: Options): Promise<void> {
  const url = addressOf(options.url ?? DEFAULT_URL);
  if (options.from === undefined && !io.terminal.isInteractive) {
    throw new CommandFailure(EXIT.usage, 'there is nobody to ask', 'add --from FILE');
  }
  // Prompts are loaded by who sets up, and by no other command.
  const { answersFrom, askForAnswers, requestsOf } = await import('./setup-answers.ts');
  const given = options.from === undefined ? null : await answersFrom(options.from);
  const { caFile, caFingerprint } = options;
  const timeoutMs = timeoutOf(options);
  const ca = await trustedCa(io, { url, timeoutMs, known: null, caFile, caFingerprint });
  const code = options.code ?? io.env['SERVICE_SETUP_CODE'] ?? (await codeOf(io));
  const opened = await createClient({ url, ca, token: '' }, timeoutMs).send<{ token: string }>(
    'POST',
    '/api/v2/setup/unlock',
    { code },
  );
  const client = createClient({ url, ca, token: opened.token }, timeoutMs);
  const answers = given ?? (await askForAnswers(url));
  for (const { step, body } of await requestsOf(answers)) {
    const { about } = await client.send<{ about?: string }>('PUT', `/api/v2/setup/${step}`, body);
    io.terminal.talk(`${step}: ${about === undefined ? 'saved' : plain(about)}`);
  }
  await client.send('POST', '/api/v2/setup/finish');
  io.terminal.talk('The configuration is written; the Console starts again.');
  if (options.wait) await untilServing(io, { url, ca });
}

async function codeOf(io: CommandIo): Promise<string> {
  if (io.terminal.isInteractive) return (await import('./setup-answers.ts')).askForCode();
  throw new CommandFailure(EXIT.usage, 'the setup code is missing', 'set SERVICE_SETUP_CODE');
}

// The certificates stay the same over the restart, so the CA that was compared is still the one to trust.
async function untilServing(
  io: CommandIo,
  connection: { url: string; ca: string | null },
): Promise<void> {
  const client = createClient({ ...connection, token: '' }, LOOK_AGAIN_MS * 10);
  const endsAtMs = io.now() + STARTS_WITHIN_MS;
  while (!io.signal.aborted && io.now() < endsAtMs) {
    await pause(LOOK_AGAIN_MS, io.signal);
    const ready = await client.get<{ status?: string }>('/readyz').catch(() => null);
    if (ready?.status === 'ready') {
      io.terminal.talk(`The Console serves at ${connection.url}.`);
      return;
    }
  }
  throw new CommandFailure(EXIT.timedOut, 'the Console does not serve yet', 'look at its log');
}

function addressOf(url: string): string {
  if (URL.canParse(url) && new URL(url).protocol === 'https:') return url.replace(/\/+$/, '');
  throw new CommandFailure(EXIT.usage, `${url} is not an https:// address`);
}
